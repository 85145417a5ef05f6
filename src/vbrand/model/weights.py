"""How likely each component is before its rows are seen: a Dirichlet, and sticks within its novel part.

pi ~ Dirichlet(alpha_1..alpha_J, alpha_0),  v_t ~ Beta(1, gamma) for t < T, v_T = 1
w_j = pi_j for known components,  w_{J+t} = pi_0 v_t prod_{s<t} (1 - v_s) for novel ones

The concentration gamma is a number, or has a Gamma(shape, rate) hyperprior and a variational factor of that kind. Then
only the first L sticks, those of novel components that there are, have factors of their own; the others follow
p(v | gamma) and drop out of the bound, so that the answer does not depend on T.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaln, digamma, gammaln

from vbrand.types import FloatArray, IntArray

# rounds in which sticks and concentration settle
_MOST_ROUNDS = 100
_SAME = 1e-12


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


def prior_weights(dirichlet: FloatArray, concentration: float | tuple[float, float], novel: int) -> Weights:
    """Return the prior: a Dirichlet, and T - 1 sticks Beta(1, gamma), gamma a number or Gamma(shape, rate)."""
    # (2.1), (2.2), (2.4)  pi ~ Dirichlet(alpha),  v_t ~ Beta(1, gamma),  gamma ~ Gamma(s1, rate s2): E[gamma] = s1 / s2
    if isinstance(concentration, tuple):
        shape, rate = concentration
        return Weights(dirichlet, np.ones(novel - 1), np.full(novel - 1, shape / rate), (shape, rate))
    return Weights(dirichlet, np.ones(novel - 1), np.full(novel - 1, concentration))


def weights_from(prior: Weights, counts: FloatArray) -> Weights:
    """Return the best weights for components that hold these many rows; places beyond them hold none."""
    known, novel = counts[: prior.known], _in_all_places(prior, counts)
    # (5.6)  eta_k = alpha_k + N_k,  eta_0 = alpha_0 + sum_{k > J} N_k
    dirichlet = prior.dirichlet + np.append(known, novel.sum())
    return replace(_best_sticks(prior, novel, counts.size - prior.known), dirichlet=dirichlet)


def _best_sticks(prior: Weights, novel: FloatArray, opened: int) -> Weights:
    """Return the best sticks and concentration for novel counts (T,); only the first `opened` may hold rows."""
    # (5.7)  a_t = 1 + N_{J+t},  b_t = gamma + sum_{s > t} N_{J+s}
    later = np.cumsum(novel[::-1])[::-1][1:]  # (T - 1,)
    broken = prior.broken + novel[:-1]
    if prior.concentration is None:
        return replace(prior, broken=broken, passed=prior.passed + later)
    shape, rate = prior.concentration
    own = min(opened, prior.novel - 1)  # L
    gamma = shape / rate
    posterior = (shape, rate)
    for _ in range(_MOST_ROUNDS):
        passed = gamma + later[:own]
        # (5.10)  q(gamma) = Gamma(s1 + L, rate s2 - sum_{t <= L} E log(1 - v_t)), and b_t takes E[gamma]
        left = digamma(passed) - digamma(broken[:own] + passed)
        posterior = (shape + own, rate - float(left.sum()))
        before, gamma = gamma, posterior[0] / posterior[1]
        if abs(gamma - before) <= _SAME * gamma:
            break
    return replace(prior, broken=broken, passed=gamma + later, concentration=posterior)


def expected_log_weights(weights: Weights) -> FloatArray:
    """Return E log w_k of every place, (J + T,)."""
    # (5.17)  E log w_{J+t} = E log pi_0 + E log v_t + sum_{s < t} E log(1 - v_s),  E log v = psi(a) - psi(a + b)
    total = digamma(weights.broken + weights.passed)
    kept = np.append(digamma(weights.broken) - total, 0.0)  # E log v_t
    left = np.append(0.0, np.cumsum(digamma(weights.passed) - total))  # sum_{s < t} E log(1 - v_s)
    dirichlet = digamma(weights.dirichlet) - digamma(weights.dirichlet.sum())
    return np.concatenate([dirichlet[:-1], dirichlet[-1] + kept + left])


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
    eta, alpha = posterior.dirichlet, prior.dirichlet
    log_ratio = digamma(eta) - digamma(eta.sum())
    # (6.3)  lnG(sum eta) - sum lnG(eta) - lnG(sum alpha) + sum lnG(alpha) + sum (eta - alpha) E log pi
    normalisers = gammaln(eta.sum()) - gammaln(eta).sum() - gammaln(alpha.sum()) + gammaln(alpha).sum()
    return float(normalisers + ((eta - alpha) * log_ratio).sum())


def stick_divergence(posterior: Weights, prior: Weights) -> float:
    """Return the sum over sticks of KL(Beta(a, b) || Beta(1, gamma)), and that of gamma where it has a factor."""
    a, b, one, gamma = posterior.broken, posterior.passed, prior.broken, prior.passed
    if posterior.concentration is None or prior.concentration is None:
        total = digamma(a + b)
        kept, left = digamma(a) - total, digamma(b) - total
        # (6.4)  sum_t [lnB(1, gamma) - lnB(a, b) + (a - 1) E log v + (b - gamma) E log(1 - v)]
        terms = betaln(one, gamma) - betaln(a, b) + (a - one) * kept + (b - gamma) * left
        return float(terms.sum())
    (shape, rate), (first_shape, first_rate) = posterior.concentration, prior.concentration
    own = round(shape - first_shape)  # L
    a, b = a[:own], b[:own]
    total = digamma(a + b)
    kept, left = digamma(a) - total, digamma(b) - total
    # (6.5)  E log q(v) - E log p(v | gamma): log gamma becomes its expectation, gamma - 1 becomes E[gamma] - 1
    log_gamma, mean = digamma(shape) - np.log(rate), shape / rate
    sticks = -betaln(a, b) + (a - 1.0) * kept + (b - 1.0) * left - log_gamma - (mean - 1.0) * left
    # (6.6)  KL(Gamma(shape, rate) || prior)
    own_divergence = (
        (shape - first_shape) * digamma(shape)
        - gammaln(shape)
        + gammaln(first_shape)
        + first_shape * (np.log(rate) - np.log(first_rate))
        + shape * (first_rate - rate) / rate
    )
    return float(sticks.sum() + own_divergence)


def best_stick_order(prior: Weights, counts: FloatArray) -> IntArray:
    """Return the order of all components that puts novel ones largest first, where that raises the bound.

    With a concentration above 1 and few empty places largest-first can lower it; then the order stays.
    """
    novel = _in_all_places(prior, counts)
    largest_first = np.argsort(-novel, kind="stable")
    opened = counts.size - prior.known
    if _stick_bound(prior, novel[largest_first], opened) <= _stick_bound(prior, novel, opened):
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
    # (7.3)  the expected log weights cancel: lnB(eta) - lnB(alpha), and the sticks
    dirichlet = (
        gammaln(eta).sum() - gammaln(eta.sum()) - gammaln(prior.dirichlet).sum() + gammaln(prior.dirichlet.sum())
    )
    return float(dirichlet) + _stick_bound(prior, novel, counts.size - prior.known)


def _stick_bound(prior: Weights, novel: FloatArray, opened: int) -> float:
    """Return what the sticks add to the bound at their optimum, for novel counts (T,) in this order."""
    if prior.concentration is None:
        later = np.cumsum(novel[::-1])[::-1][1:]  # (T - 1,)
        # (7.4)  the expected log weights cancel: sum_t lnB(1 + N_t, gamma + later_t) - lnB(1, gamma)
        a, b = prior.broken + novel[:-1], prior.passed + later
        return float((betaln(a, b) - betaln(prior.broken, prior.passed)).sum())
    # (7.4)  with a hyperprior: sum_t N_t (E log v_t + sum_{s < t} E log(1 - v_s)) - KL
    best = _best_sticks(prior, novel, opened)
    total = digamma(best.broken + best.passed)
    kept = np.append(digamma(best.broken) - total, 0.0)
    left = np.append(0.0, np.cumsum(digamma(best.passed) - total))
    return float(novel[:opened] @ (kept + left)[:opened]) - stick_divergence(best, prior)


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
