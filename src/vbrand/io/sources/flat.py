"""Rows in a flat file, read by position. They are not mapped into memory: a process may be allowed less than they take.

One row lies behind the other, as in a .npy file, so that a block is one piece of the file and any row can be reached.
"""

import os
from collections.abc import Callable, Iterator
from io import FileIO
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vbrand.io.sources.scratch import Scratch, told_of
from vbrand.types import BoolArray, IntArray

# rows that are copied at once: a multiple of the blocks in which wide tables are reduced
COPIED = 16_384
# bytes between two wanted rows that are read rather than left out, and bytes that are read at once
_GAP, _AT_ONCE = 4_096, 2**20


class _Handle:
    """An open file that parts of it share; it is closed when nobody needs it any more."""

    def __init__(self, file: BinaryIO) -> None:
        self._number, self.lock = os.dup(file.fileno()), Lock()  # Python warns of files that are left to be collected
        self.file = FileIO(self._number, "r+" if file.writable() else "r", closefd=False)
        self._stamp = None if file.writable() else self._now()  # a file of the user's: others may write to it
        file.close()

    def check(self) -> None:
        """Refuse a file that is not what it was when it was opened."""
        if self._stamp is not None and self._now() != self._stamp:
            raise ValueError("the file of the rows was changed while it was read. Leave it alone, and begin again.")

    def _now(self) -> tuple[int, int]:
        now = os.fstat(self._number)
        return now.st_size, now.st_mtime_ns

    def __del__(self) -> None:
        os.close(self._number)


