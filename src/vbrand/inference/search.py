"""The fit: moves from one novelty, or several starts in parallel of which the best bound wins."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.growth import Move, Progress, grow
from vbrand.inference.rows import Rows
from vbrand.inference.starts import from_labels, multiplied_k_means, multipliers, one_novelty
from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.model.components import stacked
from vbrand.model.posterior import Posterior
from vbrand.model.prior import Prior, with_novelties
from vbrand.samples import by_content
from vbrand.threads import one_thread
from vbrand.types import FloatArray, IntArray

# moves: births, merges, deletions; restarts: the paper's protocol; none: one ascent from one novelty
Search = Literal["moves", "restarts", "none"]
Start = Callable[[], Posterior]


@dataclass(frozen=True)
class Effort:
    """How hard to look."""

    search: Search = "moves"
    starts: int = 200  # of "restarts"
    tol: float = 1e-9
    max_iter: int = 1_000
    jobs: int | None = None


@dataclass(frozen=True)
class Found:
    """The best ascent, the traces of all, and the moves that led there."""

    best: Ascent
    traces: list[FloatArray]
    history: tuple[Move, ...]
    sweeps: int
    full: bool  # every place for a novel component is in use: there may be more


def find(
    rows: Rows,
    prior: Prior,
    effort: Effort,
    generator: np.random.Generator,
    *,
    component: IntArray | None = None,
    progress: Progress | None = None,
    tuning: SearchTuning = TUNED,
    hint: IntArray | None = None,
) -> Found:
    """Return the best fit; `component` gives a start for each row instead of a search.

    Moves try rows of one number in `hint`, (n,), as a component, too; not where it is negative.

    Seeds are drawn before any work is shared out and BLAS and OpenMP run on one thread, so the answer does not depend
    on the number of workers. Rows of one block, which is few, are taken in an order of their own, so that it does not
    depend on theirs: bounds that tie, or nearly so, would lead elsewhere.
    """
    if len(rows) > next(rows.blocks()).stop:
        return _found(rows, prior, effort, generator, component, progress, tuning, hint)
    order = by_content(rows.working(slice(None)))
    start, near = (None if given is None else given[order] for given in (component, hint))
    found = _found(replace(rows, table=rows.table[order]), prior, effort, generator, start, progress, tuning, near)
    winners = np.empty_like(found.best.winners)
    winners[order] = found.best.winners
    return replace(found, best=replace(found.best, winners=winners))


def _found(
    rows: Rows,
    prior: Prior,
    effort: Effort,
    generator: np.random.Generator,
    component: IntArray | None,
    progress: Progress | None,
    tuning: SearchTuning,
    hint: IntArray | None,
) -> Found:
    with one_thread():
        if component is None and effort.search == "moves":
            return _by_moves(rows, prior, effort, progress, tuning, hint)
        starts = _starts(rows, prior, effort, generator, component, tuning)
        ascents = _climb(rows, prior, effort, progress, starts, tuning)

    best = max(ascents, key=lambda ascent: ascent.bound.total)
    full = bool((best.statistics.counts[prior.known :] >= tuning.empty).all())
    return Found(best, [ascent.trace for ascent in ascents], (), sum(a.trace.size for a in ascents), full)


def _starts(
    rows: Rows,
    prior: Prior,
    effort: Effort,
    generator: np.random.Generator,
    component: IntArray | None,
    tuning: SearchTuning,
) -> list[Start]:
    """Return the starts of a search that climbs from each: given labels, the paper's protocol, or one novelty."""
    if component is not None:
        return [partial(from_labels, rows, prior, component)]
    if effort.search == "restarts":
        seeds = generator.integers(2**31 - 1, size=effort.starts).tolist()
        factors = multipliers(effort.starts, generator, tuning)
        return [
            partial(multiplied_k_means, rows, prior, seed, three, tuning)
            for seed, three in zip(seeds, factors, strict=True)
        ]
    return [partial(one_novelty, rows, prior)]


def _by_moves(
    rows: Rows, prior: Prior, effort: Effort, progress: Progress | None, tuning: SearchTuning, hint: IntArray | None
) -> Found:
    """Return where moves lead, and from there an ascent with the empty places for novel components open.

    Where the concentration is learned they stay closed, lest it depend on their number; then one empty component,
    added afterwards, stands for all the novel classes of which no row was seen.
    """
    threads = effective_n_jobs(effort.jobs)
    pace = {"max_iter": effort.max_iter, "threads": threads}
    grown = grow(rows, prior, **pace, progress=progress, tuning=tuning, hint=hint)
    start, opened = grown.ascent.posterior, grown.ascent.statistics.counts.size - prior.known
    full = opened == prior.novel
    learned = prior.weights.concentration is not None
    if not learned:
        start, opened = _with_empty(start, prior, prior.novel - opened), prior.novel

    last = ascend(
        rows,
        with_novelties(prior, opened),
        start,
        winners=grown.ascent.winners,
        tol=effort.tol,
        max_iter=effort.max_iter,
        threads=threads,
        tuning=tuning,
    )

    trace = np.append(grown.ascent.trace, last.trace)
    posterior = _with_empty(last.posterior, prior, 1) if learned and not full else last.posterior
    best = replace(last, posterior=posterior, trace=trace)
    return Found(best, [trace], grown.history, grown.sweeps + last.trace.size, full)


def _with_empty(posterior: Posterior, prior: Prior, count: int) -> Posterior:
    """Return the posterior with so many empty novel components more."""
    empty = prior.components.reordered(np.full(count, prior.known))
    return Posterior(stacked(posterior.components, empty), posterior.weights)


def _climb(
    rows: Rows, prior: Prior, effort: Effort, progress: Progress | None, starts: list[Start], tuning: SearchTuning
) -> list[Ascent]:
    """Return where each start leads; workers go to starts, then to the rows of each."""
    workers = effective_n_jobs(effort.jobs)
    threads = max(1, workers // len(starts))
    sweeps = 0

    def heard(_sweep: int, bound: float) -> None:
        nonlocal sweeps
        sweeps += 1
        if progress is not None:
            progress(sweeps, prior.novel, bound)

    def climb(start: Start) -> Ascent:
        return ascend(
            rows,
            prior,
            start(),
            tol=effort.tol,
            max_iter=effort.max_iter,
            threads=threads,
            progress=heard,
            tuning=tuning,
        )

    return list(Parallel(n_jobs=workers, prefer="threads")(delayed(climb)(start) for start in starts))
