"""Draws on disk: a folder that keeps the legs of a run, so that a stopped run continues where it stopped.

A leg is two files: labels, and all else with a checksum of the labels. Each is written under another name and then
renamed, the labels first: where the second file is, the leg is complete. The files hold arrays and JSON only, nothing
that could run code.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tokenize import TokenError
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.sampler import Leg
from vbrand.io.files.whole import write_new, write_whole

_SCHEMA = 1


def fingerprint(parts: Iterable[Any]) -> str:
    """Return a hash of arrays and of values that JSON can hold: equal parts have equal hashes."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            for block in np.array_split(part, max(1, part.nbytes // 2**24)) if part.ndim else [part]:
                digest.update(np.ascontiguousarray(block).tobytes())
        else:
            digest.update(json.dumps(part).encode())
    return digest.hexdigest()


def stored_seed(folder: Path) -> int | None:
    """Return the seed of the run that a folder holds, if it holds one."""
    about = _about(folder)
    return None if about is None else int(about["seed"])


@dataclass(frozen=True)
class DrawStore:
    """The folder of one run."""

    folder: Path
    run: str  # identifies the run, in the names of its files

    @classmethod
    def open(cls, folder: Path, run: str, seed: int) -> Self:
        """Return the store of a run, new or begun; refuse a folder that holds another one."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"schema": _SCHEMA, "run": run, "seed": seed})
        try:
            write_new(folder / "run.json", text.encode())  # of two runs that begin at the same time one is refused
        except FileExistsError:
            about = _about(folder)
            if about is None or about["run"] != run:
                raise ValueError(
                    f"{folder} holds the draws of another run: other rows, settings or seed. Choose another folder."
                ) from None
        return cls(folder, run[:12])

    def recall(self, chain: int, leg: int) -> Leg | None:
        """Return a leg that was kept, its labels left on disk, or None if it is not there or not complete."""
        path = self._path(chain, leg)
        labels = path.with_suffix(".labels.npy")
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                scalars = {name: held[name] for name in held.files}
            digest = scalars.pop("labels_digest", None)  # legs of older versions have none
            concentration = float(scalars.pop("last_concentration"))
            known = Leg(kept_labels=labels, last_concentration=concentration, **scalars)
            whole = known.labels.shape == (known.draws, known.last_labels.size)
            whole = whole and (digest is None or str(digest) == fingerprint([known.labels]))
        except (OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, TokenError, zipfile.BadZipFile):
            return None
        return known if whole else None

    def keep(self, chain: int, leg: int, done: Leg) -> Leg:
        """Write a leg, and return it with its labels left on disk."""
        path = self._path(chain, leg)
        write_whole(path.with_suffix(".labels.npy"), lambda file: np.save(file, done.labels))
        others: dict[str, NDArray[Any]] = {
            "weights": done.weights,
            "concentration": done.concentration,
            "known_means": done.known_means,
            "last_labels": done.last_labels,
            "last_concentration": np.array(done.last_concentration),
            "labels_digest": np.array(fingerprint([done.labels])),
        }
        if done.last_cells is not None:
            others["last_cells"] = done.last_cells
        write_whole(path, lambda file: np.savez(file, **others))  # type: ignore[arg-type]
        return replace(done, kept_labels=path.with_suffix(".labels.npy"))

    def _path(self, chain: int, leg: int) -> Path:
        return self.folder / f"{self.run}_chain{chain:02}_leg{leg:05}.npz"


def _about(folder: Path) -> dict[str, Any] | None:
    """Return what a folder says of its run, None if there is none yet."""
    path = folder / "run.json"
    if not path.exists() or path.stat().st_size == 0:  # empty: of an older version that was killed as it began
        return None
    try:
        about: dict[str, Any] = json.loads(path.read_text())
        known = about["schema"] == _SCHEMA and isinstance(about["run"], str) and isinstance(about["seed"], int)
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise ValueError(f"{path} is damaged, or was written by another version of vbrand. Choose another folder.")
    return about
