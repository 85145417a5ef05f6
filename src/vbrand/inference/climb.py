"""Coordinate ascent over one block of rows, compiled: there Python between sweeps would take most of the time."""

from collections import namedtuple
from threading import local

import numpy as np

from vbrand.inference.sweeps import block_memory, filled_up, group_memory, load_block, part_of, sweep_block
from vbrand.inference.tally import mirror
from vbrand.model.gamma import jit
from vbrand.model.posterior import bound_terms, score_components
from vbrand.model.sticks import order_sticks, settle
from vbrand.model.wishart import NOT_POSITIVE, Sums, extrapolate, factorise, update, way_to_go

# when an ascent ends: relative gain, sweeps, the bound that it should beat (-inf: any); whether sticks are re-sorted;
# rounding, far_behind and sweeps_to_judge of SearchTuning
Pace = namedtuple("Pace", ["tol", "max_iter", "beat", "sort", "rounding", "far_behind", "sweeps_to_judge"])
# why an ascent ends
GOES_ON, CONVERGED, MAX_ITERATIONS, HOPELESS, FELL = range(5)
# a table in working coordinates, the component that each row looks at first, and whether any is known
Table = namedtuple("Table", ["rows", "winners", "placed"])
# components, their roots, weights
Belief = namedtuple("Belief", ["components", "roots", "weights"])

# memory of a sweep: a block, a group of its rows, and factors as the loops want them, filled up with zeros
Work = namedtuple("Work", ["block", "group", "roots"])

# memory is made for multiples of so many components and rows: their numbers change often
_ROOM, _ROWS = 16, 1_024
# sweeps from whose bounds a jump is reckoned, and steps below which one does not pay
PLAIN_SWEEPS = 3
SHORTEST_JUMP = 1.0
# sweeps that there is room for at first
_SWEEPS = 64


@jit
def climb(table, prior, posterior, shape, scores, statistics, work, spare, pace, terms):  # type: ignore[no-untyped-def]
    """Ascend from a posterior, which is overwritten, and return the bounds of sweeps, their evidence and why it ended.

    A slow ascent jumps ahead (5.20); where the bound is lower there it goes back, and the sweep counts.
    Winners, scores, statistics and the terms of the last bound are overwritten, too; `shape` is that of the components'
    kernels, `spare` is room for weights.
    """
    swept, plain, placed, jumped = 0, 0, table.placed, False
    trace, order = np.empty(_SWEEPS), np.empty(statistics.counts.size, np.int64)
    before, kept = _copy_of(statistics), _copy_of(statistics)
    evidence = 0.0
    while True:
        possible = factorise(posterior.components.scale, posterior.roots)
        if not (possible or jumped):
            raise np.linalg.LinAlgError(NOT_POSITIVE)
        if possible:
            score_components(posterior.components, posterior.roots, posterior.weights, shape, scores)
            for _ in range(1 if placed else 2):  # the first time to find out where rows look first
                evidence = _swept(table, scores, statistics, work)
            placed = True
            bound_terms(prior, posterior, evidence, terms)

        if swept == trace.size:
            trace = np.append(trace, np.empty(swept))
        fell = jumped and not (possible and terms.sum() > trace[swept - 1])
        trace[swept] = trace[swept - 1] if fell else terms.sum()
        swept += 1
        plain += 1
        if fell:  # back to where the jump began
            _copy(kept, statistics)
            plain, jumped = 0, False
        else:
            stopped = why_stop(trace, swept, pace)
            if stopped != GOES_ON and not (jumped and stopped == CONVERGED):
                return trace[:swept], evidence, stopped

            if pace.sort and order_sticks(prior.weights, statistics.counts, spare, order):
                _reorder(statistics, table.winners, order)
                plain = 0
            step = jump(trace, swept, plain, pace.max_iter)
            jumped = step > 0.0
            if jumped:
                _copy(statistics, kept)
                extrapolate(statistics, before, step)
                plain = 0
            else:
                _copy(statistics, before)
        update(prior.components, statistics, posterior.components)
        settle(prior.weights, statistics.counts, posterior.weights)


@jit
def jump(trace, swept, plain, max_iter):  # type: ignore[no-untyped-def]
    """Return how many steps an ascent should go at once: 0 for a plain update, after few plain ones or fast ones.

    Not where there is no sweep left to go back.
    """
    if plain < PLAIN_SWEEPS or swept + 2 > max_iter:
        return 0.0
    step = way_to_go(trace[swept - 1] - trace[swept - 2], trace[swept - 2] - trace[swept - 3])
    return step if step >= SHORTEST_JUMP else 0.0


@jit
def _copy_of(statistics):  # type: ignore[no-untyped-def]
    counts, weights, origin, sums, squares = statistics
    return Sums(counts.copy(), weights.copy(), origin.copy(), sums.copy(), squares.copy())


@jit
def _copy(source, target):  # type: ignore[no-untyped-def]
    target.counts[:] = source.counts
    target.weights[:] = source.weights
    target.origin[:] = source.origin
    target.sums[:] = source.sums
    target.squares[:] = source.squares


@jit
def _swept(table, scores, statistics, work):  # type: ignore[no-untyped-def]
    """Store the statistics of the rows about the centres of the scores, and return their evidence."""
    counts, weights, origin, sums, squares = statistics
    counts[:] = 0.0
    weights[:] = 0.0
    sums[:] = 0.0
    squares[:] = 0.0
    origin[:] = scores.centre
    n, p = table.rows.shape
    work.roots[:, :p, :p] = scores.root
    held, places, first = work.block
    load_block(table.rows, 0, n, table.winners, np.zeros(p), np.ones(p), np.inf, held, places, first)
    scoring = (scores.centre, work.roots, scores.constant, scores.kind, scores.tail, scores.power)
    evidence = sweep_block(
        work.block, work.group, scoring, table.winners, (counts, weights, sums, squares, scores.kind)
    )
    mirror(squares)
    return evidence


@jit
def _reorder(statistics, winners, order):  # type: ignore[no-untyped-def]
    """Put components into another order."""
    for part in statistics[:2]:
        part[:] = part[order]
    for part in statistics[2:4]:
        part[:] = part[order]
    statistics.squares[:] = statistics.squares[order]
    place = np.argsort(order)
    for i in range(winners.size):
        winners[i] = place[winners[i]]


@jit
def why_stop(trace, swept, pace):  # type: ignore[no-untyped-def]
    """Return why an ascent with this trace ends, or that it goes on."""
    last = trace[swept - 1]
    if swept > 1:
        gain = last - trace[swept - 2]
        if gain < -pace.rounding * abs(last):
            return FELL
        if gain <= pace.tol * abs(last):
            return CONVERGED
        if swept >= pace.sweeps_to_judge and pace.beat - last > pace.far_behind * gain:
            return HOPELESS
    return MAX_ITERATIONS if swept >= pace.max_iter else GOES_ON


_of_this_thread = local()


def memory(components: int, p: int, rows: int) -> Work:
    """Return memory for a sweep: what the present thread used last, if it is enough."""
    room, last = (-(-components // _ROOM) * _ROOM, p, -(-rows // _ROWS) * _ROWS), getattr(_of_this_thread, "room", None)
    if last is None or last[1] != p or last[0] < room[0] or last[2] < room[2]:
        _of_this_thread.room, side = room, filled_up(p)
        _of_this_thread.block, _of_this_thread.group = block_memory(*room), group_memory(*room[:2])
        _of_this_thread.roots = np.zeros((room[0], side, side))
    block, group = part_of(_of_this_thread.block, _of_this_thread.group, components)
    return Work(block, group, _of_this_thread.roots[:components])
