"""Columns of categories in files: which are, and what levels they have, in one pass over them."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from vbrand.io.tables.categories import MOST, Categories, Category, Wanted, are_few, check_levels, wanted_places
from vbrand.io.tables.columns import Choice, choice_of
from vbrand.io.tables.frames import Frame, TableError, arrow, few_texts
from vbrand.io.tables.ids import Reason

Levels = dict[str, tuple[str, ...]]


def choice_in(frame: Frame, roles: set[str], wanted: Wanted) -> tuple[list[str], Categories, list[str]]:
    """Return the columns of files that are measured, in their order, the categories among them, and notes."""
    named = (
        () if wanted is None or isinstance(wanted, str) else wanted_places(wanted, frame.columns, len(frame.columns))
    )
    choice = choice_of(frame, roles, named=[frame.columns[j] for j in named], hints=False)
    levels = named_levels(frame, choice.categories)
    if isinstance(wanted, str):
        levels = _few_levels(frame, [name for name, why in choice.left_out.items() if why == Reason.TEXT])
    names = [name for name in frame.columns if name in levels or name in choice.columns]
    if not names:
        raise TableError(f"{frame.name} has no column of numbers beside the label and what is left out.")
    left_out = {name: why for name, why in choice.left_out.items() if name not in levels}
    return names, placed(names, levels), Choice(choice.columns, left_out, choice.growing).notes


def named_levels(frame: Frame, columns: Collection[str]) -> Levels:
    """Return the levels of columns that the user calls categories; refuse those that have too many."""
    seen = _seen(frame, columns)
    for name, own in seen.items():
        check_levels(f"column '{name}' of {frame.name}", len(own), frame.rows)
    return {name: tuple(sorted(own)) for name, own in seen.items()}


def placed(names: Sequence[str], levels: Levels) -> Categories:
    """Return the categories among some columns, which have these levels."""
    return tuple(Category(place, levels[name]) for place, name in enumerate(names) if name in levels)


def levels_by_name(names: Sequence[str], categories: Categories) -> Levels:
    """Return the levels of those of some columns that are categories."""
    return {names[one.column]: one.levels for one in categories}


def _few_levels(frame: Frame, columns: Collection[str]) -> Levels:
    """Return the levels of those columns of no numbers that are categories, by their type or their levels."""
    typed, seen = {name for name in columns if _is_typed(frame, name)}, _seen(frame, columns)
    found = {name: own for name, own in seen.items() if name in typed or are_few(own, own.total())}
    for name, own in found.items():
        check_levels(f"column '{name}' of {frame.name}", len(own), frame.rows)
    return {name: tuple(sorted(own)) for name, own in found.items()}


def _seen(frame: Frame, columns: Collection[str]) -> dict[str, Counter[str]]:
    """Return how often each level of some columns is there; of those with too many levels not all are."""
    seen = {name: Counter[str]() for name in columns}
    for batch in frame.batches(list(columns)) if columns else ():
        for name, own in seen.items():
            if len(own) <= MOST:
                own.update(text for text in few_texts(batch.column(name)) if text is not None)
    return seen


def _is_typed(frame: Frame, name: str) -> bool:
    """Return whether a column is a category by its type."""
    types: Any = arrow().types
    kinds = [batch.column(name).type for batch, _ in zip(frame.batches([name]), range(1), strict=False)]
    return any(types.is_dictionary(kind) or types.is_boolean(kind) for kind in kinds)
