"""The fit: several starts in parallel, of which the best bound wins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.kernel import Rows
from vbrand.inference.starts import (
    from_labels,
    k_means,
    multiplied_k_means,
    multipliers,
    one_novelty,
    unexplained,
)
from vbrand.model.posterior import Posterior
from vbrand.model.prior import Prior
from vbrand.types import FloatArray, IntArray

# groups: one novelty, then its rows split into 2, 3, ..; restarts: the paper's protocol; none: one novelty only
Search = Literal["groups", "restarts", "none"]
Progress = Callable[[int, int, float], None]  # start, sweep, bound
Start = Callable[[], Posterior]


@dataclass(frozen=True)
class Effort:
    """How hard to look."""

    search: Search = "groups"
    starts: int = 12
    tol: float = 1e-9
    max_iter: int = 1_000
    jobs: int | None = None


@dataclass(frozen=True)
class Found:
    """The best ascent, and the traces of all."""

    best: Ascent
    traces: list[FloatArray]


def find(
    rows: Rows,
    prior: Prior,
    effort: Effort,
    generator: np.random.Generator,
    *,
    component: IntArray | None = None,
    progress: Progress | None = None,
) -> Found:
    """Return the best of several ascents; `component` gives a start for each row instead, and then there is one.

    Seeds are drawn before any work is shared out and BLAS and OpenMP run on one thread, so the answer does not depend
    on the number of workers.
    """
    seeds = generator.integers(2**31 - 1, size=effort.starts).tolist()
    with threadpool_limits(1):
        if component is not None:
            ascents = _climb(rows, prior, effort, progress, [partial(from_labels, rows, prior, component)])
        elif effort.search == "restarts":
            factors = multipliers(effort.starts, generator)
            starts = [partial(multiplied_k_means, rows, prior, *each) for each in zip(seeds, factors, strict=True)]
            ascents = _climb(rows, prior, effort, progress, starts)
        else:
            starts = [partial(one_novelty, rows, prior)]
            ascents = _climb(rows, prior, effort, progress, starts)
            if effort.search == "groups":
                splits = _splits(rows, prior, ascents[0], seeds[1:])
                ascents += _climb(rows, prior, effort, progress, splits, first=1)
    best = max(ascents, key=lambda ascent: ascent.bound.total)
    return Found(best, [ascent.trace for ascent in ascents])


def _climb(
    rows: Rows,
    prior: Prior,
    effort: Effort,
    progress: Progress | None,
    starts: Sequence[Start],
    first: int = 0,
) -> list[Ascent]:
    """Return where each start leads, numbered from `first`; workers go to starts, then to the rows of each."""
    workers = effective_n_jobs(effort.jobs)
    threads = max(1, workers // max(1, len(starts)))

    def climb(number: int, start: Start) -> Ascent:
        heard = None if progress is None else partial(progress, number)
        return ascend(rows, prior, start(), tol=effort.tol, max_iter=effort.max_iter, threads=threads, progress=heard)

    jobs = (delayed(climb)(number, start) for number, start in enumerate(starts, first))
    return list(Parallel(n_jobs=workers, prefer="threads")(jobs))


def _splits(rows: Rows, prior: Prior, one: Ascent, seeds: list[int]) -> list[Start]:
    """Return starts that split novel rows by k-means into 1, 2, .. groups.

    In turn those that one novelty took, and those that known classes explain badly before anything was fitted: far
    outliers may have drawn the one novelty away from all others.
    """
    taken = np.flatnonzero(one.winners >= prior.known)
    sources = [source for source in (taken, unexplained(rows, prior)) if source.size]
    if not sources:
        return []
    return [
        partial(k_means, rows, prior, 1 + number // len(sources), seed, sources[number % len(sources)])
        for number, seed in enumerate(seeds)
    ]
