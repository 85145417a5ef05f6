"""Where rows stand: shares of the components of a fit, and how unlike the labelled rows they are."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from vbrand.model.components import Components
from vbrand.model.predictive import log_component_densities
from vbrand.model.prior import Prior
from vbrand.samples import parts_of
from vbrand.sums import log_sum
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Labelled:
    """The known classes as the labelled rows alone show them."""

    components: Components  # (K,) with their prior strengths
    log_weights: FloatArray  # (K,) log share of the labelled rows that each holds
    class_of: IntArray  # (K,)

    def log_parts(self, rows: FloatArray) -> FloatArray:
        """Return the log density of rows in working coordinates jointly with each class, (n, J)."""
        parts = self.log_weights + log_component_densities(rows, self.components)
        return by_class(parts, self.class_of)


@dataclass(frozen=True)
class Standing:
    """What a fit and the labelled rows say of some rows."""

    log_shares: FloatArray  # (n, K) log probabilities of the components of the fit
    log_labelled: FloatArray  # (n, J) log probabilities of the known classes by the labelled rows alone
    unlike: FloatArray  # (n,) log of the density by the fit over that by the labelled rows
    order: FloatArray  # (n,) what the cells of a component are cut by: that, or what trees say

    def some(self, rows: slice) -> "Standing":
        """Return where some of the rows stand."""
        return Standing(*(part[rows] for part in _arrays(self)))


def labelled_view(prior: Prior, rows: IntArray) -> Labelled:
    """Return the known classes of a prior, whose components hold so many labelled rows each; groups are none."""
    known = np.flatnonzero(prior.class_of >= 0)
    return Labelled(prior.components.reordered(known), np.log(rows / rows.sum()), np.asarray(prior.class_of[known]))


def standing_of(log_parts: FloatArray, log_labelled: FloatArray, usual: FloatArray | None = None) -> Standing:
    """Return where rows stand, given log densities jointly with components, (n, K), and with known classes, (n, J).

    `usual` are those with the weights that components have without hidden rows, if there are any.
    """
    fit, labels = log_sum(log_parts, axis=1), log_sum(log_labelled, axis=1)
    # (9.1)  u(y) = log p(y | fit) - log p(y | labelled rows)
    unlike = (fit if usual is None else log_sum(usual, axis=1)) - labels
    return Standing(log_parts - fit[:, None], log_labelled - labels[:, None], unlike, unlike)


def standing_by_parts(
    rows: FloatArray, of: Callable[[FloatArray], Standing], room: Callable[[tuple[int, ...]], FloatArray]
) -> Standing:
    """Return where rows stand, some of them at a time; `room` makes arrays for the answer, in memory or elsewhere."""
    found: Standing | None = None
    for part in parts_of(rows):
        own = of(rows[part])
        if found is None:
            found = Standing(*(room((rows.shape[0], *each.shape[1:])) for each in _arrays(own)))
        for whole, each in zip(_arrays(found), _arrays(own), strict=True):
            whole[part] = each
    return of(rows) if found is None else found


def _arrays(standing: Standing) -> list[FloatArray]:
    return [getattr(standing, each.name) for each in fields(standing)]


def by_class(log_parts: FloatArray, class_of: IntArray) -> FloatArray:
    """Return the sums over the components of each class, (n, J), of numbers given as logarithms, (n, K)."""
    by_class = (np.flatnonzero(class_of == j) for j in range(int(class_of.max()) + 1))
    return np.stack([_sum(log_parts, own) for own in by_class], axis=1)


def _sum(log_parts: FloatArray, chosen: IntArray) -> FloatArray:
    if chosen.size == 1:  # most classes: nothing to sum
        return log_parts[:, chosen[0]]
    return np.asarray(log_sum(log_parts[:, chosen], axis=1))
