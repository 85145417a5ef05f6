"""The formulas of the weights, compiled: a Dirichlet over known components and novelty, sticks within novelty."""

import math
from collections import namedtuple

from vbrand.compiling import inner, jit_small_both_ways
from vbrand.model.gamma import digamma, log_gamma

# eta (J + 1,), a and b (T - 1,), shape and rate of gamma (2,): zeros where gamma is a number
Sticks = namedtuple("Sticks", ["dirichlet", "broken", "passed", "concentration"])

# rounds in which sticks and concentration settle
_MOST_ROUNDS = 100
_SAME = 1e-12


@inner
def _sum(numbers):  # type: ignore[no-untyped-def]
    total = 0.0
    for number in numbers:
        total += number
    return total


@jit_small_both_ways
def settle(prior, counts, posterior):  # type: ignore[no-untyped-def]
    """Store the best weights for components that hold these many rows; places beyond them hold none."""
    known = prior.dirichlet.size - 1
    # (5.6)  eta_k = alpha_k + N_k for k <= J,  eta_0 = alpha_0 + sum_{k>J} N_k
    for k in range(known + 1):
        posterior.dirichlet[k] = prior.dirichlet[k]
    for k in range(counts.size):
        posterior.dirichlet[k if k < known else known] += counts[k]
    break_sticks(prior, counts[known:], posterior)


@inner
def break_sticks(prior, novel, posterior):  # type: ignore[no-untyped-def]
    """Store the best sticks and concentration for novel components that hold these many rows."""
    places = prior.broken.size
    # (5.7)  a_t = 1 + N_{J+t},  b_t = gamma + sum_{s>t} N_{J+s}
    later = 0.0
    for t in range(places, -1, -1):
        rows = novel[t] if t < novel.size else 0.0
        if t < places:
            posterior.broken[t] = prior.broken[t] + rows
            posterior.passed[t] = later
        later += rows

    shape, rate = prior.concentration[0], prior.concentration[1]
    if shape == 0.0:
        for t in range(places):
            posterior.passed[t] += prior.passed[t]
        return

    own = novel.size if novel.size < places else places  # L
    gamma = shape / rate
    for _ in range(_MOST_ROUNDS):
        first = (shape + own) / _rate(rate, posterior, own, gamma)
        second = (shape + own) / _rate(rate, posterior, own, first)
        if -_SAME * second <= second - first <= _SAME * second:
            break
        # the rounds shrink geometrically: their limit, by Aitken
        limit = second - (second - first) * (second - first) / (second - 2.0 * first + gamma)
        gamma = limit if 0.0 < limit < math.inf else second
    posterior.concentration[0] = shape + own
    posterior.concentration[1] = (shape + own) / second
    for t in range(places):
        posterior.passed[t] += second


@inner
def _rate(rate, posterior, own, gamma):  # type: ignore[no-untyped-def]
    """Return the rate of q(gamma) given sticks at a gamma; b_t without it."""
    # (5.10) q(gamma) = Gamma(s1 + L, rate s2 - sum_{t<=L} E log(1 - v_t)),  E[gamma] = shape / rate
    for t in range(own):
        b = gamma + posterior.passed[t]
        rate -= digamma(b) - digamma(posterior.broken[t] + b)
    return rate


@inner
def log_weights(weights, result):  # type: ignore[no-untyped-def]
    """Store E log w_k of the first places."""
    dirichlet, broken, passed, _ = weights
    known = dirichlet.size - 1
    total = digamma(_sum(dirichlet))
    # (5.17) E log w_k = psi(eta_k) - psi(sum eta), k <= J
    for k in range(known):
        result[k] = digamma(dirichlet[k]) - total
    # E log w_{J+t} = psi(eta_0) - psi(sum eta) + E log v_t + sum_{s<t} E log(1 - v_s)
    left = digamma(dirichlet[known]) - total
    for t in range(result.size - known):
        result[known + t] = left
        if t < broken.size:
            both = digamma(broken[t] + passed[t])
            result[known + t] += digamma(broken[t]) - both
            left += digamma(passed[t]) - both


