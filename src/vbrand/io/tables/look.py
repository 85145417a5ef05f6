"""A look at a table before anything is fitted: its columns, what would be measured and why, classes, copies."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.io.tables.columns import Choice, choice_of
from vbrand.io.tables.folders import open_tables
from vbrand.io.tables.frames import Frame, TableError, listed
from vbrand.io.tables.ids import Reason, holds_dates
from vbrand.io.tables.material import Roles, labels_of
from vbrand.types import FloatArray

# decimals that numbers may be rounded to
_MOST_DECIMALS = 8
# a column of more different values holds no classes
_MOST_CLASSES = 30
# labelled rows that the robust fit of a class needs at the least; from this many on it is steady
_FEWEST, _FEW = 3, 10
# numbers that differ by less than this share of the largest differ by rounding alone, as `fit` has it
_ROUNDING = 32 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class ColumnLook:
    """One column."""

    name: str
    kind: str
    missing: int
    different: int  # values
    span: str  # smallest to largest, or the first text
    use: str  # "measured", or why not

    @property
    def measured(self) -> bool:
        """Return whether the column would be measured."""
        return self.use.startswith("measured")


@dataclass(frozen=True)
class TableLook:
    """What there is to see in a table."""

    name: str
    rows: int
    columns: tuple[ColumnLook, ...]
    classes: tuple[tuple[str, int], ...]  # names and rows, the largest first; none without a label column
    unlabelled: int
    notes: tuple[str, ...]


def look_at(path: str, roles: Roles, sheet: str | None = None) -> TableLook:
    """Return what there is to see in a table, and what would be measured."""
    frame = open_tables(path, roles.all, sheet, roles.named)
    asked = ((roles.label, "--label"), (roles.name, "--id"), *((name, "--ignore") for name in roles.ignore))
    asked += (*((name, "--measure") for name in roles.measure), *((name, "--category") for name in roles.category))
    for column, option in asked:
        if column is not None:
            frame.require(column, option)
    if frame.rows == 0:
        raise TableError(f"{frame.name} has no rows below its header.")

    choice = choice_of(frame, roles.all, None, roles.measure, roles.category)
    labels = [] if roles.label is None else labels_of(frame, roles.label)
    dropped = _dropped(frame, choice, labels)
    columns = tuple(_column(frame, name, choice, roles, dropped) for name in frame.columns)
    classes = Counter(label for label in labels if label is not None).most_common()
    return TableLook(
        name=frame.name,
        rows=frame.rows,
        columns=columns,
        classes=tuple(classes),
        unlabelled=sum(label is None for label in labels),
        notes=(*_on_labels(columns, classes, roles.label), *_on_cells(frame, columns), *_on_growing(choice)),
    )


def _dropped(frame: Frame, choice: Choice, labels: list[str | None]) -> dict[str, str]:
    """Return why `fit` drops columns of numbers that tell no labelled rows apart; without labels all rows are asked."""
    asked = np.array([label is not None for label in labels]) if labels else np.ones(frame.rows, dtype=bool)
    where, dropped = "labelled rows" if labels else "rows", dict[str, str]()
    for name in _plain(frame, choice.columns):
        values = frame.values(name)[asked]
        values = values[~np.isnan(values)]
        if not values.size:
            dropped[name] = f"no: empty in all {where}"
        elif _agree(values):
            dropped[name] = f"no: the same in all {where}"
    return dropped


def _agree(values: FloatArray) -> bool:
    """Return whether finite numbers are the same up to rounding.

    >>> _agree(np.array([0.3, 0.1 + 0.2])), _agree(np.array([1.0, np.inf])), _agree(np.array([-1e308, 1e308]))
    (True, False, False)
    """
    if not np.isfinite(values).all():
        return False
    with np.errstate(over="ignore"):
        return bool(values.max() - values.min() <= _ROUNDING * np.abs(values).max())


def _column(frame: Frame, name: str, choice: Choice, roles: Roles, dropped: dict[str, str]) -> ColumnLook:
    use = dropped.get(name) or _use(name, choice, roles)
    if name not in frame.numeric:
        texts = frame.texts(name)
        given = [text for text in texts if text is not None]
        return ColumnLook(
            name, _kind(frame, name), len(texts) - len(given), len(set(given)), _short(given[0]) if given else "", use
        )
    values = frame.values(name)
    given = values[np.isfinite(values)]
    span = f"{given.min():.6g} to {given.max():.6g}" if given.size else ""
    return ColumnLook(name, _rounding(given), int(values.size - given.size), np.unique(given).size, span, use)


def _use(name: str, choice: Choice, roles: Roles) -> str:
    if name in choice.columns:
        return "measured"
    if name in choice.categories:
        return "measured, as a category"
    meaning = {roles.label: "the label", roles.truth: "the truth", roles.name: "the id"}
    if name in meaning:
        return meaning[name]
    if name in roles.ignore:
        return "ignored"
    reason = choice.left_out[name]
    short = {Reason.COUNTS: "counts rows", Reason.NAMES: "names rows"}
    return f"no: {short.get(reason, str(reason))}"


def _kind(frame: Frame, name: str) -> str:
    if name in frame.empty:
        return "empty"
    if name in frame.mixed:
        return "numbers and text"
    return "dates" if holds_dates(frame, name) else "text"


def _rounding(values: FloatArray) -> str:
    """Return what numbers a column holds, and what they are rounded to.

    >>> _rounding(np.array([1.0, 2.0])), _rounding(np.array([0.1, 2.25])), _rounding(np.array([1 / 3]))
    ('whole numbers', 'numbers, 0.01', 'numbers')
    """
    for decimals in range(_MOST_DECIMALS + 1):
        if np.array_equal(np.round(values, decimals), values):
            return f"numbers, {10.0**-decimals:g}" if decimals else "whole numbers"
    return "numbers"


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:23]}…"


def _on_labels(columns: tuple[ColumnLook, ...], classes: list[tuple[str, int]], label: str | None) -> list[str]:
    """Return what is to be said of classes; without any, which column may hold them."""
    if label is None:
        likely = [
            column.name
            for column in columns
            if column.kind in ("text", "whole numbers") and 2 <= column.different <= _MOST_CLASSES
        ]
        return [f"columns that may hold labels (--label): {listed(likely)}."] if likely else []
    notes = list[str]()
    few = [name for name, rows in classes if rows < _FEWEST]
    scarce = [name for name, rows in classes if _FEWEST <= rows < _FEW]
    if few:
        notes.append(
            f"classes of fewer than {_FEWEST} rows can't be learned: {listed(few)}. Merge them, or unlabel them."
        )
    if scarce:
        notes.append(f"classes of fewer than {_FEW} rows are learned badly: {listed(scarce)}.")
    return notes


def _on_cells(frame: Frame, columns: tuple[ColumnLook, ...]) -> list[str]:
    """Return what is to be said of the cells that would be measured: text among them, gaps, copies."""
    notes, used = list[str](), [column for column in columns if column.measured]
    for name in (column.name for column in used):
        if name in frame.mixed:
            odd = frame.mixed[name]
            notes.append(f"'{name}' holds text ({odd}): {odd.cure} or leave the column out (--ignore).")
    gaps = [column for column in used if column.missing]
    if gaps:
        cells = sum(column.missing for column in gaps)
        notes.append(
            f"missing cells in measured columns: {cells:,}, in {listed([column.name for column in gaps])}. Rows are "
            "compared by the cells that they have; none is filled in."
        )
    numbers = _plain(frame, [column.name for column in used])
    copies = _copies(np.column_stack([np.empty((frame.rows, 0)), *(frame.values(name) for name in numbers)]))
    if copies:
        notes.append(f"rows that are copies of an earlier one in all measured columns: {copies:,}.")
    return notes


def _plain(frame: Frame, columns: list[str]) -> list[str]:
    return [name for name in columns if name in frame.numeric]


def _copies(table: NDArray[Any]) -> int:
    """Return how many rows are the same as an earlier one, empty cells included.

    >>> _copies(np.array([[1.0, np.nan], [2.0, 3.0], [1.0, np.nan]]))
    1
    """
    if not table.shape[1]:
        return 0
    rows = np.ascontiguousarray(table + 0.0)  # of two zeros one
    whole = np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))  # as bytes, so that empty cells are alike
    return int(rows.shape[0] - np.unique(rows.view(whole)).size)


def _on_growing(choice: Choice) -> list[str]:
    return [note for note in choice.notes if "only grow" in note or "--measure" in note or "--category" in note]
