"""Known and unknown rows from tables: which columns are measured, which are carried through, which rows are unknown."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from vbrand.checks import brief, names_there
from vbrand.io.tables.categories import Category, check_levels, numbers_of
from vbrand.io.tables.columns import Choice, choice_of, measured, want_columns
from vbrand.io.tables.folders import open_tables
from vbrand.io.tables.frames import UNNAMED, Frame, TableError, listed
from vbrand.io.tables.labels import check_names
from vbrand.io.tables.validated import is_number
from vbrand.types import BoolArray


@dataclass(frozen=True)
class Roles:
    """What columns mean."""

    label: str | None = None
    name: str | None = None  # the id of a row
    truth: str | None = None
    ignore: tuple[str, ...] = ()
    measure: tuple[str, ...] = ()  # measured, whatever they look like
    replicate: str | None = None  # the sample that a row is of
    category: tuple[str, ...] = ()  # whose values are names of levels, whatever they look like

    @property
    def all(self) -> set[str]:
        """Return the columns that are not measured."""
        named = (self.label, self.name, self.truth, self.replicate)
        return {column for column in named if column is not None} | set(self.ignore)

    @property
    def named(self) -> set[str]:
        """Return all columns that are named, those that are measured included."""
        return self.all | {*self.measure, *self.category}


# a whole number as a table may hold it, also where an empty cell has made floats of a column; no leading zeros
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,16})(\.0+)?")
# more true classes than these are none
_MOST_CLASSES = 200


class RowNumbers(Sequence[str | None]):
    """Numbers of rows, counted from 1, as text; made when they are asked for."""

    def __init__(self, rows: Sequence[int]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str | None]: ...
    def __getitem__(self, i: int | slice) -> str | list[str | None]:
        return [str(row + 1) for row in self._rows[i]] if isinstance(i, slice) else str(self._rows[i] + 1)


Carried = dict[str, Sequence[str | None]]


@dataclass(frozen=True)
class Unknown:
    """Rows to be named, and what their table says of them beside measurements."""

    rows: NDArray[Any]  # (n, p)
    columns: tuple[str, ...] | None  # (p,) None where the model knows no names
    carried: Carried  # ids first; columns that go through to the output
    source: str  # what the table is called
    truth: NDArray[Any] | None = None
    samples: Sequence[str | None] | None = None  # names of the samples that rows are of
    categories: tuple[Category, ...] = ()  # columns in which numbers stand for levels
    labels: Sequence[str | None] | None = None  # known classes of control samples

    @property
    def names(self) -> Sequence[str | None]:
        """Return what the rows are called: the id, or a number counted from 1."""
        return next(iter(self.carried.values()))


@dataclass(frozen=True)
class Material:
    """Labelled rows and unknown ones, with the same columns."""

    rows: NDArray[Any]  # (n, p) labelled
    labels: NDArray[Any]  # whole numbers or text
    unknown: Unknown
    notes: tuple[str, ...] = field(default=())  # what was left out, in sentences
    samples: Sequence[str | None] | None = None  # of the labelled rows


def read_material(train: str, test: str | None, roles: Roles, sheet: str | None = None) -> Material:
    """Return the rows of two tables, or of one in which unknown rows have no label; `sheet` is that of spreadsheets."""
    assert roles.label is not None
    if train == "-" and test == "-":
        raise TableError("both tables are standard input; give a file for one of them.")

    asked = roles.named if test is None else {roles.label, *roles.measure, *roles.category}
    known = open_tables(train, roles.all, sheet, asked)
    known.require(roles.label, "--label")
    other = known if test is None else open_tables(test, roles.all, sheet, _sought(known, roles))
    _require(known, other, roles)
    if min(known.rows, other.rows) == 0:
        raise TableError(f"{(known if known.rows == 0 else other).name} has no rows below its header.")

    labels = _labels(known, roles.label, alone=test is None)
    choice = choice_of(known, roles.all, other, roles.measure, roles.category)
    columns, names, notes = choice.columns, [*choice.columns, *choice.categories], choice.notes
    if not names:
        raise TableError(f"{known.name} has no column of numbers beside the label and what is left out.")
    left_out = {name for name in known.numeric - set(names) if not name.startswith(UNNAMED)}
    want_columns(other, names, f"which {known.name} has")
    truth = None if roles.truth is None else other.texts(roles.truth)
    given = np.array([label is not None for label in labels])

    # labelled rows first, in one array: no copy of them is made
    positions = np.where(given, np.cumsum(given) - 1, given.sum() + np.cumsum(~given) - 1)
    array = known.numbers(columns, None if given.all() else positions)
    categories = _categories(known, other, choice)
    array = with_levels(array, known, categories, names, None if given.all() else positions)
    rows, rest = array[: given.sum()], array[given.sum() :]

    if test is None:
        unknown = np.flatnonzero(~given).tolist()
        carried = _carried(other, roles, unknown, also=left_out)
        carried.pop(roles.label, None)
        truth = None if truth is None else [truth[i] for i in unknown]
    else:
        rest = with_levels(other.numbers(columns), other, categories, names)
        carried = _carried(other, roles, None, also=left_out)
        notes += _notes_on_two(known, other, roles, given, carried)

    true = None if truth is None or roles.truth is None else _complete(truth, roles.truth, other.name)
    named, truths = numbers_or_text([label for label in labels if label is not None], true)
    samples, others = _samples(known, roles, given), _samples(other, roles, ~given if test is None else None)
    return Material(
        rows,
        named,
        Unknown(rest, tuple(names), carried, other.name, truths, others, categories),
        (*notes, *_notes_on_case(named)),
        samples,
    )


def _sought(known: Frame, roles: Roles) -> set[str]:
    """Return the columns that a table of unknown rows has to have, and others that it may have."""
    named = {column for column in (roles.name, roles.truth) if column is not None}
    return named | known.numeric | {*roles.measure, *roles.category}


def _categories(known: Frame, other: Frame, choice: Choice) -> tuple[Category, ...]:
    """Return the columns of categories, which come after those of numbers, with the levels of both tables."""
    found = list[Category]()
    for place, name in enumerate(choice.categories, start=len(choice.columns)):
        levels = {*known.texts(name), *other.texts(name)} - {None}
        check_levels(f"column '{name}' of {known.name}", len(levels), known.rows)
        found.append(Category(place, tuple(sorted(level for level in levels if level is not None))))
    return tuple(found)


def with_levels(
    array: NDArray[Any],
    frame: Frame,
    categories: Sequence[Category],
    names: Sequence[str],
    positions: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return an array with the columns of categories, in which numbers stand for levels, each in its place."""
    for one in categories:
        column = numbers_of(frame.texts(names[one.column]), one.levels)
        if positions is not None:
            column[positions] = column.copy()
        array = np.insert(array, one.column, column, axis=1)
    return array


