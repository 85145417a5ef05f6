"""The posterior, how it scores rows, and the bound by named terms."""

from dataclasses import dataclass

import numpy as np

from vbrand.model.components import Components, divergence, expected_log_precision, posterior_from
from vbrand.model.kernels import components_by_kernel
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.model.weights import Weights, dirichlet_divergence, expected_log_weights, stick_divergence, weights_from
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Posterior:
    """What is believed after the rows were seen: the factors (5.1) of all but the rows' own unknowns."""

    components: Components
    weights: Weights


@dataclass(frozen=True)
class RowScores:
    """What the kernel needs to score a row y in component k, at the distance D = |root_k (y - centre_k)|^2.

    constant_k - D / 2 for a Gaussian; constant_k - power_k log(1 + D / tail_k) for a Student t, and such a row weighs
    2 power_k / (tail_k + D) in mean and scatter. Another kernel makes of tail and power what its own loop says.
    """

    centre: FloatArray  # (K, p)
    root: FloatArray  # (K, p, p) lower triangular
    constant: FloatArray  # (K,)
    kind: IntArray  # (K,) the code of the kernel
    tail: FloatArray  # (K,)
    power: FloatArray  # (K,)


@dataclass(frozen=True)
class Bound:
    """The evidence lower bound and its parts, every constant kept."""

    rows: float  # sum over rows of log sum_k exp(score)
    dirichlet: float  # minus KL of the weights of known components and novelty
    sticks: float  # minus KL of the weights within novelty
    known: float  # minus KL of the known components
    novel: float  # minus KL of the novel components

    @property
    def total(self) -> float:
        """Return the bound."""
        return self.rows + self.dirichlet + self.sticks + self.known + self.novel


def updated(prior: Prior, statistics: Statistics) -> Posterior:
    """Return the best posterior for rows shared out as in the statistics."""
    return Posterior(
        posterior_from(prior.components, statistics),
        weights_from(prior.weights, statistics.counts),
    )


def before_rows(prior: Prior) -> Posterior:
    """Return the prior as a posterior."""
    return Posterior(prior.components, prior.weights)


def scores_of(posterior: Posterior) -> RowScores:
    """Return E log w_k + E log N(y | mu_k, Sigma_k / tau), tau at its optimum, as a function of y."""
    components = posterior.components
    p = components.columns
    rows_behind = np.where(components.fixed, 1.0, components.dof)
    # (5.12)  delta = E (y - mu)' Sigma^-1 (y - mu) = u (y - m)' S^-1 (y - m) + p / l
    around = p / components.precision
    kind = np.empty(around.size, dtype=np.int64)
    own, tail, power = np.empty((3, around.size))
    for kernel, at in components_by_kernel(components.kernels).items():
        kind[at] = kernel.code
        own[at], tail[at], power[at] = kernel.score(around[at], p)

    # (5.13)  1/2 [-p log 2 pi + E log|Sigma^-1|] + g(delta)
    constant = 0.5 * (-p * np.log(2.0 * np.pi) + expected_log_precision(components)) + own
    return RowScores(
        centre=components.mean,
        root=np.sqrt(rows_behind)[:, None, None] * components.inverse_factor,
        constant=constant + expected_log_weights(posterior.weights)[: constant.size],
        kind=kind,
        tail=tail,
        power=power,
    )


def bound_of(prior: Prior, posterior: Posterior, evidence: float) -> Bound:
    """Return the bound for rows shared out best, of which `evidence` is the sum of log-sum-exp scores."""
    # (6.1), (6.2)  sum_i LSE_k score_ik - KL(pi) - KL(sticks) - sum_k KL(component k)
    apart = divergence(posterior.components, prior.components)  # (K,)
    return Bound(
        rows=evidence,
        dirichlet=-dirichlet_divergence(posterior.weights, prior.weights),
        sticks=-stick_divergence(posterior.weights, prior.weights),
        known=-float(apart[: prior.known].sum()),
        novel=-float(apart[prior.known :].sum()),
    )
