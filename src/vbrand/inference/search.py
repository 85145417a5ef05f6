"""The fit: several starts in parallel, of which the best bound wins."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.starts import from_labels, k_means, multiplied_k_means, multipliers, one_novelty
from vbrand.model.posterior import Posterior
from vbrand.model.prior import Prior
from vbrand.types import FloatArray, IntArray

# groups: one novelty, then k-means with 2, 3, .. groups; restarts: the paper's protocol; none: one novelty only
Search = Literal["groups", "restarts", "none"]
Progress = Callable[[int, int, float], None]  # start, sweep, bound


@dataclass(frozen=True)
class Effort:
    """How hard to look."""

    search: Search = "groups"
    starts: int = 10
    tol: float = 1e-9
    max_iter: int = 1_000
    jobs: int | None = None


@dataclass(frozen=True)
class Found:
    """The best ascent, and the traces of all."""

    best: Ascent
    traces: list[FloatArray]


def find(
    rows: FloatArray,
    prior: Prior,
    effort: Effort,
    generator: np.random.Generator,
    *,
    component: IntArray | None = None,
    progress: Progress | None = None,
) -> Found:
    """Return the best of several ascents; `component` gives a start for each row instead, and then there is one.

    Seeds are drawn before any work is shared out and BLAS runs on one thread, so the answer does not depend on the
    number of workers.
    """

    def climb(number: int, start: Callable[[], Posterior]) -> Ascent:
        heard = None if progress is None else lambda sweep, bound: progress(number, sweep, bound)
        return ascend(rows, prior, start(), tol=effort.tol, max_iter=effort.max_iter, progress=heard)

    with threadpool_limits(1, user_api="blas"):
        starts = _starts(rows, prior, effort, generator, component)
        ascents = Parallel(n_jobs=effort.jobs, prefer="threads")(
            delayed(climb)(number, start) for number, start in enumerate(starts)
        )
    best = max(ascents, key=lambda ascent: ascent.bound.total)
    return Found(best, [ascent.trace for ascent in ascents])


def _starts(
    rows: FloatArray, prior: Prior, effort: Effort, generator: np.random.Generator, component: IntArray | None
) -> list[Callable[[], Posterior]]:
    """Return the starts, each a function that makes it."""
    if component is not None:
        return [partial(from_labels, rows, prior, component)]
    one = partial(one_novelty, rows, prior)
    if effort.search == "none":
        return [one]
    seeds = generator.integers(2**31 - 1, size=effort.starts).tolist()
    if effort.search == "restarts":
        factors = multipliers(effort.starts, generator)
        return [
            partial(multiplied_k_means, rows, prior, seed, factor) for seed, factor in zip(seeds, factors, strict=True)
        ]
    counts = range(2, effort.starts + 1)
    return [one, *(partial(k_means, rows, prior, count, seed) for count, seed in zip(counts, seeds, strict=False))]
