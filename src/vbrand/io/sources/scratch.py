"""A folder for what does not fit into memory: rows, small numbers beside them, answers."""

import mmap
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vbrand.io.sources.journal import Journal

_HALF = ".half"


class Scratch:
    """A folder of the user's, in which answers stay, or a temporary one that goes when nobody needs it any more."""

    def __init__(self, folder: str | os.PathLike[str] | None = None, journal: Journal | None = None) -> None:
        self.journal = journal  # of passes over the rows, if a run is to be resumed
        self._maps = list[weakref.ref[mmap.mmap]]()
        if folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="vbrand-"))
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
            return
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"store is {self.folder}, which is a file; the name of a folder is expected.")
        self.folder.mkdir(parents=True, exist_ok=True)

    def file(self) -> BinaryIO:
        """Return a file without a name, which goes when it is closed."""
        return tempfile.TemporaryFile(dir=self.folder, buffering=0)  # type: ignore[return-value]

    def answers(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return zeros in a .npy file, mapped into memory; it has its name when all answers are whole."""
        path = self.folder / f".{name}.npy{_HALF}"
        path.unlink(missing_ok=True)
        if 0 in shape:
            return np.zeros(shape, dtype)
        array = np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(dtype), shape=shape)  # type: ignore[no-untyped-call]
        array._scratch = self  # type: ignore[attr-defined]  # the folder stays as long as its answers
        self._maps.append(weakref.ref(array._mmap))  # type: ignore[attr-defined]
        return np.asanyarray(array)

    def let_go(self) -> None:
        """Take what was read and written of answers out of memory; it stays in their files."""
        for held in self._maps:
            mapped = held()
            if mapped is not None and hasattr(mapped, "madvise"):
                mapped.madvise(mmap.MADV_DONTNEED)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Give answers their names once all of them are whole; take them away if something fails before."""
        try:
            yield
            for half in self._halves():
                half.replace(half.with_name(half.name.removeprefix(".").removesuffix(_HALF)))
        finally:
            for half in self._halves():
                half.unlink(missing_ok=True)

    def _halves(self) -> list[Path]:
        return list(self.folder.glob(f".*.npy{_HALF}"))
