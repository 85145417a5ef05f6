"""Dirichlet and sticks: expectations and divergences by draws and quadrature, stick order by brute force."""

from itertools import permutations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import digamma, gammaln

from vbrand.model.weights import (
    Weights,
    best_stick_order,
    dirichlet_divergence,
    expected_log_weights,
    log_expected_weights,
    prior_weights,
    stick_divergence,
    weights_from,
)

POSTERIOR = Weights(np.array([3.0, 0.7, 2.0]), np.array([2.0, 1.3, 4.0]), np.array([0.6, 5.0, 1.1]))
DRAWS = 200_000


def draw(weights, rng):
    sticks = np.column_stack(
        [rng.beta(weights.broken, weights.passed, size=(DRAWS, weights.broken.size)), np.ones(DRAWS)]
    )
    left = np.column_stack([np.ones(DRAWS), np.cumprod(1.0 - sticks[:, :-1], axis=1)])
    dirichlet = rng.dirichlet(weights.dirichlet, size=DRAWS)
    return np.column_stack([dirichlet[:, :-1], dirichlet[:, -1:] * sticks * left])


def test_expected_weights_agree_with_draws():
    drawn = draw(POSTERIOR, np.random.default_rng(0))
    error = drawn.std(axis=0) / np.sqrt(DRAWS)
    assert (abs(drawn.mean(axis=0) - np.exp(log_expected_weights(POSTERIOR))) < 5 * error).all()
    assert np.exp(log_expected_weights(POSTERIOR)).sum() == pytest.approx(1.0)


def test_expected_log_weights_agree_with_draws():
    drawn = np.log(draw(POSTERIOR, np.random.default_rng(1)))
    error = drawn.std(axis=0) / np.sqrt(DRAWS)
    assert (abs(drawn.mean(axis=0) - expected_log_weights(POSTERIOR)) < 5 * error).all()


def test_stick_divergence_agrees_with_quadrature():
    prior = prior_weights(np.ones(3), 2.5, 4)
    total = 0.0
    for a, b in zip(POSTERIOR.broken, POSTERIOR.passed, strict=True):
        q, p = stats.beta(a, b), stats.beta(1.0, 2.5)
        total += integrate.quad(lambda x, q=q, p=p: q.pdf(x) * (q.logpdf(x) - p.logpdf(x)), 0, 1, limit=200)[0]
    assert stick_divergence(POSTERIOR, prior) == pytest.approx(total, rel=1e-6)


def test_dirichlet_divergence_agrees_with_draws():
    prior = prior_weights(np.array([0.3, 2.0, 1.0]), 1.0, 4)
    x = np.random.default_rng(0).dirichlet(POSTERIOR.dirichlet, size=DRAWS)
    ratio = stats.dirichlet(POSTERIOR.dirichlet).logpdf(x.T) - stats.dirichlet(prior.dirichlet).logpdf(x.T)
    assert abs(ratio.mean() - dirichlet_divergence(POSTERIOR, prior)) < 5 * ratio.std() / np.sqrt(DRAWS)


def stick_part_of_the_bound(prior, novel):
    """Return E log p - E log q of the sticks at their optimum, from the general formulas."""
    weights = weights_from(prior, np.r_[0.0, novel])
    within = expected_log_weights(weights)[1:] - expected_log_weights(weights_only_dirichlet(weights))[0]
    return float(novel @ within) - stick_divergence(weights, prior)


def weights_only_dirichlet(weights):
    return Weights(weights.dirichlet[::-1], np.zeros(0), np.zeros(0))  # its first weight is pi_0


@pytest.mark.parametrize("concentration", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("novel", [[5.0, 40.0, 1.0, 9.0], [3.0, 2.0, 7.0, 0.0], [0.0, 0.0, 6.0, 0.0]])
def test_re_sorting_is_accepted_exactly_when_the_bound_rises(concentration, novel):
    prior = prior_weights(np.ones(2), concentration, 4)
    counts = np.r_[3.0, novel]
    order = best_stick_order(prior, counts)
    before = stick_part_of_the_bound(prior, counts[1:])
    largest_first = stick_part_of_the_bound(prior, np.sort(counts[1:])[::-1])
    after = stick_part_of_the_bound(prior, counts[order][1:])
    assert after == pytest.approx(max(before, largest_first), rel=1e-12)


def test_largest_first_is_best_for_a_concentration_below_one():
    prior = prior_weights(np.ones(1), 0.7, 4)
    novel = np.array([5.0, 40.0, 1.0, 9.0])
    best = max(
        permutations(novel),
        key=lambda order: stick_part_of_the_bound(prior_weights(np.ones(2), 0.7, 4), np.array(order)),
    )
    assert list(best) == list(novel[best_stick_order(prior, novel)])


def test_the_factor_of_the_concentration_is_its_optimum_and_the_bound_knows_it():
    """The stick part of the bound as a function of all its factors, by loops and scipy; no change of one raises it."""
    shape, rate, novel = 2.0, 1.5, np.array([9.0, 4.0, 1.0])
    prior = prior_weights(np.ones(2), (shape, rate), 8)
    best = weights_from(prior, np.r_[3.0, novel])

    def value(a, b, s, r):
        total, q_gamma = 0.0, stats.gamma(s, scale=1.0 / r)
        log_gamma, mean = digamma(s) - np.log(r), s / r
        left = 0.0
        for t in range(3):
            q = stats.beta(a[t], b[t])
            kept, passed = digamma(a[t]) - digamma(a[t] + b[t]), digamma(b[t]) - digamma(a[t] + b[t])
            total += novel[t] * (kept + left) + log_gamma + (mean - 1.0) * passed + q.entropy()
            left += passed
        expected_log_prior = shape * np.log(rate) - gammaln(shape) + (shape - 1.0) * log_gamma - rate * mean
        return total + expected_log_prior + q_gamma.entropy()

    a, b, (s, r) = best.broken, best.passed, best.concentration
    assert s == shape + 3
    here = value(a, b, s, r)
    within = expected_log_weights(best)[1:4] - expected_log_weights(weights_only_dirichlet(best))[0]
    assert float(novel @ within) - stick_divergence(best, prior) == pytest.approx(here, rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(200):
        factor = np.exp(0.1 * rng.normal(size=8))
        changed = value(a[:3] * factor[:3], b[:3] * factor[3:6], s * factor[6], r * factor[7])
        assert changed <= here


def test_the_concentration_does_not_depend_on_the_number_of_places():
    few, many = (weights_from(prior_weights(np.ones(2), (1.0, 1.0), t), np.array([3.0, 9.0, 4.0])) for t in (4, 40))
    assert few.concentration == pytest.approx(many.concentration)
