"""Coordinate ascent over one block of rows, compiled: there Python between sweeps would take most of the time."""

from collections import namedtuple
from functools import cache
from threading import local

import numpy as np

from vbrand.compiling import inner, jit_small, once
from vbrand.inference.addresses import address_of, call, call_for_number, call_for_truth
from vbrand.inference.sweeps import block_memory, filled_up, group_memory, load_block, part_of, sweep_block
from vbrand.model.components import room_for
from vbrand.model.posterior import Belief, bound_terms, room_for_scores, score_components
from vbrand.model.statistics import room_for_sums
from vbrand.model.sticks import Sticks, settle
from vbrand.model.wishart import NOT_POSITIVE, extrapolate, factorise, update, way_to_go

# when an ascent ends: relative gain, sweeps, the bound that it should beat (-inf: any); whether sticks are sorted;
# rounding, far_behind and sweeps_to_judge of SearchTuning
Pace = namedtuple("Pace", ["tol", "max_iter", "beat", "sort", "rounding", "far_behind", "sweeps_to_judge"])
# why an ascent ends
GOES_ON, CONVERGED, MAX_ITERATIONS, HOPELESS, FELL, PAUSED = range(6)
# a table in working coordinates, the component that each row looks at first, whether any is known, whether there are
# statistics to start from
Table = namedtuple("Table", ["rows", "winners", "placed", "shared_out"])
# where the compiled parts of an ascent lie
Calls = namedtuple("Calls", ["update", "settle", "factorise", "score", "load", "sweep", "bound", "extrapolate"])

# memory of a sweep: a block, a group of its rows; and zeros and ones, for rows are in working coordinates already
Work = namedtuple("Work", ["block", "group", "nought", "one"])

# memory is made for multiples of so many components and rows: their numbers change often
_ROOM, _ROWS = 16, 1_024
# sweeps from whose bounds a jump is reckoned, and steps below which one does not pay
PLAIN_SWEEPS = 3
SHORTEST_JUMP = 1.0
# sweeps that there is room for
MOST_SWEEPS = 100_000


@jit_small
def climb(calls, table, prior, posterior, shape, scores, stores, now, before, work, pace, terms, trace, counted):  # type: ignore[no-untyped-def]
    """Ascend from a posterior, or from statistics, and return the number of sweeps, their evidence and why it ended.

    A slow ascent jumps ahead (5.20); where the bound is lower there it goes back, and the sweep counts. It pauses where
    novel components are not in order of size, and goes on from there when it is called again.
    Posterior, winners, scores, statistics and the terms of the last bound are overwritten: `stores` hold statistics of
    now, of the sweep before, and those that a jump began at; `shape` is that of the components' kernels, `trace` is
    room for the bounds of max_iter sweeps; `counted` are the sweeps so far, and those since the last jump or order.
    """
    swept, plain, placed, shared_out = counted[0], counted[1], table.placed, table.shared_out
    ahead, jumped, evidence = swept > 0, False, 0.0
    while True:
        if ahead:
            step = jump(trace, swept, plain, pace.max_iter)
            jumped = step > 0.0
            _copy(stores[0], stores[2 if jumped else 1])
            if jumped:
                call(calls.extrapolate, (now, before, step))
                plain = 0
        if shared_out:
            call(calls.update, (prior.components, now, posterior.components))
            call(calls.settle, (prior.weights, now.counts, posterior.weights))
        shared_out = True
        possible = call_for_truth(calls.factorise, (posterior.components.scale, posterior.roots))
        if not (possible or jumped):
            raise np.linalg.LinAlgError(NOT_POSITIVE)
        if possible:
            call(calls.score, (posterior.components, posterior.roots, posterior.weights, shape, scores))
            for _ in range(1 if placed else 2):  # the first time to find out where rows look first
                evidence = _swept(calls, table, scores, stores[0], now, work)
            placed = True
            call(calls.bound, (prior, posterior, evidence, terms))

        total = terms[0] + terms[1] + terms[2] + terms[3] + terms[4]
        fell = jumped and not (possible and total > trace[swept - 1])
        trace[swept] = trace[swept - 1] if fell else total
        swept += 1
        plain += 1
        ahead = not fell
        if fell:  # back to where the jump began
            _copy(stores[2], stores[0])
            plain, jumped = 0, False
        else:
            stopped = why_stop(trace, swept, pace)
            if stopped != GOES_ON and not (jumped and stopped == CONVERGED):
                return swept, evidence, stopped
            if pace.sort and _out_of_order(now.counts, prior.weights.dirichlet.size - 1):
                counted[0], counted[1] = swept, plain
                return swept, evidence, PAUSED


