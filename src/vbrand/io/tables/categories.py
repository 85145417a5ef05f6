"""Columns of categories: which columns of a table are, and what number stands for each level.

pandas' categories, booleans and text of few levels are categories, and whatever the user names. Ids and free text are
none, nor are whole numbers unless the user says so.
"""

import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vbrand.io.tables.validated import Columns, is_number
from vbrand.samples import level_lots
from vbrand.types import BoolArray, FloatArray

# text of more levels, or of fewer rows per level, is no category unless it is named
FEW, ROWS_PER_LEVEL = 50, 3
# more levels than these name rows, whatever the user says
MOST = 1_000

# what a level is called that no labelled row has
OTHER_LEVEL = "another level"

Wanted = Literal["auto"] | Sequence[Any] | None


@dataclass(frozen=True)
class Category:
    """A column of categories and its levels; the number after theirs stands for any other one."""

    column: int  # its place in the table
    levels: tuple[str, ...]  # of labelled rows, the commonest first

    @property
    def size(self) -> int:
        """Return the number of levels, with that of levels that nobody has labelled."""
        return len(self.levels) + 1


Categories = tuple[Category, ...]


def coded(table: Any, wanted: Wanted) -> tuple[Any, Categories]:
    """Return a table with numbers for the levels of its categories, and those; other tables as they came."""
    chosen = _chosen(table, wanted)
    found, replaced = list[Category](), dict[int, FloatArray]()
    for j in chosen:
        texts = texts_of(column_of(table, j))
        levels = tuple(sorted({text for text in texts if text is not None}))
        check_levels(_called(table, j), len(levels), len(texts))
        found.append(Category(j, levels))
        replaced[j] = numbers_of(texts, levels)
    return (_with_columns(table, replaced) if found else table), tuple(found)


def recoded(table: Any, categories: Sequence[Category], columns: Columns) -> Any:
    """Return another table of the same columns with the numbers that stand for its levels."""
    if not categories or len(getattr(table, "shape", ())) != 2 or table.shape[1] != columns.count:
        return table  # whoever validates it says what is wrong
    each = {one.column: numbers_of(texts_of(column_of(table, one.column)), one.levels) for one in categories}
    return _with_columns(table, each)


def settled(
    rows: NDArray[Any], categories: Sequence[Category], labelled: BoolArray
) -> tuple[NDArray[Any], tuple[Category, ...]]:
    """Return rows with the numbers of levels as labelled rows have them, the commonest first, and these levels.

    Of levels that are equally common it is what else their rows hold that counts; names have no part in it.
    """
    if not categories:
        return rows, ()
    lots = _lots(rows[labelled], categories)
    found = list[Category]()
    for one, lot in zip(categories, lots, strict=True):
        column = rows[labelled, one.column]
        counts = np.bincount(column[~np.isnan(column)].astype(np.int64), minlength=len(one.levels))
        order = np.lexsort((lot, -counts))[: int((counts > 0).sum())]
        found.append(Category(one.column, tuple(one.levels[k] for k in order.tolist())))
    return renumbered(rows, tuple(categories), tuple(found)), tuple(found)


def renumbered(rows: NDArray[Any], before: Categories, after: Categories) -> NDArray[Any]:
    """Return rows, in which numbers stand for the levels of before, with those that stand for levels from now on."""
    rows = rows.copy()
    for one, other in zip(before, after, strict=True):
        column = rows[:, one.column]
        there = ~np.isnan(column)
        place = np.append(numbers_of(one.levels, other.levels), other.size - 1)
        column[there] = place[column[there].astype(np.int64)]
    return rows


def _lots(rows: NDArray[Any], categories: Sequence[Category]) -> list[NDArray[np.uint64]]:
    """Return numbers for the levels of each column, by what rows with them hold."""
    places = [one.column for one in categories]
    numbers = np.delete(rows, places, axis=1).astype(np.float64)
    return level_lots(numbers, rows[:, places].astype(np.float64), tuple(len(one.levels) for one in categories))


def texts_of(values: Iterable[Any]) -> list[str | None]:
    """Return what the cells of a column say, None where they are empty."""
    return [_text(value) for value in values]


def few_levels(texts: Sequence[str | None]) -> bool:
    """Return whether a column of text has few levels, most of them no numbers, and rows of each.

    One level is few, too: such a column tells nothing as long as all rows have it.
    """
    there = [text for text in texts if text is not None]
    return are_few(set(there), len(there))


