"""Rows x scores -> statistics: the one hot place, and the only code that touches rows."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from itertools import pairwise
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.gaps import GapScores, gap_scores, gap_work, sweep_gaps
from vbrand.inference.rows import BLOCK_NUMBERS, Gaps, Rows
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
from vbrand.model.posterior import RowScores, Scores
from vbrand.model.statistics import Statistics
from vbrand.types import FloatArray, IntArray

# rows are cut into at most this many pieces (four times as many where statistics are small), whatever the number of
# threads, and their statistics added in order
_PIECES = 16
# memory is made for a multiple of so many components: their number changes often
_ROOM = 16


@dataclass(frozen=True)
class Sweep:
    """The statistics of all rows, and the component that won each."""

    statistics: Statistics
    winners: NDArray[np.int32]  # (n,)


def sweep(rows: Rows, scores: RowScores, winners: NDArray[np.int32] | None = None, threads: int = 1) -> Sweep:
    """Share the rows out among the components in proportion to exp(score), and add up (5.2) and (5.3).

    `winners` of an earlier sweep make it fast: a row is scored first where it was last. Without them the rows are swept
    twice, the first time to find out. The answer does not depend on the number of threads.
    """
    if winners is None:
        guess = np.zeros(len(rows), np.int32)
        winners = sweep(rows, scores, guess, threads).winners
    winners = winners.copy()
    if rows.gaps is not None:
        return _sweep_both(rows.gaps, scores, winners, threads)
    return Sweep(
        _summed(rows, scores, partial(_sweep_piece, rows, scores, _scoring(scores), winners), threads), winners
    )


def _sweep_both(gaps: Gaps, scores: RowScores, winners: NDArray[np.int32], threads: int) -> Sweep:
    """Sweep complete rows as ever, and those with missing cells one by one; rows without any stay where they are."""
    total = _nothing(scores)
    if gaps.complete.size:
        found = sweep(gaps.complete_rows, scores, winners[gaps.complete], threads)
        winners[gaps.complete], total = found.winners, found.statistics
    if gaps.partial.size:
        rows, own, at = gaps.partial_rows, winners[gaps.partial], gap_scores(scores)
        total = total + _summed(rows, scores, partial(_sweep_gaps_piece, rows, scores, at, own), threads)
        winners[gaps.partial] = own
    return Sweep(total, winners)


def _sweep_gaps_piece(
    rows: Rows, scores: RowScores, at: GapScores, winners: NDArray[np.int32], piece: list[slice]
) -> Statistics:
    found, evidence = _nothing(scores), 0.0
    adding, work = (found.counts, found.weights, found.sums, found.squares), gap_work(*scores.centre.shape)
    for part in piece:
        evidence += sweep_gaps(rows.working(part), at, winners[part], adding, work)
    return replace(found, evidence=evidence)


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
    run = partial(_draw_piece, rows, scores, _scoring(scores), keys, levels, slices, drawn)
    return Sweep(_summed(rows, scores, run, threads), drawn)


def _summed(rows: Rows, scores: RowScores, run: Callable[[list[slice]], Statistics], threads: int) -> Statistics:
    """Return the statistics of all rows: pieces of them run on threads, and are added in order."""
    components, p = scores.centre.shape
    pieces = _cut(list(rows.blocks()), max(_PIECES, min(4 * _PIECES, BLOCK_NUMBERS // (components * p * p))))
    if threads == 1 or len(pieces) == 1:
        parts = [run(piece) for piece in pieces]
    else:
        parts = list(_pool(threads).map(run, pieces))
    statistics = _pairwise(parts)
    # the loops fill lower triangles
    upper = np.tril(statistics.squares, -1).transpose(0, 2, 1)
    return replace(statistics, squares=statistics.squares + upper)


def statistics_of_labels(rows: Rows, component: NDArray[np.integer[Any]], components: int) -> Statistics:
    """Return the statistics of rows that belong to one component each, about the means of their rows."""
    return statistics_of_labelings(rows, component.astype(np.int64)[None], np.array([0, components]))


def statistics_of_labelings(rows: Rows, labelings: IntArray, ends: IntArray) -> Statistics:
    """Return the statistics of the pieces of several labelings, (m, n), about their means; each begins at `ends`."""
    count, p = int(ends[-1]), rows.columns
    pieces = labelings + ends[:-1, None]  # (m, n)
    counts = np.bincount(pieces.ravel(), minlength=count).astype(np.float64)
    means, sums, squares = np.zeros((count, p)), np.zeros((count, p)), np.zeros((count, p, p))
    held = np.where(counts > 0.0, counts, 1.0)
    for block in rows.blocks():
        here, working = pieces[:, block].ravel(), rows.working(block)
        for j in range(p):
            column = np.tile(working[:, j], labelings.shape[0])
            means[:, j] += np.bincount(here, weights=column, minlength=count) / held

    for block in rows.blocks():
        tally(rows.working(block), np.ascontiguousarray(labelings[:, block]), ends, means, sums, squares)
    return Statistics(counts, counts, means, sums, squares, 0.0)


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


def _sweep_piece(
    rows: Rows, scores: RowScores, scoring: Scores, winners: NDArray[np.int32], piece: list[slice]
) -> Statistics:
    found = _nothing(scores)
    adding = (found.counts, found.weights, found.sums, found.squares, scores.kind)
    block, group = _memory_of_this_thread(scores, rows)
    evidence = 0.0
    for part in piece:
        _load(rows, part, winners, block)
        evidence += sweep_block(block, group, scoring, winners, adding)
    return replace(found, evidence=evidence)


def _draw_piece(
    rows: Rows,
    scores: RowScores,
    scoring: Scores,
    keys: NDArray[np.int32],
    levels: int,
    slices: Slices,
    labels: NDArray[np.int32],
    piece: list[slice],
) -> Statistics:
    found = _nothing(scores)
    adding = (found.counts, found.weights, found.sums, found.squares, scores.kind)
    block, group = _memory_of_this_thread(scores, rows)
    block = block._replace(first=np.empty(len(scores.centre) * levels + 1, np.int64))
    for part in piece:
        _load(rows, part, keys, block)
        draw_block(block, group, scoring, slices.known, slices.depths, levels, slices.uniforms, labels, adding)
    return found


def _load(rows: Rows, part: slice, keys: NDArray[np.int32], block: Block) -> None:
    """Load a block of rows in order of their keys."""
    size = part.stop - part.start
    load_block(rows.table, part.start, size, keys, rows.centre, rows.multiplier, rows.farthest, *block)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


_of_this_thread = local()


def _memory_of_this_thread(scores: RowScores, rows: Rows) -> tuple[Block, Group]:
    """Return the memory that the present thread used last, if it fits: fresh memory is slow memory."""
    components, p = scores.centre.shape
    room, size = -(-components // _ROOM) * _ROOM, next(rows.blocks()).stop
    if getattr(_of_this_thread, "shape", None) != (room, p, size):
        _of_this_thread.block, _of_this_thread.group = block_memory(room, p, size), group_memory(room, p)
        _of_this_thread.shape = (room, p, size)
    return part_of(_of_this_thread.block, _of_this_thread.group, components)


def _cut(blocks: list[slice], most: int) -> list[list[slice]]:
    """Return the blocks in at most so many runs, as even as possible."""
    edges = np.linspace(0, len(blocks), min(most, len(blocks)) + 1).astype(int)
    return [blocks[first:last] for first, last in pairwise(edges.tolist())]


def _pairwise(parts: list[Statistics]) -> Statistics:
    """Return the sum of the parts, neighbours first."""
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [reduce(Statistics.__add__, pair) for pair in pairs]
    return parts[0]
