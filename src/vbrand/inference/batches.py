"""The fit of a batch after others: the search goes on from what they taught; groups that prove to be one are merged.

Births and merges of what is new are moves of the search. Two groups of earlier batches are judged by their statistics:
the rows are gone.
"""

from dataclasses import dataclass, replace

import numpy as np

from vbrand.inference.cavi import Ascent
from vbrand.inference.growth import Progress
from vbrand.inference.kernel import sweep
from vbrand.inference.moves import merges
from vbrand.inference.rows import Rows
from vbrand.inference.search import Effort, Found, find
from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.model.earlier import informed
from vbrand.model.posterior import Posterior, scores_of
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics, joined, nothing_about
from vbrand.threads import one_thread
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Earlier:
    """What earlier batches taught: the known components of the prior, then those that were found since."""

    taught: Statistics  # (J + G,)
    class_of: IntArray  # (G,) the class that each one found since means, -1 for groups
    origin: IntArray  # (G,) its number among those that the batch began with

    def prior(self, prior: Prior) -> Prior:
        """Return the prior of the batch, given that of stage 1."""
        return informed(prior, self.taught, self.class_of)

    def known(self, prior: Prior) -> Prior:
        """Return the prior of stage 1, with components that were found since beside it: batches did not change it."""
        nothing = self.taught.reordered(np.arange(prior.known)).scaled(0.0)
        return informed(prior, joined([nothing, self._found_since(prior.known)]), self.class_of)

    def of_components(self, kept: IntArray, known: int) -> "Earlier":
        """Return the same where only some of the components of stage 1 are left."""
        return replace(self, taught=joined([self.taught.reordered(kept), self._found_since(known)]))

    def _found_since(self, known: int) -> Statistics:
        return self.taught.reordered(np.arange(known, self.taught.counts.size))


@dataclass(frozen=True)
class Further:
    """Where the fit of a batch ended."""

    found: Found
    prior: Prior  # of the batch
    earlier: Earlier | None = None  # as it is after merges; None where there were no batches before
    merged: tuple[tuple[int, int], ...] = ()  # components that became one, as the batch began with them: into, gone


def find_further(
    rows: Rows,
    prior: Prior,
    earlier: Earlier,
    effort: Effort,
    generator: np.random.Generator,
    *,
    batch: int | None = None,
    component: IntArray | None = None,
    progress: Progress | None = None,
    tuning: SearchTuning = TUNED,
) -> Further:
    """Return the best fit of the rows of a batch; `prior` is that of stage 1, before any batch.

    The first so many rows are those of the `batch`, if others of before are still at hand: what has just appeared shows
    among them, and would be hard to see among all. `component` gives a start for each row instead of a search.
    """
    merged, hint = list[tuple[int, int]](), None
    while True:
        own = earlier.prior(prior)
        if hint is None and batch is not None and batch < len(rows) and component is None and effort.search == "moves":
            hint = _of_batch(rows, batch, own, effort, generator, tuning)
        found = find(rows, own, effort, generator, component=component, progress=progress, tuning=tuning, hint=hint)
        pair = same_group(prior, earlier, found.best)
        if pair is None:
            return Further(found, own, earlier, tuple(merged))
        numbers = np.append(np.arange(prior.known), prior.known + earlier.origin)
        merged.append((int(numbers[pair[0]]), int(numbers[pair[1]])))
        earlier = _together(prior, earlier, *pair)


def _of_batch(
    rows: Rows, batch: int, prior: Prior, effort: Effort, generator: np.random.Generator, tuning: SearchTuning
) -> IntArray:
    """Return the novel component that each row of a batch has if it is looked at alone, -1 for none and other rows."""
    alone = find(replace(rows, table=rows.table[:batch]), prior, effort, generator, tuning=tuning).best
    number = alone.winners.astype(np.int64) - prior.known
    large = np.flatnonzero(np.bincount(number[number >= 0]) >= tuning.fewest_rows)
    hint = np.full(len(rows), -1)
    hint[:batch] = np.where(np.isin(number, large), number, -1)
    return hint


def same_group(prior: Prior, earlier: Earlier, fit: Ascent) -> tuple[int, int] | None:
    """Return the group of earlier batches that had better be part of another component, which comes first, if any."""
    count = earlier.taught.counts.size
    everything = with_earlier(earlier.taught, fit.statistics)
    means = np.append(np.full(prior.known, 0), earlier.class_of)  # -1: may go
    for merge in merges(prior, replace(fit, statistics=everything)):
        into, gone = merge.parts
        if merge.hope <= 0.0:
            return None
        if gone < count and means[gone] >= 0 and into >= prior.known:
            into, gone = gone, into
        if max(into, gone) < count and gone >= prior.known and means[gone] < 0:
            return into, gone
    return None


def with_earlier(taught: Statistics, now: Statistics) -> Statistics:
    """Return the statistics of a batch, (K,), with those of earlier ones added to its first components."""
    count = taught.counts.size
    first, rest = now.reordered(np.arange(count)), now.reordered(np.arange(count, now.counts.size))
    # (14.4)  of all batches: N, R, s and Q are sums over them
    return joined([taught.about(first.origin) + first, rest])


def _together(prior: Prior, earlier: Earlier, into: int, gone: int) -> Earlier:
    """Return what earlier batches taught, one component part of another."""
    taught, count = earlier.taught, earlier.taught.counts.size
    one = taught.reordered(np.array([into]))
    both = one + taught.reordered(np.array([gone])).about(one.origin)
    order = np.delete(np.where(np.arange(count) == into, count, np.arange(count)), gone)
    place = gone - prior.known
    return Earlier(
        joined([taught, both]).reordered(order),
        np.delete(earlier.class_of, place),
        np.delete(earlier.origin, place),
    )


def statistics_in(rows: FloatArray, posterior: Posterior) -> Statistics:
    """Return the statistics of some rows in working coordinates, shared out by a posterior."""
    if rows.shape[0] == 0:
        return nothing_about(posterior.components.mean)
    with one_thread():
        levels = posterior.components.levels
        own = Rows.plain(rows, () if levels is None else levels.sizes)
        return sweep(own, scores_of(posterior)).statistics
