"""Coordinate ascent: sweep over the rows, update the posterior, until the bound stands still."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.kernel import Rows, sweep
from vbrand.model.posterior import Bound, Posterior, bound_of, scores_of, updated
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.model.weights import best_stick_order
from vbrand.types import FloatArray

# a relative fall of the bound that rounding can make
_ROUNDING = 1e-8


class Stopped(Enum):
    """Why an ascent ended."""

    CONVERGED = "the bound gained less than the tolerance"
    MAX_ITERATIONS = "the largest number of sweeps was reached"
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
    sort: bool = True,
    threads: int = 1,
    progress: Callable[[int, float], None] | None = None,
) -> Ascent:
    """Return where coordinate ascent leads from a start.

    `tol` is the relative gain of the bound below which a sweep is the last one; `sort` re-sorts novel components by
    size wherever that raises the bound; `progress` is called with the number of sweeps and the bound after each.
    """
    posterior, trace = start, list[float]()
    winners: NDArray[np.int32] | None = None
    while True:
        swept = sweep(rows, scores_of(posterior), winners, threads)
        statistics, winners = swept.statistics, swept.winners
        bound = bound_of(prior, posterior, statistics.evidence)
        trace.append(bound.total)
        if progress is not None:
            progress(len(trace), bound.total)
        if len(trace) > 1 and trace[-1] - trace[-2] <= tol * abs(trace[-1]):
            fell = trace[-1] - trace[-2] < -_ROUNDING * abs(trace[-1])
            stopped = Stopped.FELL if fell else Stopped.CONVERGED
            return Ascent(posterior, statistics, winners, bound, np.array(trace), stopped)
        if len(trace) >= max_iter:
            return Ascent(posterior, statistics, winners, bound, np.array(trace), Stopped.MAX_ITERATIONS)
        if sort:
            order = best_stick_order(prior.weights, statistics.counts)
            statistics = statistics.reordered(order)
            winners = np.argsort(order).astype(np.int32)[winners]
        posterior = updated(prior, statistics)