def are_few(levels: Collection[str], rows: int) -> bool:
    """Return the same, given the levels and how many rows have one."""
    if not 1 <= len(levels) <= FEW or len(levels) * ROWS_PER_LEVEL > rows:
        return False
    return sum(map(is_number, levels)) * 2 <= len(levels)


def _text(value: Any) -> str | None:
    if value is None or value is getattr(sys.modules.get("pandas"), "NA", None):
        return None
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else str(int(value)) if float(value).is_integer() else str(float(value))
    text = str(value)
    return None if text.strip() == "" or text == "NaT" else text


def _chosen(table: Any, wanted: Wanted) -> list[int]:
    """Return the places of the columns that are categories."""
    names = list(table.columns) if hasattr(table, "columns") else None
    if wanted is None or len(getattr(table, "shape", ())) != 2:
        return []
    if not isinstance(wanted, str):
        return wanted_places(wanted, names, table.shape[1])
    if names is None or not hasattr(table, "dtypes"):
        return []
    return [j for j, dtype in enumerate(table.dtypes) if _is_category(table, j, str(dtype).lower())]


def wanted_places(wanted: Any, names: Sequence[Any] | None, count: int) -> list[int]:
    """Return the places of the columns that the user calls categories."""
    listed = isinstance(wanted, list | tuple | set | frozenset | np.ndarray)
    if not listed or np.ndim(np.asarray(wanted, object)) != (0 if isinstance(wanted, set | frozenset) else 1):
        given = " ".join(repr(wanted).split())  # one line, also of a table
        raise ValueError(f"categories={given}: give 'auto', None, or a list of names or places of columns.")
    return sorted({_place(one, names, count) for one in wanted})


def _is_category(table: Any, j: int, dtype: str) -> bool:
    """Return whether a column of a frame is a category, by its type and, if it is text, by its levels."""
    if dtype.startswith(("category", "categorical", "enum", "bool")):
        return True
    return dtype.startswith(("object", "str")) and few_levels(texts_of(column_of(table, j)))


def _place(one: Any, names: Sequence[Any] | None, count: int) -> int:
    if names is not None and one in names:
        return names.index(one)
    if isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < count:
        return int(one)
    raise ValueError(f"categories names {one!r}; the table has no such column.")


def column_of(table: Any, j: int) -> Any:
    """Return the cells of a column."""
    if hasattr(table, "iloc"):
        return table.iloc[:, j].tolist()
    return table[:, j].to_list() if hasattr(table, "to_pandas") else np.asarray(table, dtype=object)[:, j].tolist()


def _called(table: Any, j: int) -> str:
    return f"column '{list(table.columns)[j]}'" if hasattr(table, "columns") else f"column {j}"


def check_levels(name: str, levels: int, rows: int) -> None:
    """Refuse more levels than a category may have."""
    if levels > MOST:
        raise ValueError(
            f"{name} has {levels:,} levels in {rows:,} rows: an id or free text, not a category. Leave it out."
        )


def numbers_of(texts: Sequence[str | None], levels: Sequence[str]) -> FloatArray:
    """Return the numbers that stand for levels, (n,): that after the last for any other one, NaN for none."""
    place = {level: float(k) for k, level in enumerate(levels)}
    other = float(len(levels))
    return np.array([np.nan if text is None else place.get(text, other) for text in texts])


def _with_columns(table: Any, columns: dict[int, FloatArray]) -> Any:
    """Return a table with other columns at some places."""
    if hasattr(table, "iloc"):
        by_place = table.set_axis(range(table.shape[1]), axis=1)  # names may be there twice
        for j, values in columns.items():
            by_place[j] = values
        return by_place.set_axis(table.columns, axis=1)
    if hasattr(table, "to_pandas"):
        table = table.clone()
        for j, values in columns.items():
            table.replace_column(j, type(table.to_series(j))(table.columns[j], values))
        return table
    array = np.array(table, dtype=object)
    for j, values in columns.items():
        array[:, j] = values
    return array


def texts_again(values: FloatArray, levels: Sequence[str]) -> list[str | None]:
    """Return the levels that numbers stand for; one that no labelled row has is called so."""
    names = [*levels, OTHER_LEVEL, None]
    return [names[k] for k in np.where(np.isnan(values), len(levels) + 1, values).astype(np.int64).tolist()]
