"""The rows that a fit runs over: a table, and the way to working coordinates, taken block by block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vbrand.model.levels import codes_of
from vbrand.types import BoolArray, FloatArray, IntArray

# working coordinates, and standardised values, count as at most this far out: there a row is as novel as any, and its
# square still leaves room for those of ordinary ones
FARTHEST = 1e6
# numbers a block holds, and rows at the most: it stays in the processor's second cache
BLOCK_NUMBERS = 1_000_000
_BLOCK_ROWS = 8_192
# rows are cut into at most this many pieces, and four times as many where statistics of so many components are small;
# of long tables no piece has more blocks than these
_PIECES = 16
_COMPONENTS = 16
_BLOCKS_OF_A_PIECE = 128
_ALL, _NONE = slice(None), slice(0)


class PerRow(Protocol):
    """A small number of each row: an array, or what lies on disk and can be read and written like one."""

    def __getitem__(self, chosen: Any) -> NDArray[np.int32]: ...

    def __setitem__(self, chosen: slice, values: NDArray[np.int32]) -> None: ...


class Source(Protocol):
    """Rows that do not lie in memory. What is chosen, by a slice, a mask or numbers of rows, is read."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""

    def __getitem__(self, chosen: Any) -> NDArray[Any]: ...

    @property
    def gapped(self) -> bool:
        """Return whether any cell is missing (NaN)."""

    def part(self, piece: slice) -> Any:
        """Return the rows of a range, not read yet."""

    def room(self) -> Any:
        """Return room for a small number of each row, all zero."""

    def answers(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return room for answers of that name: zeros, mapped into memory."""

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Any:
        """Return what a function makes of the rows, block by block."""


class Split(NamedTuple):
    """The rows of a block that are complete numbers, and those that are not; and where they stand in it."""

    complete: slice | IntArray
    complete_rows: "Rows"
    others: slice | IntArray
    other_rows: "Rows"


@dataclass(frozen=True)
class Rows:
    """A table in the user's units, float32 or float64, and the way to working coordinates, taken block by block.

    Working coordinates beyond the farthest, a million or less, count as that: a row is as novel there, and its square
    still leaves room for those of ordinary ones.
    """

    table: Any  # (n, p + c) an array or a Source
    centre: FloatArray  # (p + c,)
    multiplier: FloatArray  # (p + c,) working coordinates are (table - centre) * multiplier
    farthest: float = FARTHEST
    levels: tuple[int, ...] = ()  # (c,) how many levels the last columns have, which are categories; -1 is no level

    @classmethod
    def plain(cls, rows: FloatArray, levels: tuple[int, ...] = ()) -> "Rows":
        """Return rows that are in working coordinates already, however far."""
        return cls(rows, np.zeros(rows.shape[1]), np.ones(rows.shape[1]), np.inf, levels)

    def __len__(self) -> int:
        return int(self.table.shape[0])

    @property
    def columns(self) -> int:
        """Return p."""
        return int(self.table.shape[1]) - len(self.levels)

    @cached_property
    def gapped(self) -> bool:
        """Return whether any cell is missing (NaN)."""
        if not isinstance(self.table, np.ndarray):
            return bool(self.table.gapped)
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isnan(self.table.sum(dtype=np.float64))) and bool(np.isnan(self.table).any())

    @cached_property
    def splits(self) -> dict[int, Split] | None:
        """Return how each block of a table in memory splits, by its first row; of others nothing is held."""
        if not isinstance(self.table, np.ndarray):
            return None
        return {block.start: self.some(block).by_gaps() for block in self.blocks()}

    def by_gaps(self) -> Split:
        """Return which rows of a block are complete numbers, and which are not: cells are missing, or are categories.

        Rows that miss the same cells stand together, for much is computed once for all of them. Those without any cell
        are of neither kind.
        """
        missing = np.isnan(self.table[:, : self.columns])
        absent = missing.sum(axis=1)
        complete: slice | IntArray = _NONE if self.levels else _ALL
        others: slice | IntArray = _ALL if self.levels else _NONE
        if absent.any():
            some = with_cells(self.table, self.columns)
            if not self.levels:
                complete = np.flatnonzero(absent == 0)
                some &= absent > 0
            bits = np.packbits(missing[some], axis=1)
            words = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64)
            others = np.flatnonzero(some)[np.lexsort(words.T)]
        return Split(complete, self.some(complete), others, self.some(others))

    def some(self, chosen: Any) -> "Rows":
        """Return some of the rows: a slice, a mask or indices."""
        return replace(self, table=self.table[chosen])

    def working(self, chosen: Any) -> FloatArray:
        """Return some rows in working coordinates: a slice, a mask or indices."""
        working = np.subtract(self.table[chosen], self.centre, dtype=np.float64)
        with np.errstate(over="ignore"):  # what is infinite then ends at the farthest, too
            working *= self.multiplier
        return np.ascontiguousarray(np.clip(working, -self.farthest, self.farthest, out=working))

    @cached_property
    def in_one_block(self) -> FloatArray:
        """Return all rows in working coordinates, of a table of one block: ascents ask for them again and again."""
        return self.working(slice(None))

    def numbers(self, chosen: Any) -> FloatArray:
        """Return the same without categories, (n, p)."""
        working = self.working(chosen)
        return np.ascontiguousarray(working[:, : self.columns]) if self.levels else working

    def codes(self, chosen: Any) -> IntArray:
        """Return the levels of some rows, counted over all columns of categories, (n, c)."""
        return codes_of(self.table[chosen][:, self.columns :], self.levels)

    def blocks(self) -> Iterator[slice]:
        """Return slices of the rows, each small enough to hold a copy of."""
        size = self.block_rows
        return (slice(first, min(first + size, len(self))) for first in range(0, len(self), size))

    def pieces(self) -> list[slice]:
        """Return runs of blocks, as even as possible: the same for any number of threads, wherever the rows lie."""
        size, p = self.block_rows, self.columns
        blocks = -(-len(self) // size)
        most = max(_PIECES, min(4 * _PIECES, BLOCK_NUMBERS // (_COMPONENTS * p * p)), blocks // _BLOCKS_OF_A_PIECE)
        edges = np.linspace(0, blocks, min(most, blocks) + 1).astype(int) * size
        return [slice(first, min(last, len(self))) for first, last in pairwise(edges.tolist())]

    def part(self, piece: slice) -> "Rows":
        """Return the rows of a range, with no copy of them."""
        table = self.table[piece] if isinstance(self.table, np.ndarray) else self.table.part(piece)
        return replace(self, table=table)

    @property
    def elsewhere(self) -> bool:
        """Return whether rows are in other processes, which do the work on them."""
        return hasattr(self.table, "each")

    def room(self) -> Any:
        """Return room for a small number of each row, all zero, where the rows lie: in memory or on disk."""
        return np.zeros(len(self), np.int32) if isinstance(self.table, np.ndarray) else self.table.room()

    def answers(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return room for answers: zeros in memory, or in a file of that name beside rows that lie on disk."""
        in_memory = isinstance(self.table, np.ndarray)
        return np.zeros(shape, dtype) if in_memory else np.asanyarray(self.table.answers(name, shape, dtype))

    def aside(self, shape: tuple[int, ...]) -> FloatArray:
        """Return room for numbers that are needed for a while: zeros in memory, or on disk where rows lie there."""
        in_memory = isinstance(self.table, np.ndarray)
        return np.zeros(shape) if in_memory else np.asanyarray(self.table.scratch.aside(shape, np.float64))

    @property
    def journal(self) -> Any:
        """Return the journal of passes over rows that lie on disk or on a cluster, if the run is to be resumed."""
        return None if isinstance(self.table, np.ndarray) else self.table.scratch.journal

    def heard(self, done: int) -> None:
        """Tell who waits how many rows of a pass are done, of rows that do not lie in memory; 0 when it begins."""
        if not isinstance(self.table, np.ndarray):
            self.table.scratch.heard(done, len(self))

    def let_go(self) -> None:
        """Take answers that lie on disk out of memory."""
        if not isinstance(self.table, np.ndarray):
            self.table.scratch.let_go()

    @property
    def block_rows(self) -> int:
        """Return how many rows a block has, but for the last one."""
        return max(256, min(_BLOCK_ROWS, BLOCK_NUMBERS // self.columns))


def with_cells(table: NDArray[Any], columns: int) -> BoolArray:
    """Return which rows of a table have a cell, of columns of numbers, which come first, or of categories."""
    some: BoolArray = ~np.isnan(table[:, :columns]).all(axis=1)
    return some | (table[:, columns:] >= 0.0).any(axis=1)


def relabelled(numbers: Any, place: NDArray[np.int32]) -> Any:
    """Return small numbers of rows under new names: `place` says which."""
    return place[numbers] if isinstance(numbers, np.ndarray) else numbers.relabelled(place)