def _samples(frame: Frame, roles: Roles, chosen: BoolArray | None) -> Sequence[str | None] | None:
    """Return the samples that some rows of a table are of; None where the table does not tell."""
    if roles.replicate is None or roles.replicate not in frame.columns:
        return None
    return _some(frame.texts(roles.replicate), None if chosen is None else np.flatnonzero(chosen).tolist())


def labels_of(known: Frame, column: str) -> list[str | None]:
    """Return the labels of a table, None where a row has none; refuse a column that holds none."""
    labels = without_minus_one(known.texts(column))
    if not any(labels):
        raise TableError(
            f"column '{column}' of {known.name} has no label in any row; label some rows of each class you know."
        )
    return labels


def _labels(known: Frame, column: str, *, alone: bool) -> list[str | None]:
    """Return the labels of a table; refuse measurements, and a table without unknown rows that has no other beside."""
    labels = labels_of(known, column)
    if alone and all(labels):
        raise TableError(
            f"every row of {known.name} has a label; leave the label of unknown rows empty, or give a second table."
        )
    given = [label for label in labels if label is not None]
    check_labels(given, column, known.name)
    if all(map(is_number, given)) and not all(map(_WHOLE.fullmatch, given)) and len(set(given)) > len(given) / 2:
        raise TableError(f"column '{column}' of {known.name} (--label) holds measurements, not names of classes.")
    return labels


