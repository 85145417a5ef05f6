"""Columns in which unlabelled rows lie where no labelled row does: what is to be said of them.

A column that is the same in all labelled rows can't be measured; and one in which no row lies among the labelled ones
may tell when or in which units rows were measured, not what they are.
"""

from typing import Any

import numpy as np

from vbrand.facts.groups import plural
from vbrand.io.tables.validated import Columns
from vbrand.samples import parts_of
from vbrand.stage1.passage import Passage
from vbrand.types import BoolArray, FloatArray

# labelled rows, and others: fewer may well miss each other by chance
_LABELLED, _OTHERS = 10, 5
_NAMED = 5


def ranges_of(labelled: FloatArray) -> FloatArray:
    """Return the smallest and the largest value of each column, and how many cells it has, (3, p); NaN of none.

    >>> ranges_of(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [[1.0, nan], [3.0, nan], [2.0, 0.0]]
    """
    cells = (~np.isnan(labelled)).sum(axis=0).astype(np.float64)
    low = np.where(np.isnan(labelled), np.inf, labelled).min(axis=0)
    high = np.where(np.isnan(labelled), -np.inf, labelled).max(axis=0)
    return np.stack([np.where(cells > 0.0, low, np.nan), np.where(cells > 0.0, high, np.nan), cells])


def cautions_on(table: Any, passage: Passage, ranges: FloatArray | None) -> tuple[str, ...]:
    """Return what is to be said beside an answer, which may rest on such columns; nothing of rows not in memory."""
    if ranges is None or not isinstance(table, np.ndarray):
        return ()
    inside, cells, low, high = _counted(table, ranges)
    columns = Columns(passage.kept.size, passage.names)
    numbers = passage.kept | ~passage.used
    return (
        *_not_measured(cells - inside, ranges, columns, numbers & ~passage.kept),
        *_elsewhere(inside, cells, np.stack([low, high]), ranges, columns, passage.kept),
    )


def _counted(table: FloatArray, ranges: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the cells of each column within the range of the labelled rows, all cells, and their own range, (p,)."""
    inside, cells = (np.zeros(table.shape[1]) for _ in range(2))
    low, high = np.full(table.shape[1], np.inf), np.full(table.shape[1], -np.inf)
    for block in parts_of(table):
        part = table[block]
        there = ~np.isnan(part)
        inside += ((part >= ranges[0]) & (part <= ranges[1])).sum(axis=0)
        cells += there.sum(axis=0)
        low = np.minimum(low, np.where(there, part, np.inf).min(axis=0))
        high = np.maximum(high, np.where(there, part, -np.inf).max(axis=0))
    return inside, cells, low, high


def _not_measured(outside: FloatArray, ranges: FloatArray, columns: Columns, aside: BoolArray) -> list[str]:
    """Return which columns that are the same in all labelled rows differ in others."""
    found = np.flatnonzero(aside & (outside > 0.0))
    if not found.size:
        return []
    told = [
        f"{columns.called(j)} ({f'{ranges[0, j]:.6g} in' if ranges[2, j] else 'empty in'} all labelled rows, something "
        f"else in {plural(int(outside[j]), 'row', 'rows')})"
        for j in found[:_NAMED].tolist()
    ]
    more = f" and {found.size - _NAMED} more" if found.size > _NAMED else ""
    return [
        f"not measured, for labelled rows do not differ there, but others do: {', '.join(told)}{more}. Look at them."
    ]


def _elsewhere(
    inside: FloatArray, cells: FloatArray, own: FloatArray, ranges: FloatArray, columns: Columns, kept: BoolArray
) -> list[str]:
    """Return in which measured columns no row lies among the labelled ones."""
    asked = kept & (cells >= _OTHERS) & (ranges[2] >= _LABELLED)
    found = np.flatnonzero(asked & (inside == 0.0))
    if not found.size:
        return []
    if found.size > 1 and 2 * found.size > asked.sum():
        return [
            f"in {found.size:,} of {asked.sum():,} columns no row lies among the labelled ones: were both measured in "
            "the same units, in the same way?"
        ]
    told = [
        f"{columns.called(j)} ({own[0, j]:.6g} to {own[1, j]:.6g}, labelled rows {ranges[0, j]:.6g} to "
        f"{ranges[1, j]:.6g})"
        for j in found[:_NAMED].tolist()
    ]
    more = f" and {found.size - _NAMED} more" if found.size > _NAMED else ""
    return [
        f"no row lies among the labelled ones in {', '.join(told)}{more}. If that tells when, where or how rows were "
        "measured, and not what they are, leave it out."
    ]
