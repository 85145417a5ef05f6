from itertools import permutations

import numpy as np
import pytest
from problems import random_components
from scipy import integrate, stats
from scipy.special import gammaln

from vbrand.model.components import Components
from vbrand.model.conditionals import (
    Drawn,
    draw_components,
    draw_concentration,
    draw_depths,
    draw_levels,
    draw_log_weights,
    draw_places,
    slice_scores,
)
from vbrand.model.kernels import Gaussian
from vbrand.model.levels import Levels

# p-values of single comparisons; seeds are fixed
RARE = 1e-3


def many(components, times, seed=0):
    repeated = components.reordered(np.zeros(times, dtype=int))
    return draw_components(repeated, repeated.factor, np.random.default_rng(seed))


@pytest.mark.parametrize("p", [1, 2, 5])
def test_scatters_are_inverse_wishart(p):
    component = random_components(np.random.default_rng(p), 1, p)
    drawn = many(component, 4_000)
    precision = drawn.root.transpose(0, 2, 1) @ drawn.root
    theirs = stats.invwishart(component.dof[0], component.scale[0]).rvs(4_000, random_state=np.random.default_rng(9))
    theirs = np.linalg.inv(theirs.reshape(-1, p, p))
    along = np.random.default_rng(3).normal(size=p)
    for ours, peers in (
        (np.linalg.slogdet(precision)[1], np.linalg.slogdet(theirs)[1]),
        (along @ precision @ along, along @ theirs @ along),
        (np.linalg.inv(precision)[:, 0, 0], np.linalg.inv(theirs)[:, 0, 0]),
        (np.linalg.inv(precision)[:, p - 1, 0], np.linalg.inv(theirs)[:, p - 1, 0]),
    ):
        assert stats.ks_2samp(ours, peers).pvalue > RARE


def test_roots_are_lower_triangular():
    drawn = many(random_components(np.random.default_rng(0), 1, 4), 10)
    assert (np.triu(drawn.root, 1) == 0.0).all()


def test_means_scatter_about_theirs_as_the_covariance_says():
    component = random_components(np.random.default_rng(1), 1, 3)
    drawn = many(component, 4_000)
    # sqrt(l) root (mu - m) ~ N(0, I)
    unit = np.sqrt(component.precision[0]) * np.einsum("kij,kj->ki", drawn.root, drawn.mean - component.mean[0])
    for column in unit.T:
        assert stats.kstest(column, "norm").pvalue > RARE
    assert np.allclose(np.corrcoef(unit.T), np.eye(3), atol=0.06)


def test_a_point_mass_is_drawn_where_it_is():
    fixed = random_components(np.random.default_rng(2), 2, 3)
    fixed.precision[0] = np.inf
    drawn = draw_components(fixed, fixed.factor, np.random.default_rng(0))
    assert np.array_equal(drawn.mean[0], fixed.mean[0])
    assert np.allclose(np.linalg.inv(drawn.root[0].T @ drawn.root[0]), fixed.scale[0])
    assert not np.array_equal(drawn.mean[1], fixed.mean[1])


def test_concentration_follows_its_conditional():
    shape, rate, clusters, rows = 1.5, 2.0, 4, 30

    def density(gamma):
        # p(gamma) gamma^k G(gamma) / G(gamma + n)
        return np.exp((shape - 1 + clusters) * np.log(gamma) - rate * gamma + gammaln(gamma) - gammaln(gamma + rows))

    total = integrate.quad(density, 0, np.inf)[0]
    rng = np.random.default_rng(0)
    draws, gamma = [], 1.0
    for _ in range(6_000):
        gamma = draw_concentration((shape, rate), gamma, clusters, rows, rng)
        draws.append(gamma)
    for edge in (0.3, 0.6, 1.0, 1.5):
        expected = integrate.quad(density, 0, edge)[0] / total
        assert np.mean(np.array(draws) < edge) == pytest.approx(expected, abs=0.025)


def test_concentration_without_novel_rows_follows_its_prior_and_a_number_stays():
    rng = np.random.default_rng(0)
    draws = [draw_concentration((2.0, 4.0), 9.0, 0, 0, rng) for _ in range(3_000)]
    assert stats.kstest(draws, stats.gamma(2.0, scale=0.25).cdf).pvalue > RARE
    assert draw_concentration(0.7, 0.7, 3, 10, rng) == 0.7


