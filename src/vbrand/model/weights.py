"""How likely each component is before its rows are seen: a Dirichlet, and sticks within its novel part.

pi ~ Dirichlet(alpha_1..alpha_J, alpha_0),  v_t ~ Beta(1, gamma) for t < T, v_T = 1
w_j = pi_j for known components,  w_{J+t} = pi_0 v_t prod_{s<t} (1 - v_s) for novel ones

The concentration gamma is a number, or has a Gamma(shape, rate) hyperprior and a variational factor of that kind. Then
only the first L sticks, those of novel components that there are, have factors of their own; the others follow
p(v | gamma) and drop out of the bound, so that the answer does not depend on T.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from vbrand.compiling import from_python, plain
from vbrand.model import sticks as formulas
from vbrand.model.sticks import Sticks
from vbrand.types import FloatArray, IntArray

_log_weights = from_python(formulas.log_weights)
_diverge_dirichlet = from_python(formulas.diverge_dirichlet)
_diverge_sticks = from_python(formulas.diverge_sticks)
_explain_counts = from_python(formulas.explain_counts)


@dataclass(frozen=True)
class Weights:
    """Dirichlet over known components and novelty (last), Beta sticks over novel components."""

    dirichlet: FloatArray  # (J + 1,) eta; the last entry is novelty
    broken: FloatArray  # (T - 1,) a: the part of a stick that is kept
    passed: FloatArray  # (T - 1,) b: the part that is passed on
    concentration: tuple[float, float] | None = None  # shape and rate of the Gamma; None where gamma is a number

    @property
    def known(self) -> int:
        """Return J."""
        return self.dirichlet.size - 1

    @property
    def novel(self) -> int:
        """Return T."""
        return self.broken.size + 1

    @cached_property
    def sticks(self) -> Sticks:
        """Return the weights as compiled formulas take them, which only read them."""
        concentration = np.zeros(2) if self.concentration is None else np.array(self.concentration, dtype=np.float64)
        return Sticks(plain(self.dirichlet), plain(self.broken), plain(self.passed), concentration)


def prior_weights(dirichlet: FloatArray, concentration: float | tuple[float, float], novel: int) -> Weights:
    """Return the prior: a Dirichlet, and T - 1 sticks Beta(1, gamma), gamma a number or Gamma(shape, rate)."""
    # (2.1), (2.2), (2.4)  pi ~ Dirichlet(alpha),  v_t ~ Beta(1, gamma),  gamma ~ Gamma(s1, rate s2): E[gamma] = s1 / s2
    if isinstance(concentration, tuple):
        shape, rate = concentration
        return Weights(dirichlet, np.ones(novel - 1), np.full(novel - 1, shape / rate), (shape, rate))
    return Weights(dirichlet, np.ones(novel - 1), np.full(novel - 1, concentration))


def weights_from(prior: Weights, counts: FloatArray) -> Weights:
    """Return the best weights for components that hold these many rows; places beyond them hold none."""
    posterior = sticks_like(prior)
    formulas.settle(prior.sticks, np.ascontiguousarray(counts), posterior)
    return weights_of(posterior)


def copied(sticks: Sticks) -> Sticks:
    """Return the same where it may be overwritten."""
    return Sticks(*(part.copy() for part in sticks))


def sticks_like(weights: Weights) -> Sticks:
    """Return room for weights such as these."""
    return Sticks(
        np.empty(weights.dirichlet.size), np.empty(weights.broken.size), np.empty(weights.passed.size), np.zeros(2)
    )


def weights_of(sticks: Sticks) -> Weights:
    """Return what compiled formulas have stored."""
    shape, rate = sticks.concentration.tolist()
    learned = shape > 0.0
    return Weights(sticks.dirichlet, sticks.broken, sticks.passed, (shape, rate) if learned else None)


def expected_log_weights(weights: Weights) -> FloatArray:
    """Return E log w_k of every place, (J + T,)."""
    result = np.empty(weights.known + weights.novel)
    _log_weights(weights.sticks, result)
    return result


def log_expected_weights(weights: Weights) -> FloatArray:
    """Return log E w_k of every place, (J + T,); the E w_k sum to 1."""
    # (2.3), (8.1)  E w_{J+t} = eta_0 / sum eta  E v_t prod_{s < t} E(1 - v_s),  E v = a / (a + b)
    total = np.log(weights.broken + weights.passed)
    kept = np.append(np.log(weights.broken) - total, 0.0)  # log E v_t
    left = np.append(0.0, np.cumsum(np.log(weights.passed) - total))  # sum_{s < t} log E(1 - v_s)
    dirichlet = np.log(weights.dirichlet) - np.log(weights.dirichlet.sum())
    return np.concatenate([dirichlet[:-1], dirichlet[-1] + kept + left])


def dirichlet_divergence(posterior: Weights, prior: Weights) -> float:
    """Return KL(Dir(eta) || Dir(alpha))."""
    return float(_diverge_dirichlet(np.array(posterior.dirichlet), np.array(prior.dirichlet)))


def stick_divergence(posterior: Weights, prior: Weights) -> float:
    """Return the sum over sticks of KL(Beta(a, b) || Beta(1, gamma)), and that of gamma where it has a factor."""
    return float(_diverge_sticks(posterior.sticks, prior.sticks))


def best_stick_order(prior: Weights, counts: FloatArray) -> IntArray:
    """Return the order of all components that puts novel ones largest first, where that raises the bound."""
    stays = np.arange(counts.size)
    largest_first = np.append(stays[: prior.known], prior.known + np.argsort(-counts[prior.known :], kind="stable"))
    if (largest_first == stays).all():
        return stays
    before, after = weights_evidence(prior, counts[np.stack([stays, largest_first])])
    return largest_first if after > before else stays


def weights_evidence(prior: Weights, counts: FloatArray) -> Any:
    """Return what the weights add to the bound at their optimum, for components that hold these many rows.

    Of several ways to hold them, (m, K), one number each, (m,).
    """
    ways = np.ascontiguousarray(np.atleast_2d(counts))
    result = np.empty(ways.shape[0])
    _explain_counts(prior.sticks, ways, sticks_like(prior), result)
    return result if counts.ndim == 2 else float(result[0])


def log_split_odds(
    first: int, second: int, concentration: float, alphas: tuple[float, float] | None, novel: int
) -> float:
    """Return log of the odds of a split into so many rows against the merged partition, pi and sticks integrated out.

    The second part is a novel cluster, and so is the first one unless `alphas` gives the Dirichlet weights of its known
    component and of novelty. `novel` counts the novel rows of the merged partition.
    """
    # (10.8), (10.9)  a cluster: gamma G(N_b), and beside a novel one G(N_a) / G(N_a + N_b)
    odds = np.log(concentration) + gammaln(second)
    if alphas is None:
        return float(odds + gammaln(first) - gammaln(first + second))
    # (10.10)  from a known class: G(alpha_k + N_a) / G(alpha_k + N_a + N_b), G(alpha_0 + N + N_b) / G(alpha_0 + N), and
    # G(gamma + N) / G(gamma + N + N_b)
    alpha, alpha_novel = alphas
    return float(
        odds
        + gammaln(alpha + first)
        - gammaln(alpha + first + second)
        + gammaln(alpha_novel + novel + second)
        - gammaln(alpha_novel + novel)
        + gammaln(concentration + novel)
        - gammaln(concentration + novel + second)
    )
