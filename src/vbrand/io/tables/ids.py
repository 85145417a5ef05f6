"""Columns of numbers that measure nothing: they name or count the rows, or are dates."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.io.tables.frames import UNNAMED, Frame
from vbrand.types import BoolArray, FloatArray, IntArray

# words that no measurement has in its name
_SURE = {"id", "ids", "uid", "guid", "uuid", "rowname", "rownames", "rowid", "rownum"}
# words that a name of nothing else is made of where it numbers rows: "Sample Number", "row", "No."
_LIKELY = {"index", "idx", "number", "no", "nr", "num", "nummer", "key", "row", "sample", "specimen", "record", "case"}
_LIKELY |= {"plot", "plant", "tree", "animal", "patient", "subject", "obs", "observation"}
_DATES = {"date", "datetime", "timestamp", "datum"}
_DAY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T]\d.*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})([ T]\d.*)?")

# share of different values among names of rows: a few rows may be there twice
_NEARLY_ALL = 0.95
# the same where the name speaks for it: many rows may be there twice
_MOST = 0.5
# whole numbers without repeats that fill their range like this are numbers of rows, whatever their order
_FILLED = 0.9
_FEWEST_FILLED, _FEWEST_GROWING = 20, 10
# of the shorter range, that lies in the other one: two parts of one table, not two tables
_INTERLEAVED = 0.5
# cells that tell whether a column of text holds dates, and whether numbers repeat
_LOOKED_AT, _FIRST = 50, 1_000
# rows that tell whether a column names them
_ROWS_READ = 2_000_000


class Reason(StrEnum):
    """Why a column is not measured."""

    TEXT = "text"
    DATES = "dates"
    EMPTY = "empty"
    COUNTS = "they only count the rows"
    NAMES = "they look like names of rows"


def id_columns(frames: Sequence[Frame], columns: Sequence[str]) -> dict[str, Reason]:
    """Return which columns of numbers measure nothing, and why; `frames` are one table, or the two parts of it."""
    found = dict[str, Reason]()
    for name in _candidates(frames[0], columns, sum(frame.rows for frame in frames)):
        parts = [frame.values(name, _ROWS_READ) for frame in frames if name in frame.numeric]
        reason = _reason(name, parts)
        if reason is not None:
            found[name] = reason
    return found


def columns_like_ids(names: Sequence[str], table: NDArray[Any]) -> IntArray:
    """Return which columns of numbers in memory look as if they named or counted the rows, or held their dates.

    >>> columns_like_ids(["sample_id", "ash"], np.column_stack([np.arange(9), np.arange(9) % 4 + 0.5]))
    array([0])
    """
    columns = np.asarray(table, dtype=np.float64).T
    asked = [j for j, name in enumerate(names) if len(table) > 2 and _may_be_id(name, columns[j], len(table))]
    return np.array([j for j in asked if _reason(names[j], [columns[j]]) is not None], dtype=np.int64)


def holds_dates(frame: Frame, column: str) -> bool:
    """Return whether a column of text holds dates, by its first cells."""
    texts = [text for text in frame.first_texts(column, _LOOKED_AT) if text]
    return bool(texts) and all(_DAY.fullmatch(text) for text in texts)


def _candidates(frame: Frame, columns: Sequence[str], rows: int) -> list[str]:
    """Return the columns that may measure nothing, by their first rows: most are read no further."""
    for batch in frame.batches(list(columns)) if columns and frame.rows > 2 else ():
        return [name for name in columns if _may_be_id(name, frame.numbers_of(batch, name), rows)]
    return []


def _may_be_id(name: str, values: FloatArray, rows: int) -> bool:
    if not _whole(values):
        return False
    first, words = values[:_FIRST], set(_words(name))
    if name.startswith(UNNAMED) or words & (_SURE | _DATES) or _is_day(first).all():
        return True
    near = bool(np.ptp(first) * _FILLED <= rows)  # NaN is not
    return (_is_likely(words) and _mostly_unique(first)) or (_nearly_unique(first) and (near or _is_monotone(first)))


def _reason(name: str, parts: list[NDArray[Any]]) -> Reason | None:
    """Return why a column measures nothing, given its values in each table; None if it does."""
    values = np.concatenate(parts)
    values = values[~np.isnan(values)]
    if not _whole(values) or values.size == 0:
        return None
    words = set(_words(name))
    if words & _DATES or (_is_day(values).all() and np.ptp(values) > 0.0):
        return Reason.DATES
    if name.startswith(UNNAMED) or _counts(parts[0]):
        return Reason.COUNTS
    if words & _SURE:
        return Reason.NAMES

    if not _nearly_unique(values):
        return Reason.NAMES if _is_likely(words) and _mostly_unique(values) else None
    reach = values.max() - values.min() + 1.0
    if values.size >= max(_FEWEST_FILLED, _FILLED * reach):
        return Reason.COUNTS
    return Reason.NAMES if _is_likely(words) or _interleave(parts) else None


def _nearly_unique(values: FloatArray) -> bool:
    return np.unique(values).size >= _NEARLY_ALL * values.size


def _mostly_unique(values: FloatArray) -> bool:
    return np.unique(values).size >= _MOST * values.size


def _interleave(parts: list[NDArray[Any]]) -> bool:
    """Return whether two columns grow, or fall, from row to row and lie between each other: parts of one numbering."""
    if len(parts) < 2 or min(part.size for part in parts) < _FEWEST_GROWING:
        return False
    if not all(_is_monotone(part) for part in parts):
        return False
    low, high = max(part.min() for part in parts), min(part.max() for part in parts)
    return bool(high - low >= _INTERLEAVED * min(np.ptp(part) for part in parts))


def _is_likely(words: set[str]) -> bool:
    return bool(words) and words <= _LIKELY  # a name may have no words: a wavelength


def _is_monotone(values: FloatArray) -> bool:
    step = np.diff(values)
    return bool((step > 0.0).all() or (step < 0.0).all())


def _counts(values: FloatArray) -> bool:
    return values.size > 2 and bool((np.diff(values) == 1.0).all())


def _whole(values: FloatArray) -> bool:
    with np.errstate(invalid="ignore"):
        return bool((np.isnan(values) | (values % 1.0 == 0.0)).all())


def _is_day(values: FloatArray) -> BoolArray:
    """Return which numbers are days such as 20240503."""
    year, month, day = values // 10_000, values // 100 % 100, values % 100
    return (year >= 1900) & (year <= 2100) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)


def _words(name: str) -> list[str]:
    """Return the words of a name.

    >>> _words("plotID"), _words("Sample Number"), _words("tree_id2")
    (['plot', 'id'], ['sample', 'number'], ['tree', 'id'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", name)]
