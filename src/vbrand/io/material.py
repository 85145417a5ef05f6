"""Known and unknown rows from tables: which columns are measured, which are carried through, which rows are unknown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from vbrand.io.formats import open_table
from vbrand.io.frames import Frame, TableError

_NAMES_SHOWN = 5


@dataclass(frozen=True)
class Roles:
    """What columns mean."""

    label: str | None = None
    name: str | None = None  # the id of a row
    truth: str | None = None
    ignore: tuple[str, ...] = ()

    @property
    def all(self) -> set[str]:
        """Return the columns that are not measured."""
        return {column for column in (self.label, self.name, self.truth) if column is not None} | set(self.ignore)


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
    truth: NDArray[Any] | None = None

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


def read_material(train: str, test: str | None, roles: Roles) -> Material:
    """Return the rows of two tables, or of one in which unknown rows have no label."""
    assert roles.label is not None
    if train == "-" and test == "-":
        raise TableError("both tables are standard input; give a file for one of them.")
    known = open_table(train, roles.all)
    known.require(roles.label, "--label")
    other = known if test is None else open_table(test, roles.all)
    _require(known, other, roles)
    if min(known.rows, other.rows) == 0:
        raise TableError(f"{(known if known.rows == 0 else other).name} has no rows below its header.")
    labels = _without_minus_one(known.texts(roles.label))
    given = np.array([label is not None for label in labels])
    if not given.any():
        raise TableError(
            f"column '{roles.label}' of {known.name} has no label in any row; label some rows of each class you know."
        )
    if test is None and given.all():
        raise TableError(
            f"every row of {known.name} has a label; leave the label of unknown rows empty, or give a second table."
        )
    columns, notes = _measured(known, roles)
    truth = None if roles.truth is None else other.texts(roles.truth)
    # labelled rows first, in one array: no copy of them is made
    places = np.where(given, np.cumsum(given) - 1, given.sum() + np.cumsum(~given) - 1)
    _want_columns(other, columns, f"which {known.name} has")
    array = known.numbers(columns, None if given.all() else places)
    rows, rest = array[: given.sum()], array[given.sum() :]
    if test is None:
        carried = _carried(other, roles, [i for i, label in enumerate(labels) if label is None])
        carried.pop(roles.label, None)
        truth = None if truth is None else [value for value, label in zip(truth, labels, strict=True) if label is None]
    else:
        rest = other.numbers(columns)
        carried = _carried(other, roles, None)
        if not given.all():
            notes.append(f"{(~given).sum():,} rows of {known.name} have no label and were left out.")
        if roles.label in other.columns and roles.label != roles.truth and any(carried.get(roles.label, [])):
            notes.append(f"{other.name} has labels too: --truth '{roles.label}' compares them with what is found.")
    true = None if truth is None or roles.truth is None else _complete(truth, roles.truth, other.name)
    named, truths = _numbers_or_text([label for label in labels if label is not None], true)
    return Material(rows, named, Unknown(rest, tuple(columns), carried, truths), tuple(notes))


def read_unknown(path: str, columns: tuple[str, ...] | None, count: int, roles: Roles) -> Unknown:
    """Return the rows of a table that has the columns of a model, and perhaps others.

    A model that was made from a table without names takes the columns of numbers in their order.
    """
    frame = open_table(path, roles.all)
    for column, option in ((roles.name, "--id"), *((name, "--ignore") for name in roles.ignore)):
        if column is not None:
            frame.require(column, option)
    if frame.rows == 0:
        raise TableError(f"{frame.name} has no rows below its header.")
    if columns is None:
        chosen, _ = _measured(frame, roles)
        if len(chosen) != count:
            raise TableError(
                f"{frame.name} has {len(chosen)} columns of numbers; the model, made from a table without names, needs "
                f"{count}, in their order."
            )
    else:
        chosen = list(columns)
        _want_columns(frame, chosen, "which the model was made with")
    return Unknown(frame.numbers(chosen), columns, _carried(frame, roles, None, set(chosen)))


def _require(known: Frame, other: Frame, roles: Roles) -> None:
    for column, option in ((roles.name, "--id"), (roles.truth, "--truth")):
        if column is not None:
            other.require(column, option)
    for column in roles.ignore:
        if column not in known.columns:
            other.require(column, "--ignore")


def _measured(known: Frame, roles: Roles) -> tuple[list[str], list[str]]:
    """Return the columns that are measured, and what was left out."""
    notes = list[str]()
    empty = [name for name in known.columns if name in known.empty and name not in roles.all]
    if empty:
        notes.append(f"left out, because empty: {_listed(empty)}.")
    columns = [name for name in known.columns if name not in roles.all and name in known.numeric | set(known.mixed)]
    counters = known.counts_rows([name for name in columns if name not in known.mixed])
    if counters and len(columns) > len(counters):
        notes.append(f"left out, because it only counts the rows: {_listed(counters)}.")
        columns = [name for name in columns if name not in counters]
    if not columns:
        raise TableError(f"{known.name} has no column of numbers beside the label and what is left out.")
    return columns, notes


def _want_columns(frame: Frame, columns: list[str], who: str) -> None:
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise TableError(
            f"{frame.name} has no column {_listed(missing)}, {who}. Columns are matched by name, in any order."
        )


def _carried(frame: Frame, roles: Roles, chosen: list[int] | None, measured: set[str] | None = None) -> Carried:
    """Return the columns that go through to the output: the id, or numbers of rows; then all that are no numbers."""
    names = [name for name in frame.columns if name in roles.all or name not in frame.numeric | set(frame.mixed)]
    names = [name for name in names if name not in frame.empty | (measured or set()) and name != roles.name]
    carried: Carried = {"row": RowNumbers(range(frame.rows) if chosen is None else chosen)}
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
    return [value for value in truth if value is not None]


def _numbers_or_text(labels: list[str], truth: list[str] | None) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return labels and truth as whole numbers if all of them are, else as text."""
    whole = all(_is_whole(value) for value in (*labels, *(truth or ())))
    kind = np.int64 if whole else np.str_
    return np.array(labels, dtype=kind), None if truth is None else np.array(truth, dtype=kind)


def _without_minus_one(labels: list[str | None]) -> list[str | None]:
    """Return labels of which -1 is none, where all are whole numbers: as in scikit-learn and in `fit`."""
    whole = all(_is_whole(label) for label in labels if label is not None)
    return [None if whole and label == "-1" else label for label in labels]


def _is_whole(text: str) -> bool:
    return text.lstrip("-").isascii() and text.lstrip("-").isdigit() and len(text) < 18 and str(int(text)) == text


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_NAMES_SHOWN])
    return shown if len(names) <= _NAMES_SHOWN else f"{shown} and {len(names) - _NAMES_SHOWN} more"
