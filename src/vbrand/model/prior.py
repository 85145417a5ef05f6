"""The prior: what stage 1 says about the known classes, and what a class nobody has seen may look like."""

from dataclasses import dataclass, replace

import numpy as np

from vbrand.model.components import Components
from vbrand.model.weights import Weights, prior_weights
from vbrand.robust.classes import KnownClasses
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
    def classes(self) -> int:
        """Return the number of known classes."""
        return int(self.class_of.max()) + 1 if self.class_of.size else 0


def with_novelties(prior: Prior, opened: int) -> Prior:
    """Return the prior with so many novel components, of the same T places."""
    order = np.concatenate([np.arange(prior.known), np.full(opened, prior.known)])
    return replace(prior, components=prior.components.reordered(order))


@dataclass(frozen=True)
class Beliefs:
    """The hyperparameters in words; None stands for the default that `elicit` derives from the known classes."""

    known_mean_strength: float | None = None  # lambda: rows that the centre of a class is worth
    known_scatter_strength: float | None = None  # nu - p - 1: rows that its scatter is worth
    known_scatter_factor: float = 1.0  # times the robust scatter
    known_weight: float = 1.0  # alpha_j
    novel_weight: float = 1.0  # alpha_0
    novel_mean: FloatArray | None = None  # mu_0, (p,)
    novel_mean_strength: float = 0.01  # lambda_0
    novel_dof: float | None = None  # nu_0
    novel_scale: FloatArray | None = None  # Psi_0, (p, p)
    concentration: float = 1.0  # gamma


# a novel class is believed to be about as large as a known one, with the confidence of so many rows
_NOVEL_DOF_ABOVE_COLUMNS = 30.0


def elicit(known: KnownClasses, beliefs: Beliefs, novel: int, *, update_known: bool = True) -> Prior:
    """Return the prior for these known classes and at most `novel` novel components.

    Without `update_known` the known classes are point masses at their robust centre and scatter.
    """
    own = _known_components(known, beliefs) if update_known else _point_masses(known, beliefs)
    base = base_measure(known, beliefs)
    dirichlet = np.append(np.full(known.labels.size, beliefs.known_weight), beliefs.novel_weight)
    return Prior(
        components=stacked(own, base.reordered(np.zeros(novel, dtype=np.int64))),
        weights=prior_weights(dirichlet, beliefs.concentration, novel),
        class_of=np.arange(known.labels.size),
    )


def base_measure(known: KnownClasses, beliefs: Beliefs) -> Components:
    """Return one component: what a class that nobody has seen may look like."""
    p = known.centres.shape[1]
    dof = beliefs.novel_dof
    if dof is None:
        # never more than for a known class: its tail would end before theirs, and far rows would count as known
        strength = float(known.rows.min()) if beliefs.known_scatter_strength is None else beliefs.known_scatter_strength
        dof = p + min(_NOVEL_DOF_ABOVE_COLUMNS, strength + 1.0)
    mean = np.average(known.centres, axis=0, weights=known.rows) if beliefs.novel_mean is None else beliefs.novel_mean
    scale = beliefs.novel_scale
    if scale is None:
        # E[Sigma] = Psi_0 / (nu_0 - p - 1) is the average scatter of a known class
        scale = max(dof - p - 1.0, 1.0) * np.average(known.scatters, axis=0, weights=known.rows)
    return Components(mean[None], np.array([beliefs.novel_mean_strength]), np.array([dof]), scale[None])


def stacked(first: Components, second: Components) -> Components:
    """Return the components of both."""
    return Components(
        mean=np.concatenate([first.mean, second.mean]),
        precision=np.concatenate([first.precision, second.precision]),
        dof=np.concatenate([first.dof, second.dof]),
        scale=np.concatenate([first.scale, second.scale]),
    )


def shrunk_scatters(known: KnownClasses) -> FloatArray:
    """Return the scatters of the classes, drawn to their average as if so many rows of an average class were added.

    Known classes are of one kind with novel ones, of which the base measure says the same. Where rows are few for
    their columns a class's own scatter is too tight, and its next rows would look novel.
    """
    own = (known.rows / (known.rows + _NOVEL_DOF_ABOVE_COLUMNS - 1.0))[:, None, None]
    return np.asarray(own * known.scatters + (1.0 - own) * np.average(known.scatters, axis=0, weights=known.rows))


def _known_components(known: KnownClasses, beliefs: Beliefs) -> Components:
    classes, p = known.centres.shape
    own_rows = known.rows.astype(np.float64)  # by default a class is worth the rows it was learned from
    mean_strength, scatter_strength = (
        own_rows if strength is None else np.full(classes, strength)
        for strength in (beliefs.known_mean_strength, beliefs.known_scatter_strength)
    )
    scatters = known.scatters if beliefs.known_scatter_strength is not None else shrunk_scatters(known)
    # Psi = (nu - p - 1) scatter, so that E[Sigma] is the robust scatter
    scale = (beliefs.known_scatter_factor * scatter_strength)[:, None, None] * scatters
    return Components(known.centres, mean_strength, scatter_strength + p + 1.0, scale)


def _point_masses(known: KnownClasses, beliefs: Beliefs) -> Components:
    classes, p = known.centres.shape
    scatters = beliefs.known_scatter_factor * known.scatters
    return Components(known.centres, np.full(classes, np.inf), np.full(classes, p + 2.0), scatters)
