"""How likely each component is before its rows are seen: a Dirichlet, and sticks within its novel part.

pi ~ Dirichlet(alpha_1..alpha_J, alpha_0),  v_t ~ Beta(1, gamma) for t < T, v_T = 1
w_j = pi_j for known components,  w_{J+t} = pi_0 v_t prod_{s<t} (1 - v_s) for novel ones
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, digamma, gammaln

from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Weights:
    """Dirichlet over known components and novelty (last), Beta sticks over novel components."""

    dirichlet: FloatArray  # (J + 1,) eta; the last entry is novelty
    broken: FloatArray  # (T - 1,) a: the part of a stick that is kept
    passed: FloatArray  # (T - 1,) b: the part that is passed on

    @property
    def known(self) -> int:
        """Return J."""
        return self.dirichlet.size - 1

    @property
    def novel(self) -> int:
        """Return T."""
        return self.broken.size + 1


def prior_weights(dirichlet: FloatArray, concentration: float, novel: int) -> Weights:
    """Return the prior: a Dirichlet, and T - 1 sticks Beta(1, concentration)."""
    return Weights(dirichlet, np.ones(novel - 1), np.full(novel - 1, concentration))


def weights_from(prior: Weights, counts: FloatArray) -> Weights:
    """Return the best weights for components that hold these many rows; places beyond them hold none."""
    known, novel = counts[: prior.known], _in_all_places(prior, counts)
    # eta_j = alpha_j + N_j,  eta_0 = alpha_0 + sum_{k > J} N_k
    dirichlet = prior.dirichlet + np.append(known, novel.sum())
    # a_t = 1 + N_{J+t},  b_t = gamma + sum_{s > t} N_{J+s}
    later = np.cumsum(novel[::-1])[::-1][1:]  # (T - 1,)
    return Weights(dirichlet, prior.broken + novel[:-1], prior.passed + later)


def expected_log_weights(weights: Weights) -> FloatArray:
    """Return E log w_k of every place, (J + T,)."""
    total = digamma(weights.broken + weights.passed)
    kept = np.append(digamma(weights.broken) - total, 0.0)  # E log v_t
    left = np.append(0.0, np.cumsum(digamma(weights.passed) - total))  # sum_{s < t} E log(1 - v_s)
    dirichlet = digamma(weights.dirichlet) - digamma(weights.dirichlet.sum())
    return np.concatenate([dirichlet[:-1], dirichlet[-1] + kept + left])


def log_expected_weights(weights: Weights) -> FloatArray:
    """Return log E w_k of every place, (J + T,); the E w_k sum to 1."""
    total = np.log(weights.broken + weights.passed)
    kept = np.append(np.log(weights.broken) - total, 0.0)  # log E v_t
    left = np.append(0.0, np.cumsum(np.log(weights.passed) - total))  # sum_{s < t} log E(1 - v_s)
    dirichlet = np.log(weights.dirichlet) - np.log(weights.dirichlet.sum())
    return np.concatenate([dirichlet[:-1], dirichlet[-1] + kept + left])


def dirichlet_divergence(posterior: Weights, prior: Weights) -> float:
    """Return KL(Dir(eta) || Dir(alpha))."""
    eta, alpha = posterior.dirichlet, prior.dirichlet
    log_ratio = digamma(eta) - digamma(eta.sum())
    normalisers = gammaln(eta.sum()) - gammaln(eta).sum() - gammaln(alpha.sum()) + gammaln(alpha).sum()
    return float(normalisers + ((eta - alpha) * log_ratio).sum())


def stick_divergence(posterior: Weights, prior: Weights) -> float:
    """Return the sum over sticks of KL(Beta(a, b) || Beta(1, gamma))."""
    a, b, one, gamma = posterior.broken, posterior.passed, prior.broken, prior.passed
    total = digamma(a + b)
    terms = betaln(one, gamma) - betaln(a, b) + (a - one) * (digamma(a) - total) + (b - gamma) * (digamma(b) - total)
    return float(terms.sum())


def best_stick_order(prior: Weights, counts: FloatArray) -> IntArray:
    """Return the order of all components that puts novel ones largest first, where that raises the bound.

    With a concentration above 1 and few empty places largest-first can lower it; then the order stays.
    """
    novel = _in_all_places(prior, counts)
    largest_first = np.argsort(-novel, kind="stable")
    if _stick_bound(prior, novel[largest_first]) <= _stick_bound(prior, novel):
        largest_first = np.arange(novel.size)
    return np.concatenate([np.arange(prior.known), prior.known + largest_first])[: counts.size]


def _in_all_places(prior: Weights, counts: FloatArray) -> FloatArray:
    """Return the counts of novel components, (T,): places that no component has taken yet hold no rows."""
    novel = counts[prior.known :]
    return np.concatenate([novel, np.zeros(prior.novel - novel.size)])


def weights_evidence(prior: Weights, counts: FloatArray) -> float:
    """Return what the weights add to the bound at their optimum, for components that hold these many rows."""
    novel = _in_all_places(prior, counts)
    eta = prior.dirichlet + np.append(counts[: prior.known], novel.sum())
    # the expected log weights cancel: log B(eta) - log B(alpha), and the sticks
    dirichlet = (
        gammaln(eta).sum() - gammaln(eta.sum()) - gammaln(prior.dirichlet).sum() + gammaln(prior.dirichlet.sum())
    )
    return float(dirichlet) + _stick_bound(prior, novel)


def _stick_bound(prior: Weights, novel: FloatArray) -> float:
    """Return what the sticks add to the bound at their optimum, for novel counts (T,) in this order."""
    later = np.cumsum(novel[::-1])[::-1][1:]  # (T - 1,)
    # at the optimum the expected log weights cancel: sum_t log B(1 + N_t, gamma + later_t) - log B(1, gamma)
    return float((betaln(prior.broken + novel[:-1], prior.passed + later) - betaln(prior.broken, prior.passed)).sum())
