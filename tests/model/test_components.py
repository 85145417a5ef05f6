"""Normal-inverse-Wisharts: expectations by Monte Carlo, updates by the textbook, divergences by sampling."""

import numpy as np
import pytest
from problems import random_components
from scipy import stats

from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.model.components import Components, divergence, expected_log_precision, posterior_from
from vbrand.model.kernels import Gaussian

DRAWS = 40_000


def draw(components, k, rng):
    """Return draws of (mu, Sigma) of component k."""
    p = components.columns
    sigma = stats.invwishart(components.dof[k], components.scale[k]).rvs(DRAWS, random_state=rng).reshape(-1, p, p)
    root = np.linalg.cholesky(sigma / components.precision[k])
    return components.mean[k] + np.einsum("nij,nj->ni", root, rng.normal(size=(DRAWS, p))), sigma


def log_density(components, k, mu, sigma):
    p = components.columns
    wishart = stats.invwishart(components.dof[k], components.scale[k])
    # one call for all draws: logpdf takes matrices along the last axis
    scatter = wishart.logpdf(np.moveaxis(sigma, 0, -1)) if p > 1 else wishart.logpdf(sigma[:, 0, 0])
    difference = mu - components.mean[k]
    distance = np.einsum("ni,nij,nj->n", difference, np.linalg.inv(sigma), difference) * components.precision[k]
    determinant = np.linalg.slogdet(sigma)[1] - p * np.log(components.precision[k])
    return np.ravel(scatter) - 0.5 * (p * np.log(2 * np.pi) + determinant + distance)


def agrees(values, expected):
    return abs(values.mean() - expected) < 5 * values.std() / np.sqrt(values.size) + 1e-12


@pytest.mark.parametrize("p", [1, 2, 4])
def test_expected_log_precision_agrees_with_draws(p):
    rng = np.random.default_rng(p)
    components = random_components(rng, 2, p)
    for k in range(2):
        _, sigma = draw(components, k, rng)
        assert agrees(-np.linalg.slogdet(sigma)[1], expected_log_precision(components)[k])


@pytest.mark.parametrize("p", [1, 2, 4])
def test_divergence_agrees_with_draws(p):
    rng = np.random.default_rng(p)
    posterior, prior = random_components(rng, 2, p), random_components(rng, 2, p)
    for k in range(2):
        mu, sigma = draw(posterior, k, rng)
        ratio = log_density(posterior, k, mu, sigma) - log_density(prior, k, mu, sigma)
        assert agrees(ratio, divergence(posterior, prior)[k])


def test_divergence_of_a_component_from_itself_is_zero():
    components = random_components(np.random.default_rng(0), 5, 3)
    np.testing.assert_allclose(divergence(components, components), 0.0, atol=1e-12)


def test_update_agrees_with_one_row_at_a_time():
    rng = np.random.default_rng(0)
    prior = random_components(rng, 1, 3)
    rows = rng.normal(5.0, 2.0, size=(20, 3))
    together = posterior_from(prior, statistics_of_labels(Rows.plain(rows), np.zeros(20, int), 1))
    mean, precision, dof, scale = (getattr(prior, name)[0] for name in ("mean", "precision", "dof", "scale"))
    for row in rows:  # the textbook update for a single observation
        scale = scale + precision / (precision + 1) * np.outer(row - mean, row - mean)
        mean = (precision * mean + row) / (precision + 1)
        precision, dof = precision + 1, dof + 1
    np.testing.assert_allclose(together.mean[0], mean)
    np.testing.assert_allclose(together.scale[0], scale)
    assert (together.precision[0], together.dof[0]) == pytest.approx((precision, dof))


def test_a_component_without_rows_keeps_its_prior():
    prior = random_components(np.random.default_rng(0), 2, 3)
    posterior = posterior_from(prior, statistics_of_labels(Rows.plain(np.ones((4, 3))), np.zeros(4, int), 2))
    for name in ("mean", "precision", "dof", "scale"):
        np.testing.assert_allclose(getattr(posterior, name)[1], getattr(prior, name)[1], rtol=1e-14)


def test_point_masses_do_not_move_and_cost_nothing():
    free = random_components(np.random.default_rng(0), 1, 2)
    prior = Components(free.mean, np.array([np.inf]), free.dof, free.scale, free.kernels)
    posterior = posterior_from(prior, statistics_of_labels(Rows.plain(np.ones((9, 2))), np.zeros(9, int), 1))
    np.testing.assert_array_equal(posterior.mean, prior.mean)
    np.testing.assert_array_equal(posterior.scale, prior.scale)
    assert divergence(posterior, prior)[0] == 0.0
    assert expected_log_precision(posterior)[0] == pytest.approx(-np.linalg.slogdet(prior.scale[0])[1])


def test_the_expected_scatter_is_the_mean_of_draws():
    scale = np.array([[2.0, 0.5], [0.5, 1.0]])
    components = Components(
        np.zeros((3, 2)),
        np.array([1.0, np.inf, 1.0]),
        np.array([9.0, 4.0, 3.0]),
        np.stack([scale] * 3),
        (Gaussian(),) * 3,
    )
    drawn = stats.invwishart(df=9.0, scale=scale).rvs(200_000, random_state=0)
    np.testing.assert_allclose(components.expected_scatter[0], drawn.mean(axis=0), rtol=0.02)
    np.testing.assert_array_equal(components.expected_scatter[1], scale)  # a point mass
    assert np.isnan(components.expected_scatter[2]).all()  # u = p + 1 has no mean
