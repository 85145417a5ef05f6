"""The prior: what stage 1 says about the known classes, and what a class nobody has seen may look like."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vbrand.model.components import Components
from vbrand.model.roots import symmetric_roots
from vbrand.model.weights import Weights
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Prior:
    """Beliefs about J known and at most T novel components before the unlabelled rows are seen.

    Novel components may be fewer than the T places for them: the other places are empty and cost nothing, yet the
    sticks count them, so that bounds compare whatever the number of components.
    """

    components: Components  # J known ones, then copies of the base measure, one for each novel component
    weights: Weights
    class_of: IntArray  # (J,) which known class a known component means

    @property
    def known(self) -> int:
        """Return J, the number of known components."""
        return self.weights.known

    @property
    def novel(self) -> int:
        """Return T, the largest number of novel components."""
        return self.weights.novel

    @property
    def opened(self) -> int:
        """Return the number of novel components that there are."""
        return self.components.dof.size - self.known

    @property
    def meaning(self) -> IntArray:
        """Return the known class of each component, -1 for novelty, (K,)."""
        return np.append(self.class_of, np.full(self.opened, -1))

    @cached_property
    def unit(self) -> FloatArray:
        """Return what leads to units of the base measure: where rows of a class are about as wide in all directions.

        (p, p): the symmetric root of its inverse scale.
        """
        return symmetric_roots(self.components.scale[self.known])[1]


def with_novelties(prior: Prior, opened: int) -> Prior:
    """Return the prior with so many novel components, of the same T places."""
    order = np.concatenate([np.arange(prior.known), np.full(opened, prior.known)])
    return replace(prior, components=prior.components.reordered(order))