@once
def _out_of_order(counts, known):  # type: ignore[no-untyped-def]
    """Return whether a novel component is smaller than one after it."""
    smaller = 0
    for k in range(known + 1, counts.size):
        smaller += 1 if counts[k - 1] < counts[k] else 0
    return smaller > 0


@once
def jump(trace, swept, plain, max_iter):  # type: ignore[no-untyped-def]
    """Return how many steps an ascent should go at once: 0 for a plain update, after few plain ones or fast ones.

    Not where there is no sweep left to go back.
    """
    if plain < PLAIN_SWEEPS or swept + 2 > max_iter:
        return 0.0
    step = way_to_go(trace[swept - 1] - trace[swept - 2], trace[swept - 2] - trace[swept - 3])
    return step if step >= SHORTEST_JUMP else 0.0


@inner
def _copy(source, target):  # type: ignore[no-untyped-def]
    for i in range(source.size):
        target[i] = source[i]


@once
def _swept(calls, table, scores, store, statistics, work):  # type: ignore[no-untyped-def]
    """Store the statistics of the rows about the centres of the scores, and return their evidence."""
    n, p = table.rows.shape
    for i in range(store.size):
        store[i] = 0.0
    for k in range(statistics.counts.size):
        for j in range(p):
            statistics.origin[k, j] = scores.centre[k, j]
    held, places, first = work.block
    call(calls.load, (table.rows, 0, n, table.winners, work.nought, work.one, np.inf, held, places, first))
    adding = (statistics.counts, statistics.weights, statistics.sums, statistics.squares, scores.kind)
    evidence = call_for_number(calls.sweep, (work.block, work.group, scores, table.winners, adding))
    for k in range(statistics.counts.size):  # the loops fill lower triangles
        for i in range(p):
            for j in range(i):
                statistics.squares[k, j, i] = statistics.squares[k, i, j]
    return evidence


@once
def why_stop(trace, swept, pace):  # type: ignore[no-untyped-def]
    """Return why an ascent with this trace ends, or that it goes on."""
    last = trace[swept - 1]
    if swept > 1:
        gain = last - trace[swept - 2]
        size = last if last > 0.0 else -last
        if gain < -pace.rounding * size:
            return FELL
        if gain <= pace.tol * size:
            return CONVERGED
        if swept >= pace.sweeps_to_judge and pace.beat - last > pace.far_behind * gain:
            return HOPELESS
    return MAX_ITERATIONS if swept >= pace.max_iter else GOES_ON


_of_this_thread = local()


def memory(components: int, p: int, rows: int) -> Work:
    """Return memory for a sweep: what the present thread used last, if it is enough."""
    room, last = (-(-components // _ROOM) * _ROOM, p, -(-rows // _ROWS) * _ROWS), getattr(_of_this_thread, "room", None)
    if last is None or last[1] != p or last[0] < room[0] or last[2] < room[2]:
        _of_this_thread.room = room
        _of_this_thread.block, _of_this_thread.group = block_memory(*room), group_memory(*room[:2])
        _of_this_thread.parts = {}
    parts = _of_this_thread.parts
    if components not in parts:
        block, group = part_of(_of_this_thread.block, _of_this_thread.group, components)
        parts[components] = Work(block, group, np.zeros(p), np.ones(p))
    return parts[components]  # type: ignore[no-any-return]


@cache
def calls() -> Calls:
    """Return where the parts lie; all their arguments are of the same types always."""
    _, sums = room_for_sums(1, 1)
    belief = Belief(*room_for(1, np.zeros((1, 1))), Sticks(*np.zeros((4, 2))))
    wisharts, roots, weights = belief
    winners, terms = np.zeros(1, np.int32), np.zeros(1)
    work, scores = memory(1, 1, 1), room_for_scores(np.zeros(1, np.int64), 1, filled_up(1))
    adding = sums.counts, sums.weights, sums.sums, sums.squares, scores.kind
    return Calls(
        update=address_of(update, wisharts, sums, wisharts),
        settle=address_of(settle, weights, sums.counts, weights),
        factorise=address_of(factorise, wisharts.scale, roots),
        score=address_of(score_components, wisharts, roots, weights, terms, scores),
        load=address_of(load_block, sums.sums, 0, 1, winners, work.nought, work.one, np.inf, *work.block),
        sweep=address_of(sweep_block, work.block, work.group, scores, winners, adding),
        bound=address_of(bound_terms, belief, belief, 0.0, terms),
        extrapolate=address_of(extrapolate, sums, sums, 0.0),
    )
