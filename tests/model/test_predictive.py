"""The predictive density is a density, and agrees with scipy's."""

import numpy as np
import pytest
from problems import random_problem
from scipy import stats

from vbrand.model.predictive import log_predictive
from vbrand.model.weights import log_expected_weights


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
    np.testing.assert_allclose(log_predictive(rows, posterior), np.log(density), rtol=1e-9)


def test_predictive_integrates_to_one():
    _, _, posterior = random_problem(0, p=2)
    # x = tan(pi u / 2) maps the plane to a square
    u = (np.arange(400) + 0.5) / 200 - 1.0
    x = 10.0 * np.tan(0.5 * np.pi * u)
    stretch = 10.0 * 0.5 * np.pi / np.cos(0.5 * np.pi * u) ** 2 / 200
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    density = np.exp(log_predictive(grid, posterior)).reshape(400, 400)
    assert stretch @ density @ stretch == pytest.approx(1.0, abs=2e-3)
