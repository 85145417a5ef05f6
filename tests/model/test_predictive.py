"""The predictive density is a density, and agrees with scipy's."""

import numpy as np
import pytest
from problems import random_problem
from scipy import stats
from scipy.special import logsumexp

from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian, Student, log_integral
from vbrand.model.posterior import Posterior
from vbrand.model.predictive import log_predictive_parts
from vbrand.model.weights import log_expected_weights, prior_weights


def log_density(rows, posterior):
    return logsumexp(log_predictive_parts(rows, posterior), axis=1)


@pytest.mark.parametrize("fixed", [False, True])
def test_predictive_is_a_mixture_of_students(fixed):
    rows, _, posterior = random_problem(1, p=3, fixed=fixed)
    c, density = posterior.components, 0.0
    for k, weight in enumerate(np.exp(log_expected_weights(posterior.weights))):
        if c.fixed[k]:
            part = stats.multivariate_normal(c.mean[k], c.scale[k])
        else:
            tail = c.dof[k] - 2.0
            part = stats.multivariate_t(c.mean[k], c.scale[k] * (c.precision[k] + 1) / (c.precision[k] * tail), df=tail)
        density = density + weight * part.pdf(rows)
    np.testing.assert_allclose(log_density(rows, posterior), np.log(density), rtol=1e-9)


def test_predictive_integrates_to_one():
    _, _, posterior = random_problem(0, p=2)
    # x = tan(pi u / 2) maps the plane to a square
    u = (np.arange(400) + 0.5) / 200 - 1.0
    x = 10.0 * np.tan(0.5 * np.pi * u)
    stretch = 10.0 * 0.5 * np.pi / np.cos(0.5 * np.pi * u) ** 2 / 200
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    density = np.exp(log_density(grid, posterior)).reshape(400, 400)
    assert stretch @ density @ stretch == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize(
    ("p", "precision", "dof", "tail"),
    [(2, 0.01, 34.0, 30.0), (10, 50.0, 60.0, 5.0), (36, 1e4, 1e4, 30.0), (61, 80.0, 170.0, 30.0), (1, 3.0, 2.5, 8.0)],
)
def test_heavy_tails_agree_with_quadrature(p, precision, dof, tail):
    def part(distance, tau):
        scatter = np.eye(p) * (1.0 + 1.0 / precision) / (tau * (dof - p + 1.0))
        return stats.multivariate_t(np.zeros(p), scatter, df=dof - p + 1.0).logpdf(distance * np.eye(p)[0])

    for distance in np.sqrt(np.array([0.0, 0.1, 1.0, 10.0, 1e3, 1e6]) * p / (dof - p + 1.0)):
        log_tau = np.linspace(-25.0, 5.0, 1_501)
        value = np.array([part(distance, np.exp(s)) for s in log_tau])
        value += stats.gamma(tail / 2, scale=2 / tail).logpdf(np.exp(log_tau)) + log_tau
        expected = value.max() + np.log(np.sum(np.exp(value - value.max())) * (log_tau[1] - log_tau[0]))
        components = Components(np.zeros((1, p)), *np.array([[precision], [dof]]), np.eye(p)[None], (Student(tail),))
        found = log_density(distance * np.eye(p)[:1], Posterior(components, prior_weights(np.ones(1), 1.0, 1)))
        assert found[0] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("tail", [1.0, 15.0, 200.0])
@pytest.mark.parametrize(("p", "dof"), [(1, 1e-3), (1, 2.0), (9, 8.5), (9, 1e5), (60, 61.0), (300, 620.0)])
def test_densities_between_points_of_the_lattice_are_those_of_the_integral(p, dof, tail):
    """(8.13), and a row's density is the same, bit for bit, whatever rows are beside it."""
    distance = np.append(0.0, np.exp(np.random.default_rng(0).uniform(-20.0, 60.0, 300)))
    found = Student(tail).log_predictive(distance, 1.0, dof, p)
    nodes, weights = np.polynomial.hermite.hermgauss(11)
    half, power = 0.5 * tail, 0.5 * (dof + 1.0)
    given = half + 0.5 * p, half, power, dof - p + 1.0, nodes, weights
    direct = [log_integral.py_func(d, *given) for d in distance.tolist()]
    # the two differ by a constant only
    np.testing.assert_allclose(found - found[0], np.array(direct) - direct[0], atol=1e-6)
    np.testing.assert_array_equal(found[7:9], Student(tail).log_predictive(distance[7:9], 1.0, dof, p))


@pytest.mark.parametrize("kernel", [Gaussian(), Student(6.0)], ids=str)
@pytest.mark.parametrize("fixed", [False, True])
def test_missing_cells_are_integrated_out(kernel, fixed):
    """(8.11) by quadrature over one missing cell of three; no cell at all has density 1."""
    rows, _, posterior = random_problem(2, n=2, p=3, kernel=kernel, fixed=fixed)
    u = (np.arange(40_000) + 0.5) / 20_000 - 1.0
    grid, step = 10.0 * np.tan(0.5 * np.pi * u), 10.0 * 0.5 * np.pi / np.cos(0.5 * np.pi * u) ** 2 / 20_000
    for column in range(3):
        complete = np.repeat(rows[:1], grid.size, axis=0)
        complete[:, column] = grid
        integral = logsumexp(log_predictive_parts(complete, posterior) + np.log(step)[:, None], axis=0)
        row = rows[:1].copy()
        row[0, column] = np.nan
        np.testing.assert_allclose(log_predictive_parts(row, posterior)[0], integral, atol=2e-3)
    nothing = log_predictive_parts(np.vstack([np.full((1, 3), np.nan), rows]), posterior)
    np.testing.assert_allclose(nothing[0], log_expected_weights(posterior.weights)[:5], atol=1e-12)
    np.testing.assert_array_equal(nothing[1:], log_predictive_parts(rows, posterior))
