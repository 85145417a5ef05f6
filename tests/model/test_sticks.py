"""Sticks settle at their optimum, and what they add to the bound there is what the bound says."""

import numpy as np
import pytest
from scipy import special

from vbrand.compiling import from_python
from vbrand.model import sticks
from vbrand.model.weights import (
    best_stick_order,
    dirichlet_divergence,
    expected_log_weights,
    prior_weights,
    stick_divergence,
    sticks_like,
    weights_evidence,
    weights_from,
    weights_of,
)

diverge_gamma, explain_counts, log_beta, settle = (
    from_python(each) for each in (sticks.diverge_gamma, sticks.explain_counts, sticks.log_beta, sticks.settle)
)

CONCENTRATIONS = [0.3, 4.0, (1.0, 1.0), (2.0, 5.0)]
COUNTS = np.array([30.0, 4.0, 12.0, 0.0, 55.5, 2.0])


@pytest.mark.parametrize("concentration", CONCENTRATIONS)
@pytest.mark.parametrize("novel", [4, 9])
def test_what_weights_add_is_the_bound_of_their_optimum(concentration, novel):
    prior = prior_weights(np.ones(3), concentration, novel)
    best = weights_from(prior, COUNTS)
    terms = COUNTS @ expected_log_weights(best)[: COUNTS.size]
    expected = terms - dirichlet_divergence(best, prior) - stick_divergence(best, prior)
    assert weights_evidence(prior, COUNTS) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("concentration", [(1.0, 1.0), (0.5, 3.0)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_sticks_and_concentration_are_each_others_optimum(concentration, scale):
    prior = prior_weights(np.ones(3), concentration, 9)
    best = weights_from(prior, scale * COUNTS)
    shape, rate = best.concentration
    own = 4  # novel components that there are
    left = special.digamma(best.passed[:own]) - special.digamma(best.broken[:own] + best.passed[:own])
    later = scale * COUNTS[2:][::-1].cumsum()[::-1][1:]
    np.testing.assert_allclose(best.passed[: own - 1] - shape / rate, later, rtol=1e-9, atol=1e-9)
    assert shape == concentration[0] + own
    assert rate == pytest.approx(concentration[1] - left.sum(), rel=1e-10)


@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_several_ways_to_hold_rows_are_judged_as_each_alone(concentration):
    prior = prior_weights(np.ones(3), concentration, 6)
    ways = np.stack([COUNTS, COUNTS[::-1], 2.0 * COUNTS])
    np.testing.assert_array_equal(weights_evidence(prior, ways), [weights_evidence(prior, way) for way in ways])


def test_weights_come_back_from_the_compiled_form_as_they_were():
    for concentration in CONCENTRATIONS:
        prior = prior_weights(np.arange(1.0, 4.0), concentration, 5)
        again = weights_of(prior.sticks)
        assert again.concentration == prior.concentration
        np.testing.assert_array_equal(again.passed, prior.passed)


def test_an_order_is_kept_unless_the_sticks_gain():
    prior = prior_weights(np.ones(2), 0.5, 5)
    assert best_stick_order(prior, np.array([1.0, 9.0, 5.0, 2.0])).tolist() == [0, 1, 2, 3]
    assert best_stick_order(prior, np.array([1.0, 2.0, 9.0, 5.0])).tolist() == [0, 2, 3, 1]


def test_divergence_of_two_gammas_agrees_with_quadrature():
    nodes, weights = np.polynomial.laguerre.laggauss(120)
    shape, rate, first_shape, first_rate = 3.5, 2.0, 1.5, 0.7
    x = nodes / rate
    log_q = shape * np.log(rate) - special.gammaln(shape) + (shape - 1.0) * np.log(x) - rate * x
    log_p = first_shape * np.log(first_rate) - special.gammaln(first_shape) + (first_shape - 1.0) * np.log(x)
    density = np.exp(log_q + nodes) / rate
    expected = np.sum(weights * density * (log_q - log_p + first_rate * x))
    assert diverge_gamma(shape, rate, first_shape, first_rate) == pytest.approx(expected, rel=1e-6)
    assert diverge_gamma(2.0, 3.0, 2.0, 3.0) == pytest.approx(0.0, abs=1e-14)


def test_log_beta_is_that_of_scipy():
    assert log_beta(2.5, 0.3) == pytest.approx(special.betaln(2.5, 0.3), rel=1e-13)


def test_empty_components_add_nothing_to_known_ones():
    prior = prior_weights(np.ones(3), 1.0, 4)
    posterior, result = sticks_like(prior), np.empty(1)
    settle(prior.sticks, np.zeros(3), posterior)
    np.testing.assert_array_equal(posterior.dirichlet, prior.dirichlet)
    explain_counts(prior.sticks, np.zeros((1, 3)), posterior, result)
    assert result[0] == pytest.approx(0.0, abs=1e-13)
