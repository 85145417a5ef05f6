"""Fits with some labelled rows hidden among the unlabelled ones, to see where they end up.

Each starts at the fit with all labels, so that components keep their places, and stage 1 forgets the hidden rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.moves import without
from vbrand.inference.rows import FARTHEST, Rows
from vbrand.model.components import stacked
from vbrand.model.posterior import Posterior, updated
from vbrand.model.predictive import log_component_densities, log_component_weights
from vbrand.model.prior import Prior, with_novelties
from vbrand.samples import evenly
from vbrand.stage1.lessons import Witnesses
from vbrand.threads import one_thread
from vbrand.trust.standing import Labelled, Standing, standing_by_parts, standing_of
from vbrand.trust.tuning import CheckTuning
from vbrand.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Relearned:
    """The known classes without some witnesses."""

    prior: Prior
    labelled: Labelled
    kept: IntArray  # (K,) which of the known components with all witnesses they are


# witnesses to hide -> the known classes without them
Relearn = Callable[[BoolArray], Relearned]


@dataclass(frozen=True)
class Case:
    """A fit with all labels, and what it was fitted to."""

    rows: FloatArray  # (n, p) unlabelled ones, in working coordinates; of many an even sample
    fit: Ascent  # of them, shared out among components that have their statistics
    prior: Prior
    posterior: Posterior  # of the fit, with components that hold no rows, if any, last
    labelled: Labelled
    witnesses: Witnesses
    relearn: Relearn
    sampled: IntArray  # (n,) which of all unlabelled rows they are
    jobs: int | None = None
    own_axes: bool = False  # whether columns are components of the labelled rows, which fit these better than others
    taught: tuple[int, ...] = ()  # classes that a person has put groups into: labelled rows do not show all of them
    earlier: FloatArray | None = None  # (K,) rows of earlier batches that each component holds, if there were any
    last: int | None = None  # how many of the rows, the first, are of the last batch; None: there were none before
    room: Callable[[tuple[int, ...]], FloatArray] = np.zeros  # for what is kept of each fit: in memory, or on disk


@dataclass(frozen=True)
class Fold:
    """One fit with some witnesses hidden."""

    hidden: IntArray  # (h,) which witnesses
    class_of: IntArray  # (K,) of its components, -1 for novel ones
    unlabelled: Standing
    witnesses: Standing


def deal(
    witnesses: Witnesses, classes: int, most: int, folds: int, generator: np.random.Generator, tuning: CheckTuning
) -> IntArray:
    """Return the fold in which each witness is hidden, -1 for those that never are.

    About `most` rows are hidden in all, and of each class at least one per fold if there are so many. Rows are dealt
    out by chance, for what is left of a class must not make up for what is hidden; from the order of their sums, so
    that neither the order of rows and columns nor the names of classes matter.
    """
    fold = np.full(witnesses.member.size, -1)
    share = min(1.0, most / max(witnesses.member.size, 1))
    sums = np.nansum(witnesses.rows, axis=1)
    by_class = [np.flatnonzero(witnesses.member == j) for j in range(classes)]
    for own in sorted(by_class, key=lambda own: (own.size, float(sums[own].sum()))):
        if own.size < tuning.fewest_rows:
            continue
        ordered = own[np.argsort(sums[own], kind="stable")]
        chosen = ordered[evenly(own.size, max(folds, int(share * own.size)))]
        fold[chosen] = generator.permutation(np.arange(chosen.size) % folds)
    return fold


def hidden_fits(case: Case, fold: IntArray, tuning: CheckTuning) -> list[Fold]:
    """Return the fits with the witnesses of each fold hidden; workers go to folds and do not change the answer."""
    numbers = np.unique(fold[fold >= 0])
    with one_thread():
        doubted = _doubted(case, tuning)
        return list(
            Parallel(n_jobs=case.jobs, prefer="threads")(
                delayed(_hidden_fit)(case, np.flatnonzero(fold == number), doubted, tuning) for number in numbers
            )
        )


def _doubted(case: Case, tuning: CheckTuning) -> IntArray:
    """Return the novel components that fewer labels may make needless: without them the bound loses little.

    Little is what the search takes for chance when it goes on from a sample to all rows.
    """
    statistics = case.fit.statistics
    sizes = statistics.counts[case.prior.known :]
    part = with_novelties(case.prior, sizes.size)
    climb = _climb(case.rows, part, tuning)
    found = climb(part, updated(part, statistics), winners=case.fit.winners)
    loss = np.zeros(sizes.size)
    for t in range(sizes.size) if statistics.counts.size > 1 else ():
        loss[t] = found.bound.total - _fewer(climb, case.prior, found, case.prior.known + t).bound.total
    return case.prior.known + np.flatnonzero(loss <= tuning.much * np.sqrt(sizes))


def _climb(table: FloatArray, part: Prior, tuning: CheckTuning) -> Callable[..., Ascent]:
    levels = part.components.levels
    rows = Rows.plain(table, () if levels is None else levels.sizes)
    return partial(ascend, rows, tol=tuning.loose, max_iter=tuning.sweeps, sort=False)


def _fewer(climb: Callable[..., Ascent], prior: Prior, found: Ascent, k: int) -> Ascent:
    """Return where the ascent leads without component k, or where it was given up: far below."""
    statistics, winners = without(found.statistics, found.winners, [k])
    part = with_novelties(prior, statistics.counts.size - prior.known)
    return climb(part, statistics, winners=winners, beat=found.bound.total)


def _hidden_fit(case: Case, hidden: IntArray, doubted: IntArray, tuning: CheckTuning) -> Fold:
    out = np.zeros(case.witnesses.member.size, dtype=bool)
    out[hidden] = True
    known = case.relearn(out)
    statistics, count = case.fit.statistics, case.fit.statistics.counts.size

    # components that are left, in their order; rows of one that is gone look first at component 0
    order = np.concatenate([known.kept, np.arange(case.prior.known, count)])
    place = np.zeros(count, dtype=np.int32)
    place[order] = np.arange(order.size)
    part = with_novelties(known.prior, count - case.prior.known)
    table = np.vstack([case.rows, np.clip(case.witnesses.rows[hidden], -FARTHEST, FARTHEST)])
    climb = _climb(table, part, tuning)
    winners = np.append(place[case.fit.winners], np.zeros(hidden.size, dtype=np.int32))
    found = climb(part, updated(part, statistics.reordered(order)), winners=winners)
    found, needed = _without_needless(climb, known.prior, found, place[doubted].astype(np.int64), tuning)

    empty = case.posterior.components.dof.size - count
    base = known.prior.components.reordered(np.full(empty, known.prior.known))
    posterior = Posterior(stacked(found.posterior.components, base), found.posterior.weights)
    place_of = np.append(order, count + np.arange(empty))  # of components, in the fit with all labels
    there = np.append(needed, order.size + np.arange(empty))

    def stand(rows: FloatArray) -> Standing:
        densities = log_component_densities(rows, posterior.components)
        parts = _among(densities + log_component_weights(posterior), there, place_of.size)
        # hidden rows make their classes larger: how unlike a row is, is told with weights of the fit with all labels
        usual = densities + log_component_weights(case.posterior)[place_of[there]]
        return standing_of(parts, known.labelled.log_parts(rows), usual)

    # both kinds at once: what densities are made of is computed once
    every = standing_by_parts(table, stand, case.room)
    here = case.rows.shape[0]
    class_of = np.append(known.prior.class_of, np.full(place_of.size - known.prior.known, -1))
    return Fold(hidden, class_of, every.some(slice(here)), every.some(slice(here, None)))


def _without_needless(
    climb: Callable[..., Ascent], prior: Prior, found: Ascent, doubted: IntArray, tuning: CheckTuning
) -> tuple[Ascent, IntArray]:
    """Return the fit without those of the doubted components that the bound can do without, and which are left.

    The search gave birth to them where unlabelled rows happened to lie; hidden rows were not there. A class whose rows
    the component took gets them back in the folds in which it is not worth its price.
    """
    left = np.arange(found.statistics.counts.size)
    smallest_first = doubted[np.argsort(found.statistics.counts[doubted], kind="stable")]
    for name in smallest_first.tolist():
        k = int(np.searchsorted(left, name))
        fewer = _fewer(climb, prior, found, k)
        gain = fewer.bound.total - found.bound.total
        back = fewer.statistics.counts[: prior.known].sum() - found.statistics.counts[: prior.known].sum()
        # (9.22)  bound without the component > bound with it, and known ones get more than half of its rows back: two
        #         novel ones that become one say nothing of what is known
        if gain > tuning.loose * abs(found.bound.total) and 2.0 * back > found.statistics.counts[k]:
            found, left = fewer, left[left != name]
    return found, left


def _among(parts: FloatArray, places: IntArray, count: int) -> FloatArray:
    """Return log densities jointly with so many components, (n, K), of which only some are there."""
    every = np.full((parts.shape[0], count), -np.inf)
    every[:, places] = parts
    return every