def check_labels(labels: list[str], column: str, table: str) -> None:
    """Refuse labels that no array or file can hold."""
    try:
        check_names(labels)
    except ValueError as error:
        raise TableError(f"column '{column}' of {table} (--label): {error}") from None


def _notes_on_two(known: Frame, other: Frame, roles: Roles, given: BoolArray, carried: Carried) -> list[str]:
    """Return what is to be said of two tables that are not quite alike."""
    notes = list[str]()
    if not given.all():
        notes.append(f"{(~given).sum():,} rows of {known.name} have no label and were left out.")
    if roles.label != roles.truth and any(carried.get(roles.label or "", [])):
        notes.append(f"{other.name} has labels too: --truth '{roles.label}' compares them with what is found.")
    there = set(known.columns)
    extra = [name for name in other.columns if name in other.numeric and name not in there]
    if extra:
        notes.append(f"columns that were not measured, because {known.name} does not have them: {listed(extra)}.")
    return notes


def _notes_on_case(labels: NDArray[Any]) -> list[str]:
    """Return which labels differ by upper and lower case only."""
    seen = dict[str, str]()
    alike = list[str]()
    for label in np.unique(labels).astype(str).tolist():
        first = seen.setdefault(label.casefold(), label)
        if first != label:
            alike.append(f"labels '{first}' and '{label}' differ by case only, and count as two classes.")
    return alike


def read_unknown(
    path: str,
    columns: tuple[str, ...] | None,
    count: int,
    roles: Roles,
    sheet: str | None = None,
    categories: tuple[Category, ...] = (),
) -> Unknown:
    """Return the rows of a table that has the columns of a model, and perhaps others.

    A model that was made from a table without names takes the columns of numbers in their order. `categories` are
    those of the model.
    """
    frame = open_tables(path, roles.all, sheet, roles.all | set(columns or ()))
    asked = (roles.label, "--label"), (roles.name, "--id"), *((name, "--ignore") for name in roles.ignore)
    for column, option in asked:
        if column is not None:
            frame.require(column, option)
    if frame.rows == 0:
        raise TableError(f"{frame.name} has no rows below its header.")

    if columns is None:
        if all(map(is_number, frame.columns)):
            raise TableError(
                f"the first line of {frame.name} holds numbers; the names of the columns are expected there."
            )
        chosen, _ = measured(frame, roles.all)
        if categories or len(chosen) != count:
            raise TableError(
                f"{frame.name} has {len(chosen)} columns of numbers; the model, made from a table without names, needs "
                f"{count}, in their order."
            )
    else:
        chosen = list(columns)
        want_columns(frame, chosen, "which the model was made with")
        needed = sorted(roles.all & set(chosen))
        if needed:
            raise TableError(
                f"column '{needed[0]}' is measured by the model, so it can't be left out or name the rows or classes."
            )

    coded = {chosen[one.column] for one in categories}
    numbers = [name for name in chosen if name not in coded]
    rows = frame.numbers(numbers, advice="make a model without the column: this one measures it")
    rows = with_levels(rows, frame, categories, chosen)
    labels = None if roles.label is None else without_minus_one(frame.texts(roles.label))
    carried = _carried(frame, roles, None, set(numbers))
    return Unknown(rows, columns, carried, frame.name, categories=categories, labels=labels)