def test_places_follow_the_sticks_given_the_partition():
    """P(labels | gamma), sticks integrated out, is the product of their Beta integrals; order and gaps follow it."""
    counts, gamma = np.array([3, 1, 2]), 0.8

    def log_probability(places):
        held = np.zeros(max(places) + 1)
        held[list(places)] = counts
        later = held.sum() - np.cumsum(held)
        # sum_t log B(1 + N_t, gamma + later_t) - log B(1, gamma)
        return (gammaln(1 + held) + gammaln(gamma + later) - gammaln(1 + gamma + held + later) + np.log(gamma)).sum()

    cases = [tuple(c) for c in permutations(range(9), 3)]
    weight = np.exp([log_probability(c) for c in cases])
    # all labellings of one partition add up to the Chinese restaurant: gamma^k prod (n - 1)! G(gamma) / G(gamma + n)
    restaurant = np.exp(3 * np.log(gamma) + gammaln(counts).sum() + gammaln(gamma) - gammaln(gamma + 6))
    assert weight.sum() == pytest.approx(restaurant, rel=0.05)  # gaps beyond nine places are left out
    rng = np.random.default_rng(0)
    drawn = [tuple(draw_places(counts, gamma, rng).tolist()) for _ in range(20_000)]
    for case, expected in zip(cases, weight / restaurant, strict=True):
        if expected > 0.01:
            assert drawn.count(case) / 20_000 == pytest.approx(expected, abs=4 * np.sqrt(expected / 20_000))


def test_weights_have_the_means_of_their_dirichlet_and_sticks():
    dirichlet, known, novel, gamma = np.array([1.0, 2.0, 0.5]), np.array([5, 2]), np.array([4, 0, 3]), 1.3
    rng = np.random.default_rng(0)
    drawn = [draw_log_weights(dirichlet, known, novel, gamma, rng) for _ in range(20_000)]
    mean = np.mean([np.exp(each[1]) for each in drawn], axis=0)
    total = dirichlet.sum() + 14
    sticks = np.array([5 / (5 + gamma + 3), 1 / (1 + gamma + 3), 4 / (4 + gamma)])
    expected = np.append([6 / total, 4 / total], 7.5 / total * sticks * np.cumprod(np.append(1.0, 1 - sticks[:2])))
    assert np.allclose(mean, expected, atol=0.004)
    assert np.allclose([each[0].sum() for each in drawn], 1.0)


def test_depths_are_those_of_slices():
    kappa, rng = 0.3, np.random.default_rng(0)
    places = np.repeat([-1, 0, 3], 20_000)
    zeta = (1 - kappa) * kappa ** np.arange(60)
    slices = rng.random(places.size) * np.where(places < 0, 1.0, zeta[places])
    explicit = (zeta > slices[:, None]).sum(axis=1)
    depths = draw_depths(places, kappa, rng)
    for place in (-1, 0, 3):
        own = places == place
        assert (depths[own] > place).all()
        for depth in range(8):
            assert (depths[own] == depth).mean() == pytest.approx((explicit[own] == depth).mean(), abs=0.015)


def test_scores_are_weighted_densities_over_the_slice_sequence():
    component = random_components(np.random.default_rng(4), 3, 2)
    drawn = draw_components(component, component.factor, np.random.default_rng(1))
    log_weights, kappa = np.log([0.5, 0.3, 0.2]), 0.25
    scores = slice_scores(drawn, log_weights, 1, kappa)
    row = np.array([0.3, -1.2])
    for k, zeta in enumerate([1.0, 0.75, 0.75 * 0.25]):
        covariance = np.linalg.inv(drawn.root[k].T @ drawn.root[k])
        expected = log_weights[k] - np.log(zeta) + stats.multivariate_normal(drawn.mean[k], covariance).logpdf(row)
        distance = np.square(scores.root[k] @ (row - scores.centre[k])).sum()
        assert scores.constant[k] - 0.5 * distance == pytest.approx(expected)


def test_many_columns_are_drawn_without_loss():
    p = 40
    component = Components(np.zeros((1, p)), np.array([0.01]), np.array([p + 0.0]), np.eye(p)[None], (Gaussian(),))
    drawn = many(component, 200)
    assert isinstance(drawn, Drawn)
    assert np.isfinite(drawn.mean).all()
    assert (np.diagonal(drawn.root, axis1=1, axis2=2) > 0.0).all()


def test_shares_of_levels_are_dirichlet():
    """(10.16), by the means and variances of a Dirichlet; shares that are known exactly are what they are."""
    counts = np.array([[0.02, 3.0, 1.0, 2.0, 0.5]] * 20_000 + [[0.25, 0.75, 0.2, 0.3, 0.5]])
    levels = Levels(counts, (2, 3), np.arange(20_001) == 20_000)
    logs = draw_levels(levels, np.random.default_rng(0))
    assert np.isfinite(logs).all()
    shares = np.exp(logs[:-1])
    mean = counts[0] / levels.totals[0]
    np.testing.assert_allclose(shares.mean(axis=0), mean, atol=0.01)
    np.testing.assert_allclose(shares.var(axis=0), mean * (1.0 - mean) / (levels.totals[0] + 1.0), atol=0.005)
    np.testing.assert_allclose(np.exp(logs[-1]), counts[-1])
