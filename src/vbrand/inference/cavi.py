"""Coordinate ascent: sweep over the rows, update the posterior, until the bound stands still."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.kernel import sweep
from vbrand.inference.rows import Rows
from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.model.posterior import Bound, Posterior, bound_of, scores_of, updated
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.model.weights import best_stick_order
from vbrand.types import FloatArray


class Stopped(Enum):
    """Why an ascent ended."""

    CONVERGED = "the bound gained less than the tolerance"
    MAX_ITERATIONS = "the largest number of sweeps was reached"
    HOPELESS = "it was too far behind another one"
    FELL = "the bound fell: the rows are too extreme for double precision"


@dataclass(frozen=True)
class Ascent:
    """A posterior that coordinate ascent found, and how it got there."""

    posterior: Posterior
    statistics: Statistics  # of the rows, shared out by this posterior
    winners: NDArray[np.int32]  # (n,) the component that each row goes to
    bound: Bound
    trace: FloatArray  # (sweeps,) the bound of every sweep
    stopped: Stopped


def ascend(
    rows: Rows,
    prior: Prior,
    start: Posterior,
    *,
    tol: float = 1e-9,
    max_iter: int = 1_000,
    winners: NDArray[np.int32] | None = None,
    sort: bool = True,
    beat: float | None = None,
    threads: int = 1,
    progress: Callable[[int, float], None] | None = None,
    tuning: SearchTuning = TUNED,
) -> Ascent:
    """Return where coordinate ascent leads from a start.

    `tol` is the relative gain of the bound below which a sweep is the last one. `winners` are the components that the
    rows went to before, if known: it saves a sweep. `sort` re-sorts novel components by size wherever that raises the
    bound. An ascent that is unlikely to `beat` a bound is given up. `progress` is called with the number of sweeps and
    the bound after each.
    """
    posterior, trace = start, list[float]()
    while True:
        swept = sweep(rows, scores_of(posterior), winners, threads)
        statistics, winners = swept.statistics, swept.winners
        bound = bound_of(prior, posterior, statistics.evidence)
        trace.append(bound.total)

        if progress is not None:
            progress(len(trace), bound.total)
        stopped = _why_stop(trace, tol, max_iter, beat, tuning)
        if stopped is not None:
            return Ascent(posterior, statistics, winners, bound, np.array(trace), stopped)

        if sort:
            order = best_stick_order(prior.weights, statistics.counts)
            statistics = statistics.reordered(order)
            winners = np.argsort(order).astype(np.int32)[winners]
        posterior = updated(prior, statistics)


def _why_stop(
    trace: list[float], tol: float, max_iter: int, beat: float | None, tuning: SearchTuning
) -> Stopped | None:
    if len(trace) > 1:
        gain = trace[-1] - trace[-2]
        if gain < -tuning.rounding * abs(trace[-1]):
            return Stopped.FELL
        if gain <= tol * abs(trace[-1]):
            return Stopped.CONVERGED
        may_judge = len(trace) >= tuning.sweeps_to_judge
        if beat is not None and may_judge and beat - trace[-1] > tuning.far_behind * gain:
            return Stopped.HOPELESS
    return Stopped.MAX_ITERATIONS if len(trace) >= max_iter else None