def control_labels(unknown: Unknown, classes: NDArray[Any]) -> list[Any] | None:
    """Return the known class of each row of a batch, None of those that are no control samples; None if all are none.

    >>> batch = Unknown(np.zeros((2, 1)), None, {}, "week2.csv", labels=["oat", None])
    >>> control_labels(batch, np.array(["oat", "rye"]))
    ['oat', None]
    """
    if unknown.labels is None or not any(unknown.labels):
        return None
    whole = classes.dtype.kind == "i"
    named = {None: None} | {str(label): label for label in classes.tolist()}
    texts = [text.partition(".")[0] if whole and text and _WHOLE.fullmatch(text) else text for text in unknown.labels]
    for row, text in enumerate(texts, 1):
        if text not in named:
            raise TableError(
                f"row {row} of {unknown.source} has the label {brief(text)} (--label), which is no class of the model; "
                f"these are: {names_there(classes.tolist())}. Leave it empty where the row is no control sample."
            )
    return [named[text] for text in texts]


def _require(known: Frame, other: Frame, roles: Roles) -> None:
    if roles.name is not None and roles.name in (roles.label, roles.truth):
        raise TableError(f"column '{roles.name}' can't name the rows (--id) and hold their classes, too.")
    for column, option in ((roles.name, "--id"), (roles.truth, "--truth")):
        if column is not None:
            other.require(column, option)
    for column, option in (*((name, "--ignore") for name in roles.ignore), (roles.replicate, "--replicate")):
        if column is not None and column not in known.columns:
            other.require(column, option)
    if roles.replicate is not None and roles.replicate in (roles.label, roles.truth, roles.name):
        raise TableError(f"column '{roles.replicate}' can't name samples (--replicate) and mean something else, too.")
    for column, option in (
        *((name, "--measure") for name in roles.measure),
        *((n, "--category") for n in roles.category),
    ):
        known.require(column, option)
        if column in roles.all:
            raise TableError(f"column '{column}' can't be measured ({option}) and mean something else, too.")


def _carried(
    frame: Frame,
    roles: Roles,
    chosen: list[int] | None,
    taken: set[str] | None = None,
    also: Collection[str] = (),
) -> Carried:
    """Return the columns that go through to the output: the id, or numbers of rows; then all that are no numbers.

    `taken` are columns that do not, `also` numbers that do.
    """
    numbers, left_out = frame.numeric | set(frame.mixed), frame.empty | (taken or set())
    through = {*roles.all, *also}
    names = [name for name in frame.columns if name in through or name not in numbers]
    names = [name for name in names if name not in left_out and name != roles.name]
    counted = "row" if "row" not in frame.columns else "row number"
    carried: Carried = {counted: RowNumbers(range(frame.rows) if chosen is None else chosen)}
    if roles.name is not None:
        carried = {roles.name: _some(frame.texts(roles.name), chosen)}
    return carried | {name: _some(frame.texts(name), chosen) for name in names if name not in carried}


def _some(cells: list[str | None], chosen: list[int] | None) -> list[str | None]:
    return cells if chosen is None else [cells[i] for i in chosen]


def _complete(truth: list[str | None], column: str, table: str) -> list[str]:
    if None in truth:
        raise TableError(
            f"column '{column}' of {table} is empty in row {truth.index(None) + 1} of the unknown rows; --truth needs "
            "a class for each of them."
        )
    given = [value for value in truth if value is not None]
    if len(set(given)) > _MOST_CLASSES:
        raise TableError(
            f"column '{column}' of {table} (--truth) has {len(set(given)):,} different values: no classes."
        )
    return given


def numbers_or_text(labels: list[str], truth: list[str] | None) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return labels and truth as whole numbers if all of them are, else as text."""
    whole = all(map(_WHOLE.fullmatch, (*labels, *(truth or ()))))
    if not whole:
        return np.array(labels, dtype=np.str_), None if truth is None else np.array(truth, dtype=np.str_)
    numbers, truths = ([int(value.partition(".")[0]) for value in values] for values in (labels, truth or []))
    return np.array(numbers), None if truth is None else np.array(truths)


def without_minus_one(labels: list[str | None]) -> list[str | None]:
    """Return labels of which -1 is none, where all are whole numbers: as in scikit-learn and in `fit`."""
    whole = all(_WHOLE.fullmatch(label) for label in labels if label is not None)
    return [None if whole and label and label.partition(".")[0] == "-1" else label for label in labels]