@inner
def diverge_dirichlet(eta, alpha):  # type: ignore[no-untyped-def]
    """Return KL(Dir(eta) || Dir(alpha))."""
    # (6.3)  lnG(sum eta) - sum lnG(eta) - lnG(sum alpha) + sum lnG(alpha) + sum (eta - alpha) (psi(eta) - psi(sum eta))
    total = log_gamma(_sum(eta)) - log_gamma(_sum(alpha))
    middle = digamma(_sum(eta))
    for k in range(eta.size):
        total += log_gamma(alpha[k]) - log_gamma(eta[k]) + (eta[k] - alpha[k]) * (digamma(eta[k]) - middle)
    return total


@inner
def log_beta(a, b):  # type: ignore[no-untyped-def]
    """Return the logarithm of the Beta function."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


@inner
def diverge_sticks(posterior, prior):  # type: ignore[no-untyped-def]
    """Return the sum over sticks of KL(Beta(a, b) || Beta(1, gamma)), and that of gamma where it has a factor."""
    shape, rate = posterior.concentration[0], posterior.concentration[1]
    first_shape, first_rate = prior.concentration[0], prior.concentration[1]
    learned = first_shape > 0.0
    own = round(shape - first_shape) if learned else prior.broken.size  # L
    total = diverge_gamma(shape, rate, first_shape, first_rate) if learned else 0.0
    for t in range(own):
        a, b = posterior.broken[t], posterior.passed[t]
        both = digamma(a + b)
        kept, left = digamma(a) - both, digamma(b) - both
        if learned:
            # (6.5)  -lnB(a, b) + (a - 1) E log v + (b - 1) E log(1 - v) - E log gamma - (E[gamma] - 1) E log(1 - v)
            total += -log_beta(a, b) + (a - 1.0) * kept + (b - shape / rate) * left - (digamma(shape) - math.log(rate))
        else:
            # (6.4)  lnB(1, gamma) - lnB(a, b) + (a - 1) E log v + (b - gamma) E log(1 - v)
            one, gamma = prior.broken[t], prior.passed[t]
            total += log_beta(one, gamma) - log_beta(a, b) + (a - one) * kept + (b - gamma) * left
    return total


@inner
def diverge_gamma(shape, rate, first_shape, first_rate):  # type: ignore[no-untyped-def]
    """Return KL(Gamma(shape, rate) || Gamma(first shape, first rate))."""
    # (6.6)  (g - s1) psi(g) - lnG(g) + lnG(s1) + s1 (log r - log s2) + g (s2 - r) / r
    return (
        (shape - first_shape) * digamma(shape)
        - log_gamma(shape)
        + log_gamma(first_shape)
        + first_shape * (math.log(rate) - math.log(first_rate))
        + shape * (first_rate - rate) / rate
    )


@inner
def explain_counts(prior, counts, work, result):  # type: ignore[no-untyped-def]
    """Store what the weights add to the bound at their optimum, for components that hold these many rows, (m, K)."""
    known = prior.dirichlet.size - 1
    for i in range(counts.shape[0]):
        # (7.3)  sum lnG(eta) - lnG(sum eta) - sum lnG(alpha) + lnG(sum alpha) + sticks
        total = log_gamma(_sum(prior.dirichlet)) - log_gamma(_sum(prior.dirichlet) + _sum(counts[i]))
        for k in range(known):
            total += log_gamma(prior.dirichlet[k] + counts[i, k]) - log_gamma(prior.dirichlet[k])
        novelty = prior.dirichlet[known]
        total += log_gamma(novelty + _sum(counts[i, known:])) - log_gamma(novelty)
        result[i] = total + explain_sticks(prior, counts[i, known:], work)


@inner
def explain_sticks(prior, novel, work):  # type: ignore[no-untyped-def]
    """Return what the sticks add to the bound at their optimum, which is stored in `work`, for novel rows in order."""
    break_sticks(prior, novel, work)
    shape, rate = work.concentration[0], work.concentration[1]
    first_shape, first_rate = prior.concentration[0], prior.concentration[1]
    learned = first_shape > 0.0
    total = -diverge_gamma(shape, rate, first_shape, first_rate) if learned else 0.0
    log_gamma_expected = digamma(shape) - math.log(rate) if learned else 0.0
    for t in range(prior.broken.size if prior.broken.size < novel.size else novel.size):
        # (7.4)  lnB(1 + N_t, gamma + A_{t+1}) - lnB(1, gamma);  with a hyperprior E log gamma for -lnB(1, gamma)
        total += log_beta(work.broken[t], work.passed[t])
        total += log_gamma_expected if learned else -log_beta(prior.broken[t], prior.passed[t])
    return total
