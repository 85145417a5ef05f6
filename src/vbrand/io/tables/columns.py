"""Which columns of a table are measured, and what is to be said of those that are not."""

from collections.abc import Collection
from dataclasses import dataclass

from vbrand.io.tables.frames import Frame, TableError, listed
from vbrand.io.tables.ids import Reason, holds_dates, id_columns


@dataclass(frozen=True)
class Choice:
    """The columns that are measured, and why the others are not."""

    columns: list[str]
    left_out: dict[str, Reason]
    growing: list[str]  # measured, but whole numbers that only grow from row to row

    @property
    def notes(self) -> list[str]:
        """Return what is to be said of it, in sentences."""
        notes = list[str]()
        for reason in Reason:
            names = [name for name, why in self.left_out.items() if why == reason]
            if names:
                after_all = f" (--measure '{names[0]}' measures it all the same)" if reason == Reason.NAMES else ""
                notes.append(f"columns that were not measured, because {reason}: {listed(names)}{after_all}.")
        if self.growing:
            notes.append(
                f"{listed(self.growing)}: whole numbers that only grow from row to row. If they are names of rows, say "
                f"so: --id '{self.growing[0]}'."
            )
        return notes


def chosen(known: Frame, roles: set[str], other: Frame | None = None, wanted: Collection[str] = ()) -> Choice:
    """Return which columns of a table of known rows are measured; `other` is the table of unknown ones.

    `roles` are columns that mean something else, `wanted` those that are to be measured whatever they look like.
    """
    others = [name for name in known.columns if name not in roles]
    columns = [name for name in others if name in known.numeric or name in known.mixed or name in wanted]
    told_apart = {*columns, *known.empty}
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
    return Choice([name for name in columns if name not in ids], left_out | ids, growing)


def measured(
    known: Frame, roles: set[str], other: Frame | None = None, wanted: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the columns that are measured, and notes on what was left out or looks as if it should be."""
    choice = chosen(known, roles, other, wanted)
    if not choice.columns:
        raise TableError(f"{known.name} has no column of numbers beside the label and what is left out.")
    return choice.columns, choice.notes


def want_columns(frame: Frame, columns: list[str], who: str) -> None:
    """Refuse a table that lacks columns."""
    there = set(frame.columns)
    missing = [name for name in columns if name not in there]
    if missing:
        raise TableError(
            f"{frame.name} has no column {listed(missing)}, {who}. Columns are matched by name, in any order."
        )
