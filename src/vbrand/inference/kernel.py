"""Rows x scores -> statistics: the one hot place, and the only code that touches rows."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cache, reduce
from threading import local
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.gapped import GapScores, gap_scores, gap_work
from vbrand.inference.gaps import sweep_gaps
from vbrand.inference.rows import PerRow, Rows, Split
from vbrand.inference.slices import draw_block
from vbrand.inference.sweeps import (
    Block,
    Group,
    block_memory,
    filled_roots,
    group_memory,
    load_block,
    part_of,
    sweep_block,
)
from vbrand.inference.tally import tally
from vbrand.model.gaps import Spread, by_moments
from vbrand.model.levels import tally_levels
from vbrand.model.posterior import RowScores, Scores
from vbrand.model.statistics import Statistics
from vbrand.types import FloatArray, IntArray

# memory is made for a multiple of so many components: their number changes often
_ROOM = 16
# where sums alone are wanted
_NO_SQUARES = np.empty((0, 0, 0))
_ALL = slice(None)
Found = TypeVar("Found")
Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Sweep:
    """The statistics of all rows, and the component that won each."""

    statistics: Statistics
    winners: Any  # (n,) an array, or on disk as the rows are


def sweep(rows: Rows, scores: RowScores, winners: PerRow | None = None, threads: int = 1) -> Sweep:
    """Share the rows out among the components in proportion to exp(score), and add up (5.2) and (5.3).

    `winners` of an earlier sweep make it fast: a row is scored first where it was last. Without them the rows are swept
    twice, the first time to find out. The answer does not depend on the number of threads.
    """
    before: Any = sweep(rows, scores, rows.room(), threads).winners if winners is None else winners
    asked = {each.name: getattr(scores, each.name) for each in fields(scores)}
    if rows.journal is not None and (found := rows.journal.recall(asked)) is not None:
        arrays, path = found
        return Sweep(Statistics(**{**arrays, "evidence": float(arrays["evidence"])}), rows.table.held(path))
    after = rows.room()

    smallest = np.min_scalar_type(scores.constant.size)  # what travels to a cluster and back is a byte per row
    # rows with missing cells or columns of categories are swept patiently
    patient = gap_scores(scores) if rows.levels or rows.gapped else None
    splits = None if patient is None else rows.splits

    def given(piece: slice) -> tuple[Any, ...]:
        last = before[piece].astype(smallest)
        if patient is None:
            return scores, last
        held = None if splits is None else [splits[first] for first in range(piece.start, piece.stop, rows.block_rows)]
        return scores, last, patient, held

    def taken(piece: slice, found: Sweep) -> Statistics:
        after[piece] = found.winners
        return found.statistics

    total = _sum(each_piece(rows, _sweep_piece if patient is None else _sweep_patiently, given, taken, threads))
    if rows.journal is not None:
        kept = {each.name: getattr(total, each.name) for each in fields(total)}
        arrays = {name: np.asarray(value) for name, value in kept.items() if value is not None}
        rows.journal.note(asked, arrays, after, rows.pieces())
    return Sweep(total, after)


def each_piece(
    rows: Rows,
    work: Callable[..., Found],
    given: Callable[[slice], tuple[Any, ...]],
    taken: Callable[[slice, Found], Kept],
    threads: int = 1,
) -> list[Kept]:
    """Return what is kept of the work on each piece of the rows, in their order.

    `given` returns what the work on a piece gets beside its rows, `taken` what is kept of what the work returns.
    """
    done = list[int]()

    def keep(piece: slice, found: Found) -> Kept:
        kept = taken(piece, found)
        done.append(piece.stop - piece.start)
        rows.heard(sum(done))
        return kept

    def run(piece: slice) -> Kept:
        return keep(piece, work(rows.part(piece), *given(piece)))

    pieces = rows.pieces()
    rows.heard(0)
    if rows.elsewhere:  # the work goes to them
        return list(rows.table.each(work, rows, pieces, given, keep))
    return [run(piece) for piece in pieces] if threads == 1 else list(_pool(threads).map(run, pieces))


@dataclass(frozen=True)
class Slices:
    """Where each row may go in a sweep of the sampler: to all known components and to the first few novel ones."""

    known: int  # number of known components
    depths: IntArray  # (n,) number of novel ones
    uniforms: FloatArray  # (n,) the random numbers that choose


def draw(rows: Rows, scores: RowScores, labels: NDArray[np.int32], slices: Slices, threads: int = 1) -> Sweep:
    """Draw the component of each row, in proportion to exp(score) among those that its slice allows.

    `labels` are the components that they are in. The answer does not depend on the number of threads.
    """
    drawn = labels.copy()
    # in order of components, and within one deepest first; a row reaches at least the place that it is in
    beyond = (slices.depths - np.maximum(labels - slices.known + 1, 0)).astype(np.int32)
    levels = int(beyond.max(initial=0)) + 1
    keys = labels * np.int32(levels) + (levels - 1 - beyond)

    def given(piece: slice) -> tuple[Any, ...]:
        own = Slices(slices.known, slices.depths[piece], slices.uniforms[piece])
        return scores, keys[piece], levels, own, drawn[piece]

    parts = each_piece(rows, _draw_piece, given, lambda piece, found: found, threads)
    return Sweep(_sum(parts), drawn)


def _sum(parts: list[Statistics]) -> Statistics:
    """Return the statistics of all rows from those of pieces, added in order."""
    statistics = _pairwise(parts)
    # the loops fill lower triangles
    upper = np.tril(statistics.squares, -1).transpose(0, 2, 1)
    return replace(statistics, squares=statistics.squares + upper)


def statistics_of_labels(rows: Rows, component: NDArray[np.integer[Any]], components: int) -> Statistics:
    """Return the statistics of rows that belong to one component each, about the means of their rows.

    Missing cells count as the mean and variance of their component: for statistics to start from.
    """
    if rows.gapped:
        labels, own = component.astype(np.int64), rows.working(slice(None))
        own[:, : rows.columns], spread = by_moments(rows.numbers(slice(None)), labels, components)
        return statistics_of_labelings(Rows.plain(own, rows.levels), labels[None], np.array([0, components]), spread)
    return statistics_of_labelings(rows, component.astype(np.int64)[None], np.array([0, components]))


def statistics_of_labelings(
    rows: Rows, labelings: IntArray, ends: IntArray, spread: Spread | None = None
) -> Statistics:
    """Return the statistics of the pieces of several labelings, (m, n), about their means; each begins at `ends`.

    `spread` is that of cells that were missing and have been filled in.
    """
    count, p = int(ends[-1]), rows.columns
    pieces = labelings + ends[:-1, None]  # (m, n)
    counts = np.bincount(pieces.ravel(), minlength=count).astype(np.float64)
    means, sums, squares = np.zeros((count, p)), np.zeros((count, p)), np.zeros((count, p, p))
    held, nowhere, room = np.where(counts > 0.0, counts, 1.0), np.zeros((count, p)), _room_for_order(rows, count)
    for block in rows.blocks():
        added, of_block = np.zeros((count, p)), np.ascontiguousarray(labelings[:, block])
        tally(rows.numbers(block), of_block, ends, nowhere, added, _NO_SQUARES, *room)
        means += added / held[:, None]
    for block in rows.blocks():
        tally(rows.numbers(block), np.ascontiguousarray(labelings[:, block]), ends, means, sums, squares, *room)
    if spread is not None:
        for own, first, last in zip(labelings, ends[:-1], ends[1:], strict=True):
            # (5.24)  C of each row, in the piece that it is in
            at = own[spread.row] * p * p + spread.cell
            squares[first:last] += np.bincount(at, spread.value, (last - first) * p * p).reshape(-1, p, p)
    return Statistics(counts, counts, means, sums, squares, 0.0, _levels_of_labelings(rows, pieces, count))


def _room_for_order(rows: Rows, pieces: int) -> tuple[IntArray, IntArray]:
    return np.empty(next(rows.blocks()).stop, np.int64), np.empty(pieces + 1, np.int64)


def _levels_of_labelings(rows: Rows, pieces: IntArray, count: int) -> FloatArray | None:
    """Return how often each of so many pieces of several labelings, (m, n), has each level; None without categories."""
    if not rows.levels:
        return None
    codes, levels = rows.codes(slice(None)), sum(rows.levels)
    return np.asarray(sum(tally_levels(codes, labels, count, levels) for labels in pieces))


def _scoring(scores: RowScores) -> Scores:
    """Return the scores as the compiled loops want them."""
    root = filled_roots(scores.root)
    return Scores(scores.centre, root, scores.constant, scores.kind, scores.tail, scores.power)


def _nothing(scores: RowScores) -> Statistics:
    """Return the statistics of no rows, to be added to in place."""
    components, p = scores.centre.shape
    counts, weights = np.zeros((2, components))
    return Statistics(
        counts, weights, scores.centre, np.zeros((components, p)), np.zeros((components, p, p)), evidence=0.0
    )


def _sweep_piece(rows: Rows, scores: RowScores, before: IntArray) -> Sweep:
    """Return the statistics of some rows, lower triangles of squares, and the components that won them."""
    found, scoring, winners = _nothing(scores), _scoring(scores), before.astype(np.int32)
    adding = (found.counts, found.weights, found.sums, found.squares, scores.kind)
    block, group = _memory_of_this_thread(scores, rows)
    evidence = 0.0
    for part in rows.blocks():
        _load(rows, rows.table[part], winners[part], block)
        evidence += sweep_block(block, group, scoring, winners[part], adding)
    return Sweep(replace(found, evidence=evidence), winners.astype(before.dtype))


def _sweep_patiently(
    rows: Rows, scores: RowScores, before: IntArray, at: GapScores, splits: list[Split] | None
) -> Sweep:
    """Return the same of rows that may have missing cells or categories; `splits` are those of blocks, if known.

    Complete rows are swept as ever; rows without any cell stay where they are.
    """
    found, scoring, winners = _nothing(scores), _scoring(scores), before.astype(np.int32)
    adding = (found.counts, found.weights, found.sums, found.squares)
    block, group = _memory_of_this_thread(scores, rows)
    seen, work, evidence = np.zeros_like(at.levels), gap_work(*scores.centre.shape), 0.0
    for number, part in enumerate(rows.blocks()):
        split, here = rows.some(part).by_gaps() if splits is None else splits[number], winners[part]
        if len(split.complete_rows):
            own = here[split.complete]
            _load(rows, split.complete_rows.table, own, block)
            evidence += sweep_block(block, group, scoring, own, (*adding, scores.kind))
            here[split.complete] = own
        if len(rest := split.other_rows):
            own = here[split.others]
            evidence += sweep_gaps(rest.numbers(_ALL), rest.codes(_ALL), at, own, (*adding, seen), work)
            here[split.others] = own
    levels = None if scores.levels is None else seen[:, :-1]
    return Sweep(replace(found, evidence=evidence, levels=levels), winners.astype(before.dtype))


def _draw_piece(
    rows: Rows, scores: RowScores, keys: NDArray[np.int32], levels: int, slices: Slices, labels: NDArray[np.int32]
) -> Statistics:
    """Draw the components of some rows, in place, and return their statistics."""
    found, scoring, known = _nothing(scores), _scoring(scores), slices.known
    adding = (found.counts, found.weights, found.sums, found.squares, scores.kind)
    block, group = _memory_of_this_thread(scores, rows)
    block = block._replace(first=np.empty(len(scores.centre) * levels + 1, np.int64))
    for part in rows.blocks():
        _load(rows, rows.table[part], keys[part], block)
        depths, uniforms = slices.depths[part], slices.uniforms[part]
        draw_block(block, group, scoring, known, depths, levels, uniforms, labels[part], adding)
    return found


def _load(rows: Rows, table: NDArray[Any], keys: NDArray[np.int32], block: Block) -> None:
    """Load a block of rows, or some of one, in order of their keys."""
    load_block(table, 0, keys.size, keys, rows.centre, rows.multiplier, rows.farthest, *block)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


_of_this_thread = local()


def _memory_of_this_thread(scores: RowScores, rows: Rows) -> tuple[Block, Group]:
    """Return the memory that the present thread used last, if it fits: fresh memory is slow memory."""
    components, p = scores.centre.shape
    room, size = -(-components // _ROOM) * _ROOM, next(rows.blocks()).stop
    last = getattr(_of_this_thread, "shape", (0, 0, 0))
    if last[:2] != (room, p) or last[2] < size:
        _of_this_thread.block, _of_this_thread.group = block_memory(room, p, size), group_memory(room, p)
        _of_this_thread.shape = (room, p, size)
    return part_of(_of_this_thread.block, _of_this_thread.group, components)


def _pairwise(parts: list[Statistics]) -> Statistics:
    """Return the sum of the parts, neighbours first."""
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [reduce(Statistics.__add__, pair) for pair in pairs]
    return parts[0]
