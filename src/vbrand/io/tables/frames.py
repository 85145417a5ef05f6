"""A table in a file: named columns of numbers and of text, read batch by batch.

Numbers go straight into one array; text that looks like a number stays text where it is asked for.
"""

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.checks import brief
from vbrand.io.tables.categories import numbers_of
from vbrand.types import FloatArray, IntArray

# rows that are read at once, at most, and numbers
BATCH_ROWS = 65_536
_BATCH_NUMBERS = 131_072
# what a column without a name is called; its place is behind it
UNNAMED = "unnamed column"
_NAMES_SHOWN = 30
# different cells of text among numbers that a message shows
_TEXTS_SHOWN = 3


class TableError(ValueError):
    """A table that can't be used as it is."""


@dataclass(frozen=True)
class OddCells:
    """The cells of a column of numbers that are none."""

    row: int  # of the first, counted from 1
    texts: tuple[str, ...]  # the first few different ones
    cells: int = 1
    kinds: int = 1  # different ones

    @classmethod
    def among(cls, texts: Sequence[str], rows: Sequence[int]) -> "OddCells":
        """Return what there is to say of such cells, whose rows are counted from 0."""
        different = list(dict.fromkeys(texts))
        return cls(rows[0] + 1, tuple(different[:_TEXTS_SHOWN]), len(texts), len(different))

    def __str__(self) -> str:
        first, *then = map(brief, self.texts)
        others = f", then {', '.join(then)}{' and others' if self.kinds > len(self.texts) else ''}" if then else ""
        return f"{first} in row {self.row}{others}{f'; {self.cells:,} such cells' if self.cells > 1 else ''}"

    @property
    def cure(self) -> str:
        """Return what to do about them, but for leaving the column out."""
        it = "them" if self.cells > 1 else "it"
        return f"correct {it}, or leave {it} empty, which counts as missing,"


