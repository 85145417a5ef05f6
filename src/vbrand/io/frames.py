"""A table in a file: named columns of numbers and of text, read batch by batch.

Numbers go straight into one array; text that looks like a number stays text where it is asked for.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.types import IntArray

BATCH_ROWS = 65_536
_NAMES_SHOWN = 8


class TableError(ValueError):
    """A table that can't be used as it is."""


@dataclass(frozen=True)
class Frame:
    """A table in a file. Columns of numbers and of text; of those that are both, the first cell that is no number."""

    name: str  # what the user calls it
    columns: tuple[str, ...]
    rows: int
    numeric: frozenset[str]
    single: bool  # whether all numbers have single precision
    mixed: dict[str, tuple[int, str]]  # row counted from 1, and what it holds
    empty: frozenset[str]
    batches: Callable[[list[str]], Iterator[Any]]  # record batches of some columns

    def require(self, column: str, option: str) -> None:
        """Refuse the name of a column that there is not."""
        if column not in self.columns:
            some = ", ".join(self.columns[:_NAMES_SHOWN]) + (", ..." if len(self.columns) > _NAMES_SHOWN else "")
            raise TableError(f"{self.name} has no column '{column}' ({option}); its columns are: {some}.")

    def texts(self, column: str) -> list[str | None]:
        """Return the cells of a column as text; None where it is empty."""
        return [text for batch in self.batches([column]) for text in _texts(batch.column(column))]

    def counts_rows(self, columns: Collection[str]) -> list[str]:
        """Return the columns that only count the rows, one by one: an index, not a measurement."""
        batch = next(self.batches(list(columns)), None) if columns and self.rows > 2 else None
        if batch is None:
            return []
        values = {name: _floats(batch.column(name)) for name in columns}
        return [name for name, value in values.items() if value.size > 2 and bool((np.diff(value) == 1.0).all())]

    def numbers(self, columns: list[str], places: IntArray | None = None) -> NDArray[Any]:
        """Return the numbers of some columns as one array; `places` says where each row goes.

        There is never a second array of them.
        """
        for name in columns:
            if name in self.mixed:
                row, text = self.mixed[name]
                raise TableError(
                    f"column '{name}' of {self.name} holds text ({text!r} in row {row}); numbers are expected. Correct "
                    f"it, or leave the column out: --ignore '{name}'."
                )
            if name not in self.numeric:
                raise TableError(f"column '{name}' of {self.name} holds no numbers; numbers are expected.")
        array = np.empty((self.rows, len(columns)), np.float32 if self.single else np.float64)
        first = 0
        for batch in self.batches(columns):
            rows = slice(first, first + batch.num_rows)
            for j, name in enumerate(columns):
                array[rows if places is None else places[rows], j] = _floats(batch.column(name))
            first += batch.num_rows
        self._check_finite(array, columns, places)
        return array

    def _check_finite(self, array: NDArray[Any], columns: list[str], places: IntArray | None) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(array.sum(dtype=np.float64)):
                return
        bad = {name: ~np.isfinite(array[:, j]) for j, name in enumerate(columns)}
        bad = {name: where for name, where in bad.items() if where.any()}
        if not bad:
            return
        name, where = next(iter(bad.items()))
        row = int(np.flatnonzero(where if places is None else where[places])[0]) + 1
        cells = sum(int(where.sum()) for where in bad.values())
        raise TableError(
            f"column '{name}' of {self.name} has a missing or infinite number in row {row} (such cells: "
            f"{cells:,}, in {len(bad):,} columns). Fill them in, drop those rows, or leave the columns out (--ignore)."
        )


def batches_of(table: Any, columns: list[str]) -> Iterator[Any]:
    """Return some columns of a table in memory, batch by batch."""
    return iter(table.select(columns).to_batches(max_chunksize=BATCH_ROWS))


def _texts(column: Any) -> list[str | None]:
    values = column.to_pylist()
    return [None if value is None or value != value else _text(value) for value in values]


def _text(value: Any) -> str | None:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a whole number that an empty cell elsewhere turned into a float
    return str(value).strip() or None


def _floats(column: Any) -> NDArray[Any]:
    return np.asarray(column.cast(arrow().float64()).to_numpy(zero_copy_only=False))


def checked_names(table: str, names: list[str]) -> tuple[str, ...]:
    """Refuse two columns of one name."""
    seen = set[str]()
    for name in names:
        if name in seen:
            raise TableError(f"two columns of {table} are called '{name}'. Give one of them another name.")
        seen.add(name)
    return tuple(names)


def arrow() -> Any:
    """Return pyarrow, or say how to get it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("reading tables needs the package pyarrow: pip install 'vbrand[tables]'") from None
    return pyarrow
