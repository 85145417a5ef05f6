"""Which group of before is which group now: by the rows that they have in common."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from vbrand.estimators.fitted import Story
from vbrand.inference.batches import Further
from vbrand.types import FloatArray, IntArray

# of the rows of the smaller of two components; with fewer in common they are not the same group
_SAME = 0.5


@dataclass(frozen=True)
class Identity:
    """The numbers of components after a batch, and what became of groups that are none of them."""

    numbers: IntArray  # (K,) 0 for components that are no group of before
    rows: FloatArray  # (K,) of earlier batches that each holds
    merged: tuple[
        tuple[int, int], ...
    ]  # numbers of groups that are gone, and the component that has most of their rows


def identity(story: Story, further: Further, batch: int) -> Identity:
    """Return which component is which group of before; the first so many rows of the fit are those of the batch."""
    shared = _in_common(story, further, further.found.best.winners[batch:])
    class_of = np.append(further.prior.class_of, np.full(shared.shape[1] - further.prior.known, -1))
    old = np.flatnonzero(story.numbers > 0)
    new = np.flatnonzero((np.arange(class_of.size) >= story.known) & (class_of < 0))
    numbers = np.zeros(class_of.size, dtype=np.int64)

    common = shared[np.ix_(old, new)]
    size = np.minimum(shared[old].sum(axis=1)[:, None], shared.sum(axis=0)[new])
    common = np.where(common > _SAME * size, common, 0.0)
    first, second = linear_sum_assignment(-common)
    same = common[first, second] > 0.0
    numbers[new[second[same]]] = story.numbers[old[first[same]]]

    gone = np.setdiff1d(old, old[first[same]])
    merged = tuple((int(story.numbers[g]), int(shared[g].argmax())) for g in gone if shared[g].any())
    held = shared.sum(axis=0)
    return Identity(numbers, held, merged)


def _in_common(story: Story, further: Further, winners: NDArray[np.int32]) -> FloatArray:
    """Return the rows that each component of before and each of now have in common, (G, K)."""
    known, count = story.known, further.found.best.posterior.components.dof.size
    shared = np.zeros((story.class_of.size, count))
    at_home = story.homes >= 0
    np.add.at(shared, (story.homes[at_home], winners[at_home]), 1.0)

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