@dataclass(frozen=True)
class Frame:
    """A table in a file. Columns of numbers and of text; of those that are both, the cells that are no numbers."""

    name: str  # what the user calls it
    columns: tuple[str, ...]
    rows: int
    numeric: frozenset[str]
    single: bool  # whether all numbers have single precision
    mixed: dict[str, OddCells]
    empty: frozenset[str]
    batches: Callable[[list[str]], Iterator[Any]]  # record batches of some columns
    other_sheets: tuple[str, ...] = ()  # of a spreadsheet, which were not read

    def require(self, column: str, option: str) -> None:
        """Refuse the name of a column that there is not."""
        if column not in self.columns:
            near = get_close_matches(column, self.columns, 1) or [
                name for name in self.columns if name.casefold() == column.casefold()
            ]
            hint = f" Did you mean '{near[0]}'?" if near else f" Its columns are: {listed(self.columns, _NAMES_SHOWN)}."
            if set(column.split(",")) <= set(self.columns):
                hint = f" Repeat {option} for each column."
            raise TableError(f"{self.name} has no column '{column}' ({option}).{hint}{self.elsewhere}")

    @property
    def elsewhere(self) -> str:
        """Return where else a column may be that there is not: in other sheets."""
        if not self.other_sheets:
            return ""
        one, are = ("sheet", "is") if len(self.other_sheets) == 1 else ("sheets", "are")
        return f" Its other {one} {are} {listed(self.other_sheets, _NAMES_SHOWN)}: --sheet NAME reads another."

    def texts(self, column: str) -> list[str | None]:
        """Return the cells of a column as text; None where it is empty."""
        try:
            return [text for batch in self.batches([column]) for text in _texts(batch.column(column))]
        except UnicodeDecodeError:
            raise TableError(f"column '{column}' of {self.name} is damaged: it holds text that is none.") from None

    def first_texts(self, column: str, most: int) -> list[str | None]:
        """Return the first cells of a column as text."""
        for batch in self.batches([column]):
            return _texts(batch.column(column)[:most])
        return []

    def values(self, column: str, most: int = sys.maxsize) -> NDArray[Any]:
        """Return the first numbers of a column, NaN where a cell is empty."""
        parts = [np.empty(0)]
        for batch in self.batches([column]):
            parts.append(self.numbers_of(batch, column)[:most])
            most -= parts[-1].size
            if most <= 0:
                break
        return np.concatenate(parts)

    def numbers_of(self, batch: Any, column: str) -> NDArray[Any]:
        """Return the numbers of a column of one batch."""
        return _floats(batch.column(column))

    def growing(self, columns: Collection[str]) -> list[str]:
        """Return the columns of whole numbers that only grow from row to row."""
        growing = set(columns)
        last = dict[str, NDArray[Any]]()
        for batch in self.batches(list(columns)) if columns and self.rows > 2 else ():
            for name in list(growing):
                values = _floats(batch.column(name))
                step = np.diff(np.concatenate([last.get(name, values[:0]), values]))
                last[name] = values[-1:]
                if not (bool((np.floor(values) == values).all()) and (step > 0.0).all()):
                    growing.discard(name)
            if not growing:
                break
        return [name for name in columns if name in growing] if last else []

    def numbers(
        self, columns: list[str], positions: IntArray | None = None, advice: str = "leave the column out (--ignore)"
    ) -> NDArray[Any]:
        """Return the numbers of some columns as one array; `positions` says where each row goes.

        There is never a second array of them. `advice` is what else to do about cells that are no numbers.
        """
        self._check_numeric(columns, advice)
        array = np.empty((self.rows, len(columns)), np.float32 if self.single else np.float64)
        first = 0
        for batch in self.batches(columns):
            rows = slice(first, first + batch.num_rows)
            for j, name in enumerate(columns):
                array[rows if positions is None else positions[rows], j] = _floats(batch.column(name))
            first += batch.num_rows

        self._check_finite(array, columns, positions, advice)
        return array

    def blocks(
        self,
        columns: list[str],
        label: str | None = None,
        advice: str = "leave the column out",
        levels: Mapping[str, Sequence[str]] | None = None,
    ) -> Iterator[tuple[NDArray[Any], list[str | None]]]:
        """Return the numbers of some columns, and the cells of one more as text, batch by batch.

        Of columns with `levels` numbers stand for these; that after the last for any other one.
        """
        coded = levels or {}
        self._check_numeric([name for name in columns if name not in coded], advice)
        first, others = 0, [] if label is None else [label]
        for batch in self.batches([*columns, *others]):
            block = np.empty((batch.num_rows, len(columns)), np.float32 if self.single and not coded else np.float64)
            for j, name in enumerate(columns):
                cells = batch.column(name)
                block[:, j] = _floats(cells) if name not in coded else _places(cells, coded[name])
            if columns:
                self._check_finite(block, columns, None, advice, first)
            first += batch.num_rows
            yield block, [] if label is None else few_texts(batch.column(label))

    def _check_numeric(self, columns: list[str], advice: str) -> None:
        for name in columns:
            if name in self.mixed:
                odd = self.mixed[name]
                comma = (
                    " Is it a decimal comma, or a thousand? Write a point, or nothing."
                    if re.fullmatch(r"[+-]?\d*,\d+", odd.texts[0])
                    else ""
                )
                raise TableError(
                    f"column '{name}' of {self.name} holds text ({odd}); numbers are expected."
                    f"{comma} {odd.cure.capitalize()} or {advice}."
                )
            if name not in self.numeric:
                raise TableError(self._on_no_numbers(name, advice))

    def _on_no_numbers(self, name: str, advice: str) -> str:
        """Return what is to be said of a column that was to be measured and holds none."""
        cells = self.texts(name) if name in self.columns else []
        row, text = next(((i, cell) for i, cell in enumerate(cells, 1) if cell is not None), (0, ""))
        if not row:
            return f"column '{name}' of {self.name} is empty; numbers are expected. Fill it in, or {advice}."
        return (
            f"column '{name}' of {self.name} holds no numbers ({brief(text)} in row {row}); numbers such as 1234.5 are "
            f"expected, without units, per cent signs or marks between thousands. Correct the cells, or {advice}."
        )

    def _check_finite(
        self,
        array: NDArray[Any],
        columns: list[str],
        positions: IntArray | None,
        advice: str,
        first: int = 0,
    ) -> None:
        """Refuse infinite numbers; `first` rows came before the array's."""
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(array.sum(dtype=np.float64)):
                return
        odd = np.isinf(array)
        bad = {name: odd[:, j] for j, name in enumerate(columns)}
        bad = {name: where for name, where in bad.items() if where.any()}
        if not bad:
            return
        name, where = next(iter(bad.items()))
        row = first + int(np.flatnonzero(where if positions is None else where[positions])[0]) + 1
        cells = sum(int(where.sum()) for where in bad.values())
        raise TableError(
            f"column '{name}' of {self.name} has an infinite number in row {row} (such "
            f"cells in all: {cells:,}; columns with them: {len(bad):,}). "
            f"Leave such cells empty, or {advice}."
        )


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names in quotes, of many the first few.

    >>> listed(["ash", "fat", "salt"], 2)
    "'ash', 'fat' and 1 more"
    """
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def batches_of(table: Any, columns: list[str]) -> Iterator[Any]:
    """Return some columns of a table in memory, batch by batch."""
    return iter(table.select(columns).to_batches(max_chunksize=batch_rows(columns)))


def batch_rows(columns: Collection[str]) -> int:
    """Return how many rows of some columns are read at once."""
    return max(1, min(BATCH_ROWS, _BATCH_NUMBERS // max(1, len(columns))))


def _texts(column: Any) -> list[str | None]:
    values = column.to_pylist()
    return [None if value is None or value != value else _text(value) for value in values]


def few_texts(column: Any) -> list[str | None]:
    """Return the cells of a column with few different ones."""
    texts, codes = _different(column)
    return [texts[code] for code in codes.tolist()]


def _places(column: Any, levels: Sequence[str]) -> FloatArray:
    """Return the numbers that stand for the levels of a column."""
    texts, codes = _different(column)
    return numbers_of(texts, levels)[codes]


def _different(column: Any) -> tuple[list[str | None], IntArray]:
    """Return the different cells of a column, last none, and which of them each one is."""
    coded = column if arrow().types.is_dictionary(column.type) else column.dictionary_encode()
    texts = [*_texts(coded.dictionary), None]
    return texts, coded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)


def _text(value: Any) -> str | None:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a whole number that an empty cell elsewhere turned into a float
    return str(value).strip() or None


def _floats(column: Any) -> NDArray[Any]:
    return np.asarray(column.cast(arrow().float64(), safe=False).to_numpy(zero_copy_only=False))


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
