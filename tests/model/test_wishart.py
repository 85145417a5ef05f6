"""Factors, determinants, divergences and evidence of Normal-inverse-Wisharts agree with numpy and scipy."""

import numpy as np
import pytest
from scipy.special import multigammaln

from vbrand.model.components import room_for
from vbrand.model.wishart import Roots, factorise, log_normaliser


def some_scales(count, p, seed=0):
    root = np.random.default_rng(seed).normal(size=(count, p, p + 3))
    return root @ root.transpose(0, 2, 1)


def roots_of(scale):
    _, roots = room_for(*scale.shape[:2])
    factorise(scale, roots)
    return roots


@pytest.mark.parametrize("p", [1, 2, 7, 40])
def test_factors_are_those_of_numpy(p):
    scale = some_scales(5, p)
    roots = roots_of(scale)
    np.testing.assert_allclose(roots.factor, np.linalg.cholesky(scale), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(roots.inverse @ roots.factor, np.tile(np.eye(p), (5, 1, 1)), atol=1e-9)
    np.testing.assert_allclose(roots.log_determinant, np.linalg.slogdet(scale)[1], rtol=1e-12, atol=1e-12)
    assert (np.triu(roots.inverse, 1) == 0.0).all()


@pytest.mark.parametrize("diagonal", [0.0, -1.0, np.nan])
def test_a_scale_that_is_none_is_an_error(diagonal):
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        roots_of(np.diag([1.0, diagonal])[None])


def test_the_factors_of_a_reordered_batch_are_the_same_ones():
    scale = some_scales(4, 3)
    order = np.array([2, 0, 0])
    first, again = roots_of(scale), roots_of(scale[order])
    for part, whole in zip(again, Roots(*(part[order] for part in first)), strict=True):
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("p", [1, 4, 30])
def test_the_normaliser_is_that_of_scipy(p):
    u, log_determinant = p + 2.5, 0.7
    expected = 0.5 * u * (log_determinant - p * np.log(2.0)) - multigammaln(0.5 * u, p)
    assert log_normaliser(u, log_determinant, p) == pytest.approx(expected, rel=1e-13)
