"""Which group of before is which group now: by the rows that they have in common."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from vbrand.estimators.fitted import INSIDE, Story
from vbrand.inference.batches import Further
from vbrand.types import BoolArray, FloatArray, IntArray

# of the rows of the smaller of two components; with fewer in common they are not the same group
_SAME = 0.5


@dataclass(frozen=True)
class Identity:
    """The numbers of components after a batch, and what became of groups that are none of them."""

    numbers: IntArray  # (K + 1,) 0 for components that are no group of before; last that of novelty among known ones
    rows: FloatArray  # (K,) of earlier batches that each holds
    merged: tuple[
        tuple[int, int], ...
    ]  # numbers of groups that are gone, and the component that has most of their rows
    inside: BoolArray  # (n,) rows of the fit that are novelty among the known components
    out_of: IntArray  # (K,) the component of before that most earlier rows of each were in; -1 for none or a known one


def identity(story: Story, further: Further, inside: BoolArray) -> Identity:
    """Return which component is which group of before; the last rows of the fit are those of the window.

    Rows that are novel but `inside` known components are a group as well, which may become a component, or be one of
    before.
    """
    shared = _in_common(story, further, inside)
    count = shared.shape[1] - 1
    class_of = np.append(further.prior.class_of, np.full(count + 1 - further.prior.known, -1))
    before = np.append(story.numbers, story.inside)
    old = np.flatnonzero(before > 0)
    new = np.flatnonzero((np.arange(count + 1) >= story.known) & (class_of < 0))
    numbers = np.zeros(count + 1, dtype=np.int64)

    common = shared[np.ix_(old, new)]
    size = np.minimum(shared[old].sum(axis=1)[:, None], shared.sum(axis=0)[new])
    common = np.where(common > _SAME * size, common, 0.0)
    first, second = linear_sum_assignment(-common)
    same = common[first, second] > 0.0
    numbers[new[second[same]]] = before[old[first[same]]]
    if numbers[-1] == 0 and story.inside not in numbers:
        numbers[-1] = story.inside

    gone = np.setdiff1d(old[old < story.numbers.size], old[first[same]])
    merged = tuple((int(before[g]), int(shared[g, :-1].argmax())) for g in gone if shared[g, :-1].any())
    return Identity(numbers, shared[:, :-1].sum(axis=0), merged, inside, _out_of(story, shared[:-1, :-1], further))


def _out_of(story: Story, shared: FloatArray, further: Further) -> IntArray:
    """Return the component of before that most earlier rows of each were in, given the rows in common, (G, K)."""
    if story.class_of.size == 0:
        return np.full(shared.shape[1], -1)
    winners = further.found.best.winners
    held = np.bincount(winners[winners.size - story.homes.size :], minlength=shared.shape[1])
    return np.where(shared.max(axis=0) > _SAME * held, shared.argmax(axis=0), -1)


def _in_common(story: Story, further: Further, inside: BoolArray) -> FloatArray:
    """Return the rows that each component of before and each of now have in common, (G + 1, K + 1).

    The last ones are those of novelty among the known components.
    """
    known, count = story.known, further.found.best.posterior.components.dof.size
    shared = np.zeros((story.class_of.size + 1, count + 1))
    window = slice(inside.size - story.homes.size, None)
    now = np.where(inside[window], count, further.found.best.winners[window])
    at_home = story.homes != -1
    then = np.where(story.homes == INSIDE, story.class_of.size, story.homes)
    np.add.at(shared, (then[at_home], now[at_home]), 1.0)

    earlier = further.earlier
    assert earlier is not None
    place = {int(origin): known + k for k, origin in enumerate(earlier.origin)}
    into = {gone - known: first for first, gone in further.merged}
    for g in range(story.class_of.size):
        last = g
        while last in into and into[last] >= known:
            last = into[last] - known
        to = into[last] if last in into else place.get(last)
        if to is not None:
            shared[g, to] += story.taught.counts[known + g]
    return shared
