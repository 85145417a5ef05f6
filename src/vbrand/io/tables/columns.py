"""Which columns of a table are measured, and what is to be said of those that are not."""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from vbrand.io.tables.categories import few_levels
from vbrand.io.tables.frames import UNNAMED, Frame, TableError, listed
from vbrand.io.tables.ids import Reason, holds_dates, id_columns

# whole numbers of so few different values, each in so many rows, may be codes
_FEW_CODES, _ROWS_PER_CODE = 6, 20
_ROWS_LOOKED_AT = 10_000


@dataclass(frozen=True)
class Choice:
    """The columns that are measured, and why the others are not."""

    columns: list[str]
    left_out: dict[str, Reason]
    growing: list[str]  # measured, but whole numbers that only grow from row to row
    categories: list[str] = field(default_factory=list)  # measured by their levels
    codes: list[str] = field(default_factory=list)  # measured as numbers, but of so few that they may be codes
    offered: list[str] = field(default_factory=list)  # text of few levels, not measured but that it could be

    @property
    def notes(self) -> list[str]:
        """Return what is to be said of it, in sentences."""
        notes = list[str]()
        for reason in Reason:
            names = [name for name, why in self.left_out.items() if why == reason]
            if names:
                after_all = f" (--measure '{names[0]}' measures it all the same)" if reason == Reason.NAMES else ""
                if reason == Reason.TEXT and self.offered:
                    after_all = f" (--category '{self.offered[0]}' measures it by its levels)"
                notes.append(f"columns that were not measured, because {reason}: {listed(names)}{after_all}.")
        if self.categories:
            notes.append(f"columns of categories: {listed(self.categories)}.")
        if self.codes:
            notes.append(
                f"{listed(self.codes)}: few whole numbers, measured as numbers. If they are codes, say so: --category "
                f"'{self.codes[0]}'."
            )
        if self.growing:
            notes.append(
                f"{listed(self.growing)}: whole numbers that only grow from row to row. If they are names of rows, say "
                f"so: --id '{self.growing[0]}'."
            )
        return notes


def choice_of(
    known: Frame,
    roles: set[str],
    other: Frame | None = None,
    wanted: Collection[str] = (),
    named: Collection[str] = (),
    hints: bool = True,
) -> Choice:
    """Return which columns of a table of known rows are measured; `other` is the table of unknown ones.

    `roles` are columns that mean something else, `wanted` those that are to be measured whatever they look like;
    `named` those that are categories. `hints` on what else might be one want columns of text to be read as a whole.
    """
    others = [name for name in known.columns if name not in roles]
    categories = [name for name in others if name in named]
    columns = [name for name in others if name in known.numeric or name in known.mixed or name in wanted]
    columns = [name for name in columns if name not in categories]
    told_apart = {*columns, *known.empty, *categories}
    left_out = {
        name: Reason.DATES if holds_dates(known, name) else Reason.TEXT for name in others if name not in told_apart
    }
    left_out |= {name: Reason.EMPTY for name in others if name in known.empty}

    suspects = [name for name in columns if name not in known.mixed and name not in wanted]
    frames = [known] if other is None or other is known else [known, other]
    ids = id_columns(frames, suspects)
    if len(ids) == len(columns):
        ids = {}
    growing = [name for name in known.growing(suspects) if name not in ids]
    columns = [name for name in columns if name not in ids]
    if not hints:
        return Choice(columns, left_out | ids, growing, categories)
    looked_at = set(suspects)
    codes = [name for name in columns if name in looked_at and _may_be_codes(known, name)]
    texts = [name for name, reason in left_out.items() if reason == Reason.TEXT]
    offered = [name for name in texts if _may_be_category(known, other, name)]
    return Choice(columns, left_out | ids, growing, categories, codes, offered)


def _may_be_category(known: Frame, other: Frame | None, name: str) -> bool:
    """Return whether a column of text has few levels, and both tables have it."""
    if other is not None and name not in other.columns:
        return False
    texts = known.texts(name)
    return few_levels(texts) and len({*texts} - {None}) > 1


def _may_be_codes(known: Frame, name: str) -> bool:
    """Return whether a column of numbers holds few whole ones, each many times."""
    values = known.values(name, _ROWS_LOOKED_AT)
    values = values[~np.isnan(values)]
    levels = np.unique(values)
    return bool(
        2 < levels.size <= _FEW_CODES and values.size >= _ROWS_PER_CODE * levels.size and (levels % 1.0 == 0.0).all()
    )


def measured(
    known: Frame, roles: set[str], other: Frame | None = None, wanted: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the columns that are measured, and notes on what was left out or looks as if it should be."""
    choice = choice_of(known, roles, other, wanted, hints=False)
    if not choice.columns:
        raise TableError(f"{known.name} has no column of numbers beside the label and what is left out.")
    return choice.columns, choice.notes


def want_columns(frame: Frame, columns: list[str], who: str) -> None:
    """Refuse a table that lacks columns."""
    there = set(frame.columns)
    missing = [name for name in columns if name not in there]
    if missing:
        raise TableError(
            f"{frame.name} has no column {listed(missing)}, {who}. Columns are matched by name, in any order. "
            f"Its columns are: {listed(frame.columns)}.{_on_title(frame)}{frame.elsewhere}"
        )


def _on_title(frame: Frame) -> str:
    """Return what to do about a table whose first line names hardly any column: it is a title."""
    unnamed = sum(name.startswith(UNNAMED) for name in frame.columns)
    return " Delete what stands above the line with the names." if 2 * unnamed > len(frame.columns) else ""