class Flat:
    """Numbers in a file, (n, p) or (n,), behind `start` bytes; what is chosen of them is read."""

    def __init__(
        self, file: BinaryIO | _Handle, shape: tuple[int, ...], dtype: Any, scratch: Scratch, start: int = 0
    ) -> None:
        self.shape, self.dtype, self.scratch = shape, np.dtype(dtype), scratch
        self.gapped = False  # whether any cell is missing (NaN)
        self._start, self._handle = start, file if isinstance(file, _Handle) else _Handle(file)

    @classmethod
    def empty(cls, scratch: Scratch, columns: int, dtype: Any) -> "Flat":
        """Return a file without rows, to which some may be added."""
        return cls(scratch.file(), (0, columns), dtype, scratch)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    def __getitem__(self, chosen: Any) -> NDArray[Any]:
        if isinstance(chosen, slice) and chosen.step in (None, 1):
            first, last, _ = chosen.indices(len(self))
            rows = self._read(first, last)
        else:
            rows = self._gathered(numbers_of(chosen, len(self)))
        if self.gapped:  # a damaged file may hold NaNs of the kind that warn
            rows[np.isnan(rows)] = np.nan
        return rows

    def part(self, piece: slice) -> "Flat":
        """Return the rows of a range, not read yet."""
        first, last, _ = piece.indices(len(self))
        start = self._start + first * self._row_bytes
        part = Flat(self._handle, (max(0, last - first), *self.shape[1:]), self.dtype, self.scratch, start)
        part.gapped = self.gapped
        return part

    def room(self) -> "Numbers":
        """Return room for a small number of each row, all zero."""
        return Numbers.zeros(self.scratch, len(self))

    def held(self, path: Path) -> "Numbers":
        """Return the small numbers of the rows that a file holds."""
        return Numbers.filed(self.scratch, path, len(self))

    def answers(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return room for answers: zeros, mapped into memory."""
        return self.scratch.answers(name, shape, dtype)

    def blocks(self) -> Iterator[slice]:
        """Return slices of the rows, each small enough to hold a copy of."""
        return (slice(first, min(first + COPIED, len(self))) for first in range(0, len(self), COPIED))

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> "Flat":
        """Return what a function makes of the rows, block by block, in a file of its own."""
        first = function(self[: min(1, len(self))])
        made = Flat.empty(self.scratch, first.shape[1], first.dtype)
        for block in self.blocks():
            made.add(function(self[block]))
        return made

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        self.write(len(self), rows)
        self.shape = (len(self) + rows.shape[0], *self.shape[1:])
        self.gapped = self.gapped or bool(np.isnan(rows).any())

    def write(self, first: int, rows: NDArray[Any]) -> None:
        """Write rows from a number on."""
        if rows.size == 0:
            return
        content = memoryview(np.ascontiguousarray(rows, self.dtype)).cast("B")  # type: ignore[arg-type]
        with self._handle.lock, told_of(self.scratch.folder):
            self._handle.file.seek(self._start + first * self._row_bytes)
            while content:
                content = content[self._handle.file.write(content) :]

    @property
    def _read_as(self) -> np.dtype[Any]:
        """Return the type that numbers are read as: a table has floats."""
        plain = self.ndim == 1 or self.dtype in (np.float32, np.float64)
        return self.dtype.newbyteorder("=") if plain else np.dtype(np.float64)

    @property
    def _row_bytes(self) -> int:
        return int(self.dtype.itemsize * np.prod(self.shape[1:]))

    def _read(self, first: int, last: int) -> NDArray[Any]:
        rows = np.empty((max(0, last - first), *self.shape[1:]), self.dtype)
        wanted = memoryview(rows.reshape(-1)).cast("B") if rows.size else memoryview(b"")  # type: ignore[arg-type]
        with self._handle.lock:
            self._handle.file.seek(self._start + first * self._row_bytes)
            while wanted:
                got = self._handle.file.readinto(wanted)
                if not got:
                    raise ValueError("the file of the rows was cut off while it was read. Leave it alone meanwhile.")
                wanted = wanted[got:]
            self._handle.check()
        return rows.astype(self._read_as, copy=False)

    def _gathered(self, numbers: IntArray) -> NDArray[Any]:
        """Return rows by their numbers; those that lie near each other are read together."""
        order = np.argsort(numbers, kind="stable")
        sought, row_bytes = numbers[order], self._row_bytes
        far = np.diff(sought) > max(1, _GAP // row_bytes)
        far |= np.diff(sought // max(1, _AT_ONCE // row_bytes)) > 0
        edges = np.concatenate([[0], np.flatnonzero(far) + 1, [sought.size]]).tolist()
        found = np.empty((sought.size, *self.shape[1:]), self._read_as)
        for first, last in pairwise(edges):
            if last > first:
                run = sought[first:last]
                found[order[first:last]] = self._read(int(run[0]), int(run[-1]) + 1)[run - run[0]]
        return found


class Numbers:
    """A small number of each row, in a file, and the names that they go by since it was written."""

    def __init__(self, held: Flat, place: NDArray[np.int32] | None = None) -> None:
        self._held, self._place = held, place

    @classmethod
    def zeros(cls, scratch: Scratch, rows: int) -> "Numbers":
        """Return zeros."""
        file = scratch.file()
        file.truncate(2 * rows)
        return cls(Flat(file, (rows,), np.int16, scratch))

    @classmethod
    def filed(cls, scratch: Scratch, path: Path, rows: int) -> "Numbers":
        """Return the numbers that a file holds."""
        return cls(Flat(path.open("rb", buffering=0), (rows,), np.int16, scratch))

    def __len__(self) -> int:
        return len(self._held)

    def __getitem__(self, chosen: Any) -> NDArray[np.int32]:
        numbers = self._held[chosen]
        return numbers.astype(np.int32) if self._place is None else self._place[numbers]

    def __setitem__(self, chosen: slice, numbers: NDArray[np.int32]) -> None:
        self._held.write(chosen.start, numbers)

    def relabelled(self, place: NDArray[np.int32]) -> "Numbers":
        """Return the same numbers under new names: `place` says which. No row is read."""
        return Numbers(self._held, place if self._place is None else place[self._place])


def numbers_of(chosen: Any, rows: int) -> IntArray:
    """Return the numbers of chosen rows: of a slice, a mask, or numbers, which may count from the end."""
    if isinstance(chosen, slice):
        return np.arange(*chosen.indices(rows))
    chosen = np.asarray(chosen)
    if chosen.dtype == bool:
        return np.flatnonzero(chosen)
    return np.asarray(np.where(chosen < 0, chosen + rows, chosen), dtype=np.int64)


def copied(table: Any, chosen: BoolArray, scratch: Scratch) -> Flat:
    """Return some rows of a table in a file of their own."""
    made = Flat.empty(scratch, table.shape[1], table[:0].dtype)
    for first in range(0, chosen.size, COPIED):
        block = slice(first, min(first + COPIED, chosen.size))
        made.add(table[block][chosen[block]])
    return made
