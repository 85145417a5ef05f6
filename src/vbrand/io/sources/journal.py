"""A journal of passes over rows: a run that was killed is run again, and takes from it what was found before.

A fit does the same passes in the same order each time. So the n-th pass is looked up by its number; what it was asked
is noted, too, and where that differs the journal ends.
"""

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


class Journal:
    """What passes found, each in a file of arrays and a file of small numbers, one per row."""

    def __init__(self, folder: Path, about: str) -> None:
        """Go on with the passes in a folder if they are about the same rows; `about` says which."""
        self.folder, self._pass, note = folder, 0, folder / "about"
        if not (note.is_file() and note.read_text() == about):
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        note.write_text(about)

    @property
    def passes(self) -> int:
        """Return the number of passes that are held."""
        return len(list(self.folder.glob("*.npz")))

    def recall(self, asked: Mapping[str, Any]) -> tuple[Arrays, Path] | None:
        """Return what the next pass found when asked the same, and where its small numbers are, if it is held."""
        found, numbers = self._files()
        try:
            with found.open("rb") as file, np.load(file, allow_pickle=False) as held:
                arrays = dict(held)
        except (OSError, ValueError, EOFError, SyntaxError, TokenError, BadZipFile):
            return None
        if str(arrays.pop("asked")) != _print_of(asked):
            return None
        self._pass += 1
        return arrays, numbers

    def note(self, asked: Mapping[str, Any], arrays: Arrays, numbers: Any, blocks: list[slice]) -> None:
        """Keep what a pass found: arrays, and small numbers of all rows, block by block."""
        found, place = self._files()
        found.unlink(missing_ok=True)
        with place.open("wb") as file:
            for block in blocks:
                file.write(numbers[block].astype(np.int16).tobytes())
        half = found.with_suffix(".half")
        with half.open("wb") as file:
            kept: dict[str, Any] = {"asked": np.array(_print_of(asked)), **arrays}
            np.savez(file, **kept)
        half.replace(found)  # there once it is whole
        self._pass += 1

    def _files(self) -> tuple[Path, Path]:
        return self.folder / f"{self._pass:06}.npz", self.folder / f"{self._pass:06}.numbers"


def _print_of(asked: Mapping[str, Any]) -> str:
    """Return the fingerprint of what a pass is asked."""
    digest = hashlib.sha256()
    for name, value in asked.items():
        array = np.asarray(value if value is not None else [])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
