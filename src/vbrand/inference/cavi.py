"""Coordinate ascent: sweep over the rows, update the posterior, until the bound stands still."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.compiling import from_python
from vbrand.inference.climb import (
    CONVERGED,
    FELL,
    GOES_ON,
    HOPELESS,
    MAX_ITERATIONS,
    MOST_SWEEPS,
    PAUSED,
    Pace,
    Table,
    calls,
    climb,
    jump,
    memory,
    why_stop,
)
from vbrand.inference.kernel import sweep
from vbrand.inference.rows import Rows, relabelled
from vbrand.inference.sweeps import filled_up
from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.model.components import components_of, copied, room_for
from vbrand.model.posterior import (
    BOUND_TERMS,
    Belief,
    Bound,
    Posterior,
    bound_of,
    room_for_scores,
    scores_of,
    updated,
)
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics, extrapolated, room_for_sums, store_sums
from vbrand.model.weights import Weights, best_stick_order, sticks_like, weights_of
from vbrand.model.weights import copied as copied_sticks
from vbrand.model.wishart import Sums
from vbrand.types import FloatArray, IntArray


class Stopped(Enum):
    """Why an ascent ended."""

    CONVERGED = "the bound gained less than the tolerance"
    MAX_ITERATIONS = "the largest number of sweeps was reached"
    HOPELESS = "it was too far behind another one"
    FELL = "the bound fell: the rows are too extreme for double precision"


_jump, _why_stop = from_python(jump), from_python(why_stop)
_REASONS = {
    CONVERGED: Stopped.CONVERGED,
    MAX_ITERATIONS: Stopped.MAX_ITERATIONS,
    HOPELESS: Stopped.HOPELESS,
    FELL: Stopped.FELL,
}


@dataclass(frozen=True)
class Ascent:
    """A posterior that coordinate ascent found, and how it got there."""

    posterior: Posterior
    statistics: Statistics  # of the rows, shared out by this posterior
    winners: Any  # (n,) the component that each row goes to: an array, or on disk as the rows are
    bound: Bound
    trace: FloatArray  # (sweeps,) the bound of every sweep
    stopped: Stopped


def ascend(
    rows: Rows,
    prior: Prior,
    start: Posterior | Statistics,
    *,
    tol: float = 1e-9,
    max_iter: int = 1_000,
    winners: Any = None,
    sort: bool = True,
    beat: float | None = None,
    threads: int = 1,
    progress: Callable[[int, float], None] | None = None,
    tuning: SearchTuning = TUNED,
) -> Ascent:
    """Return where coordinate ascent leads from a posterior, or from statistics of rows that are shared out.

    `tol` is the relative gain of the bound below which a sweep is the last one. `winners` are the components that the
    rows went to before, if known: it saves a sweep. `sort` re-sorts novel components by size wherever that raises the
    bound. An ascent that is unlikely to `beat` a bound is given up. `progress` is called with the number of sweeps and
    the bound after each.
    """
    beaten = -np.inf if beat is None else beat
    pace = Pace(tol, max_iter, beaten, sort, tuning.rounding, tuning.far_behind, tuning.sweeps_to_judge)
    if len(rows) > next(rows.blocks()).stop or rows.gapped or rows.levels:
        first = updated(prior, start) if isinstance(start, Statistics) else start
        return _over_blocks(rows, prior, first, pace, winners, threads, progress)
    found = _over_one_block(rows, prior, start, pace, winners)
    if progress is not None:
        for number, bound in enumerate(found.trace.tolist(), start=1):
            progress(number, bound)
    return found


def _over_blocks(
    rows: Rows,
    prior: Prior,
    start: Posterior,
    pace: Pace,
    winners: Any,
    threads: int,
    progress: Callable[[int, float], None] | None,
) -> Ascent:
    """Ascend over a table of many blocks: each sweep shares them out among threads."""
    posterior, trace, plain, jumped = start, list[float](), 0, False
    before: Statistics | None = None
    kept: Statistics | None = None
    while True:
        swept = _swept(rows, prior, posterior, winners, threads, jumped)
        fell = jumped and (swept is None or swept.bound.total <= trace[-1])
        trace.append(trace[-1] if fell or swept is None else swept.bound.total)
        plain += 1
        if progress is not None:
            progress(len(trace), trace[-1])

        if fell or swept is None:  # back to where the jump began
            assert kept is not None
            statistics, plain, jumped = kept, 0, False
        else:
            statistics, winners = swept.statistics, swept.winners
            stopped = _why_stop(np.array(trace), len(trace), pace)
            if stopped != GOES_ON and not (jumped and stopped == CONVERGED):
                return replace(swept, trace=np.array(trace), stopped=_REASONS[stopped])

            order = best_stick_order(prior.weights, statistics.counts)
            if pace.sort and (np.diff(order) < 0).any():
                statistics, plain = statistics.reordered(order), 0
                winners = relabelled(winners, np.argsort(order).astype(np.int32))
            step = _jump(np.array(trace), len(trace), plain, pace.max_iter)
            jumped = step > 0.0
            if jumped and before is not None:
                kept, plain = statistics, 0
                statistics = extrapolated(statistics, before, step)
            else:
                before = statistics
        posterior = updated(prior, statistics)


def _swept(rows: Rows, prior: Prior, posterior: Posterior, winners: Any, threads: int, jumped: bool) -> Ascent | None:
    """Return one sweep, or None where a jump led to scales that are none."""
    try:
        scores = scores_of(posterior)
    except np.linalg.LinAlgError:
        if jumped:
            return None
        raise
    found = sweep(rows, scores, winners, threads)
    bound = bound_of(prior, posterior, found.statistics.evidence)
    return Ascent(posterior, found.statistics, found.winners, bound, np.array([bound.total]), Stopped.MAX_ITERATIONS)


def _over_one_block(
    rows: Rows, prior: Prior, start: Posterior | Statistics, pace: Pace, winners: NDArray[np.int32] | None
) -> Ascent:
    """Ascend over a table of one block: all sweeps in one compiled call."""
    count, p = prior.components.mean.shape
    (store, now), (store_before, earlier) = (room_for_sums(count, p) for _ in range(2))
    own = prior.components.wisharts
    wisharts, roots = room_for(count, own.noise)
    if isinstance(start, Statistics):
        store_sums(start, now)
        after = Belief(wisharts, roots, sticks_like(prior.weights))
    else:
        after = Belief(copied(start.components.wisharts), roots, copied_sticks(start.weights.sticks))
    before = Belief(own, prior.components.roots, prior.weights.sticks)
    kind, shape = prior.components.codes
    first = np.zeros(len(rows), np.int32) if winners is None else winners.astype(np.int32)
    pace = pace._replace(max_iter=min(pace.max_iter, MOST_SWEEPS))
    terms, trace = np.empty(BOUND_TERMS), np.empty(pace.max_iter)

    table = Table(rows.in_one_block, first, winners is not None, isinstance(start, Statistics))
    scores, work = room_for_scores(kind, p, filled_up(p)), memory(count, p, len(rows))
    stores, counted, stopped = (store, store_before, np.empty_like(store)), np.zeros(2, np.int64), PAUSED
    while stopped == PAUSED:
        given = (stores, now, earlier, work, pace, terms, trace, counted)
        swept, evidence, stopped = climb(calls(), table, before, after, shape, scores, *given)
        if stopped == PAUSED:
            _put_in_order(prior.weights, now, first, counted)
            table = table._replace(placed=True, shared_out=True)

    # without the roots of the last sweep: a model that is read from a file computes its own, and must answer the same
    components = components_of(after.components, prior.components)
    posterior, bound = Posterior(components, weights_of(after.weights)), Bound(*terms.tolist())
    return Ascent(posterior, Statistics(*now, evidence), first, bound, trace[:swept].copy(), _REASONS[stopped])


def _put_in_order(prior: Weights, now: Sums, winners: NDArray[np.int32], counted: IntArray) -> None:
    """Put components of an ascent that has paused in order of size, where that raises the bound."""
    order = best_stick_order(prior, now.counts)
    if (np.diff(order) < 0).any():
        for part in now:
            part[...] = part[order]
        winners[...] = np.argsort(order)[winners]
        counted[1] = 0
