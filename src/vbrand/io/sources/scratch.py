"""A folder for what does not fit into memory: rows, small numbers beside them, answers."""

import mmap
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vbrand.io.files.whole import half_of, remove_left_behind
from vbrand.io.sources.journal import Journal

# temporary folders, and the file in them that is locked as long as they are needed
_TEMPORARY, _HELD = "vbrand-", "held"
_MARK = f".{_HELD}.vbrand-*"


class Scratch:
    """A folder of the user's, in which answers stay, or a temporary one that goes when nobody needs it any more."""

    def __init__(self, folder: str | os.PathLike[str] | None = None, journal: Journal | None = None) -> None:
        self.journal = journal  # of passes over the rows, if a run is to be resumed
        self.listener: Callable[[int, int], None] | None = None  # of who waits for passes over the rows
        self._maps = list[weakref.ref[mmap.mmap]]()
        self._halves: dict[Path, tuple[Path, BufferedWriter]] | None = None  # by name, while answers are made
        if folder is None:
            _remove_abandoned()
            self.folder, held = _temporary()
            weakref.finalize(self, _remove, self.folder, held)
            return
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"store is {self.folder}, which is a file; the name of a folder is expected.")
        self.folder.mkdir(parents=True, exist_ok=True)

    def file(self) -> BinaryIO:
        """Return a file without a name, which goes when it is closed."""
        return tempfile.TemporaryFile(dir=self.folder, buffering=0)  # type: ignore[return-value]

    def answers(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return zeros in a file, mapped into memory; one of a .npy file that has its name when all answers are whole.

        What is asked for later is in a file without a name.
        """
        if 0 in shape:
            return np.zeros(shape, dtype)
        if self._halves is None:
            return self.aside(shape, dtype)
        path, kind = self.folder / f"{name}.npy", np.dtype(dtype)
        remove_left_behind(path)
        self._take_away(path)
        half, locked = self._halves[path] = half_of(path)
        with told_of(path):
            array = np.lib.format.open_memmap(half, mode="w+", dtype=kind, shape=shape)  # type: ignore[no-untyped-call]
            _take_room(locked, path)
        return self._held(array)

    def aside(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return zeros in a file without a name, mapped into memory."""
        if 0 in shape:
            return np.zeros(shape, dtype)
        with told_of(self.folder), self.file() as file:
            array: Any = np.memmap(file, np.dtype(dtype), "w+", shape=shape)  # type: ignore[call-overload]
            _take_room(file, self.folder)
        return self._held(array)

    def _held(self, array: Any) -> NDArray[Any]:
        array._scratch = self  # the folder stays as long as its answers
        self._maps.append(weakref.ref(array._mmap))
        return np.asanyarray(array)

    def heard(self, done: int, total: int) -> None:
        """Tell who waits how many of the rows of a pass are done; 0 when it begins."""
        if self.listener is not None:
            self.listener(done, total)

    def let_go(self) -> None:
        """Take what was read and written of answers out of memory; it stays in their files."""
        for held in self._maps:
            mapped = held()
            if mapped is not None and hasattr(mapped, "madvise"):
                mapped.madvise(mmap.MADV_DONTNEED)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Give answers their names once all of them are whole; take them away if something fails before."""
        self._halves = {}
        try:
            yield
            for path, (half, _) in self._halves.items():
                half.replace(path)
        finally:
            for path in list(self._halves):
                self._take_away(path)
            self._halves = None

    def _take_away(self, path: Path) -> None:
        """Take away what is not whole yet of answers, if there is any."""
        assert self._halves is not None
        if path in self._halves:
            half, file = self._halves.pop(path)
            file.close()
            half.unlink(missing_ok=True)


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """Have errors of the system, such as a disk that is full, say of which file or folder they are."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def _take_room(file: BinaryIO, path: Path) -> None:
    """Take the room of a mapped file on disk at once: where there is none, writing to the map would end the process."""
    if hasattr(os, "posix_fallocate"):
        with told_of(path):
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)


def _temporary() -> tuple[Path, BinaryIO]:
    """Return a new temporary folder, and the file in it that is locked as long as it is needed."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY))
        # before it was locked another process may have taken it for abandoned
        with suppress(FileNotFoundError):
            return folder, half_of(folder / _HELD)[1]


def _remove(folder: Path, held: BinaryIO) -> None:
    held.close()  # it was locked until now
    shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned() -> None:
    """Remove temporary folders of runs that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_TEMPORARY}*"):
        with suppress(FileNotFoundError):  # whoever made it may remove it at any moment
            if any(folder.glob(_MARK)):
                remove_left_behind(folder / _HELD)
                if not any(folder.glob(_MARK)):
                    shutil.rmtree(folder, ignore_errors=True)
