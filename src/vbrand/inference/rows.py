"""The rows that a fit runs over: a table, and the way to working coordinates, taken block by block."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.types import FloatArray, IntArray

# working coordinates, and standardised values, count as at most this far out: there a row is as novel as any, and its
# square still leaves room for those of ordinary ones
FARTHEST = 1e6
# numbers a block holds, and rows at the most: it stays in the processor's second cache
BLOCK_NUMBERS = 1_000_000
_BLOCK_ROWS = 8_192


@dataclass(frozen=True)
class Gaps:
    """Which rows have missing cells, and both kinds apart. Rows without any cell are of neither kind."""

    complete: IntArray  # which rows are
    partial: IntArray
    complete_rows: "Rows"
    partial_rows: "Rows"


@dataclass(frozen=True)
class Rows:
    """A table in the user's units, float32 or float64, and the way to working coordinates, taken block by block.

    Working coordinates of more than a million count as a million: a row is as novel there, and its square still
    leaves room for those of ordinary ones.
    """

    table: NDArray[Any]  # (n, p)
    centre: FloatArray  # (p,)
    multiplier: FloatArray  # (p,) working coordinates are (table - centre) * multiplier
    farthest: float = FARTHEST

    @classmethod
    def plain(cls, rows: FloatArray) -> "Rows":
        """Return rows that are in working coordinates already, however far."""
        return cls(rows, np.zeros(rows.shape[1]), np.ones(rows.shape[1]), np.inf)

    def __len__(self) -> int:
        return int(self.table.shape[0])

    @property
    def columns(self) -> int:
        """Return p."""
        return int(self.table.shape[1])

    @cached_property
    def gaps(self) -> Gaps | None:
        """Return which rows have missing cells (NaN); None if none has."""
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isnan(self.table.sum(dtype=np.float64)):
                return None
        missing = np.isnan(self.table).sum(axis=1)
        if not missing.any():
            return None
        complete, partial = np.flatnonzero(missing == 0), np.flatnonzero((missing > 0) & (missing < self.columns))
        return Gaps(complete, partial, self.some(complete), self.some(partial))

    def some(self, chosen: Any) -> "Rows":
        """Return some of the rows: a slice, a mask or indices."""
        return replace(self, table=self.table[chosen])

    def working(self, chosen: Any) -> FloatArray:
        """Return some rows in working coordinates: a slice, a mask or indices."""
        working = (self.table[chosen].astype(np.float64) - self.centre) * self.multiplier
        return np.ascontiguousarray(np.clip(working, -self.farthest, self.farthest))

    def blocks(self) -> Iterator[slice]:
        """Return slices of the rows, each small enough to hold a copy of."""
        size = max(256, min(_BLOCK_ROWS, BLOCK_NUMBERS // self.columns))
        return (slice(first, min(first + size, len(self))) for first in range(0, len(self), size))
