"""What is to be said beside an answer: what it may rest on that tells nothing of novelty.

A column that is the same in all labelled rows can't be measured; one in which no row lies among the labelled ones may
tell when or in which units rows were measured, not what they are; and labelled rows of a class that has moved are no
fair sample of it, so that the check against them says too little.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vbrand.discovery.context import Context
from vbrand.discovery.memberships import memberships
from vbrand.estimators.fitted import Finding, Learned
from vbrand.facts.groups import plural
from vbrand.inference.batches import Further
from vbrand.inference.rows import Rows
from vbrand.io.tables.validated import Columns
from vbrand.samples import every_kth, parts_of
from vbrand.stage1.passage import Passage
from vbrand.trust.company import company
from vbrand.trust.drift import Batch, Drift, drifts
from vbrand.trust.meaning import Memberships
from vbrand.types import BoolArray, FloatArray, IntArray

# labelled rows, and others: fewer may well miss each other by chance
_LABELLED, _OTHERS = 10, 5
_NAMED = 5
# standard deviations; of 240 tables from real sets that were labelled by lot the most was 3.6; samples of two rows give
# 4.9, of three 11
_IN_COMPANY = 4.5
_TOGETHER = (
    "labelled rows lie beside each other more often than chance puts them there. If several rows are of one sample (a "
    "patient, a field), name the samples (groups=, --replicate COLUMN): else known rows are called novel, and the "
    "check can't tell."
)
# rows of a discovery that are compared with labelled ones: what only more of them would show is small
_ASKED = 5_000
# of tables
_BY_CHANCE = 1e-3


def ranges_of(labelled: FloatArray) -> FloatArray:
    """Return the smallest and the largest value of each column, and how many cells it has, (3, p); NaN of none.

    >>> ranges_of(np.array([[1.0, np.nan], [3.0, np.nan]])).tolist()
    [[1.0, nan], [3.0, nan], [2.0, 0.0]]
    """
    cells = (~np.isnan(labelled)).sum(axis=0).astype(np.float64)
    low = np.where(np.isnan(labelled), np.inf, labelled).min(axis=0)
    high = np.where(np.isnan(labelled), -np.inf, labelled).max(axis=0)
    return np.stack([np.where(cells > 0.0, low, np.nan), np.where(cells > 0.0, high, np.nan), cells])


def on_columns(table: Any, passage: Passage, ranges: FloatArray | None) -> tuple[str, ...]:
    """Return what is to be said beside an answer, which may rest on such columns.

    Of rows not in memory nothing is said of columns of numbers, which all rows would have to be read for.
    """
    if ranges is None:
        return ()
    columns = Columns(passage.kept.size, passage.names)
    new_levels = _new_levels(table, ranges, columns, passage)
    if not isinstance(table, np.ndarray):
        return new_levels
    inside, cells, low, high = _counted(table, ranges)
    return (
        *_not_measured(cells - inside, cells, ranges, columns, ~passage.used),
        *new_levels,
        *_elsewhere(inside, cells, np.stack([low, high]), ranges, columns, passage.kept),
    )


def beside_some(context: Context, learned: Learned, rows: Rows, further: Further, finding: Finding) -> Context:
    """Return the context of a discovery with what some of its rows say of its labelled rows.

    Of a wide table nothing is compared: its components are those of the labelled rows, and fit them better than others.
    """
    if learned.witnesses is None:
        return context
    some = Rows.plain(rows.working(every_kth(len(rows), _ASKED)), rows.levels)
    if company(learned.witnesses.rows[:, : rows.columns], some.table[:, : rows.columns]) > _IN_COMPANY:
        context = replace(context, cautions=(*context.cautions, _TOGETHER))
    if learned.passage.reduction is not None:
        return context
    parts = [part for _, part in memberships(some, finding)]
    return beside(context, learned, some, parts, further, None, 1, finding.prior.known)


def beside(
    context: Context,
    learned: Learned,
    rows: Rows,
    parts: Sequence[Memberships],
    further: Further,
    member: IntArray | None,
    batch: int,
    known: int,
) -> Context:
    """Return the context with what rows of a batch say of known classes that have moved, and of control samples.

    `parts` are those rows, which come first, and maybe others; `member` is the class of rows of the batch, -1 where it
    is not known; `known` are the components of stage 1.
    """
    members = np.full(len(rows), -1) if member is None else member
    novel = np.concatenate([part.is_novel(context.threshold) for part in parts])[: len(rows)]
    moved: tuple[Drift, ...] = ()
    if learned.witnesses is not None:
        held = np.concatenate([np.exp(part.known) for part in parts])[: len(rows)].sum(axis=0)
        those = Batch(batch, rows.working(slice(None)), members, held)
        moved = drifts(those, learned.witnesses, further.found.best.posterior, further.prior.class_of[:known])
    told = _on_classes(learned, moved, members, novel)
    return replace(context, drifts=moved, cautions=(*context.cautions, *told))


def _on_classes(learned: Learned, moved: tuple[Drift, ...], member: IntArray, novel: BoolArray) -> list[str]:
    """Return what is to be said where labelled rows are no fair sample of their classes.

    `member` are the classes of control samples, -1 for all other rows, and `novel` says which rows are called novel.
    """
    told = list[str]()
    if moved and novel.any():
        told.append("where a class has moved, more rows called novel may be known than the check says.")
    for j in np.unique(member[(member >= 0) & novel]).tolist():
        own = member == j
        several = plural(int(own.sum()), "control sample", "control samples")
        told.append(
            f"{int(novel[own].sum()):,} of {several} of {learned.classes[j]!s} are called novel: so may other rows be."
        )
    return told


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


def _not_measured(
    outside: FloatArray, cells: FloatArray, ranges: FloatArray, columns: Columns, aside: BoolArray
) -> list[str]:
    """Return which columns that are the same in all labelled rows differ in others."""
    found = np.flatnonzero(aside & _beyond_chance(outside, cells, ranges))
    if not found.size:
        return []
    told = [
        f"{columns.called(j)} ({f'{ranges[0, j]:.6g} in' if ranges[2, j] else 'empty in'} all labelled rows, something "
        f"else in {plural(int(outside[j]), 'row', 'rows')})"
        for j in found.tolist()
    ]
    return [f"not measured, for labelled rows do not differ there, but others do: {_listed(told)}. Look at them."]


def _new_levels(table: Any, ranges: FloatArray, columns: Columns, passage: Passage) -> tuple[str, ...]:
    """Return which categories have levels that no labelled row has, whose numbers come after those of the others."""
    if not passage.categories:
        return ()
    inside, cells, _, _ = _counted(np.asarray(table[every_kth(table.shape[0], _ASKED)]), ranges)
    category = passage.used & ~passage.kept
    found = np.flatnonzero(category & _beyond_chance(cells - inside, cells, ranges))
    if not found.size:
        return ()
    share = 1.0 - inside / np.maximum(cells, 1.0)
    told = _listed([f"{columns.called(j)} in {share[j]:.1%} of the rows" for j in found.tolist()])
    return (f"levels that no labelled row has: {told}. Look at them.",)


def _listed(told: list[str]) -> str:
    """Return the first of what is told of columns, and how many more there are."""
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    return f"{', '.join(told[:_NAMED])}{more}"


def _beyond_chance(outside: FloatArray, cells: FloatArray, ranges: FloatArray) -> BoolArray:
    """Return in which columns more cells are unlike all labelled ones than chance makes, (p,)."""
    # were as many among labelled rows, none of these would differ once in a thousand tables
    chance = np.log(1.0 / _BY_CHANCE) / max(float(ranges[2].max()), 1.0)
    return np.asarray(outside > chance * cells.max())


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
        for j in found.tolist()
    ]
    return [
        f"no row lies among the labelled ones in {_listed(told)}. If that tells when, where or how rows were "
        "measured, and not what they are, leave it out."
    ]
