"""The posterior, how it scores rows, and the bound by named terms."""

import math
from collections import namedtuple
from dataclasses import dataclass, fields

import numpy as np

from vbrand.compiling import jit_both_ways, jit_small, numbers
from vbrand.model.components import Components, posterior_from
from vbrand.model.kernels import score_of
from vbrand.model.levels import diverge_levels, level_scores
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.model.sticks import diverge_dirichlet, diverge_sticks, log_weights
from vbrand.model.weights import Weights, weights_from
from vbrand.model.wishart import diverge, hidden_distance, log_precisions
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
    noise: FloatArray | None = None  # (p,) what rounding hides in each column: rows with missing cells ask for it
    levels: FloatArray | None = None  # (K, L + 1) what each level of a category adds; nothing for no level, the last


# components, their roots and weights as compiled formulas take them
Belief = namedtuple("Belief", ["components", "roots", "weights"])
# RowScores as compiled loops take them
Scores = namedtuple("Scores", ["centre", "root", "constant", "kind", "tail", "power"])


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


BOUND_TERMS = len(fields(Bound))


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
    kind, shape = components.codes
    scores = room_for_scores(kind, components.columns, components.columns)
    score_components(components.wisharts, components.roots, posterior.weights.sticks, shape, scores)
    noise = None if components.noise is None else np.array(np.diagonal(components.noise))
    levels = None if components.levels is None else level_scores(components.levels)
    return RowScores(**scores._asdict(), noise=noise, levels=levels)


def room_for_scores(kind: IntArray, p: int, side: int) -> Scores:
    """Return room for the scores of components with these kernels, roots filled up with zeros to so many columns."""
    count = kind.size
    centre, root = np.empty((count, p)), np.zeros((count, side, side))
    return Scores(
        centre=centre, root=root, constant=np.empty(count), kind=kind, tail=np.empty(count), power=np.empty(count)
    )


@jit_both_ways
def score_components(components, roots, weights, shape, scores):  # type: ignore[no-untyped-def]
    """Store what makes a score of a row."""
    centre, root, constant, kind, tail, power = scores
    p = centre.shape[1]
    log_precisions(components.precision, components.dof, roots.log_determinant, p, tail)
    log_weights(weights, power)
    for k in range(constant.size):
        fixed = math.isinf(components.precision[k])
        # (5.13) 1/2 [-p log 2 pi + E log|Sigma^-1|] + g(delta),  (5.18) + E log w_k
        constant[k] = 0.5 * (tail[k] - p * math.log(2.0 * math.pi)) + power[k]
        # (5.12) delta = u (y - m)' S^-1 (y - m) + p / l + u tr(S^-1 D);  for a point mass u is 1 and S is Psi
        for i in range(p):
            centre[k, i] = components.mean[k, i]
        times = 1.0 if fixed else components.dof[k]
        around = p / components.precision[k] + times * hidden_distance(components.noise, roots.inverse[k])
        own, tail[k], power[k] = score_of(kind[k], shape[k], around, p)
        constant[k] += own
        size = math.sqrt(times)
        for i in range(p):
            to, row = root[k, i], roots.inverse[k, i]
            for j in range(p):
                to[j] = size * row[j]


def bound_of(prior: Prior, posterior: Posterior, evidence: float) -> Bound:
    """Return the bound for rows shared out best, of which `evidence` is the sum of log-sum-exp scores."""
    terms = np.empty(BOUND_TERMS)
    bound_terms(
        Belief(prior.components.wisharts, prior.components.roots, prior.weights.sticks),
        Belief(posterior.components.wisharts, posterior.components.roots, posterior.weights.sticks),
        evidence,
        terms,
    )
    own, before = posterior.components.levels, prior.components.levels
    if own is not None and before is not None:
        apart = diverge_levels(own, before)
        terms[3:] -= apart[: prior.known].sum(), apart[prior.known :].sum()
    return Bound(*terms.tolist())


@jit_small
def bound_terms(prior, posterior, evidence, terms):  # type: ignore[no-untyped-def]
    """Store the parts of the bound."""
    apart = numbers(posterior.components.dof.size)
    diverge(posterior.components, posterior.roots, prior.components, prior.roots, apart)
    known = prior.weights.dirichlet.size - 1
    # (6.1)  sum_i sum_k phi_ik (score_ik - log phi_ik) - KL(pi) - KL(sticks) - sum_k KL(component k)
    # (6.2)  of which the first part is sum_i LSE_k score_ik
    terms[0] = evidence
    terms[1] = -diverge_dirichlet(posterior.weights.dirichlet, prior.weights.dirichlet)
    terms[2] = -diverge_sticks(posterior.weights, prior.weights)
    terms[3], terms[4] = 0.0, 0.0
    for k in range(apart.size):
        terms[3 if k < known else 4] -= apart[k]
