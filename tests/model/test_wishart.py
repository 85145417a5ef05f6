"""Factors, determinants, divergences and evidence of Normal-inverse-Wisharts agree with numpy and scipy."""

import numpy as np
import pytest
from scipy.special import multigammaln

from vbrand.compiling import from_python
from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.model import wishart
from vbrand.model.components import Components, room_for
from vbrand.model.kernels import Gaussian
from vbrand.model.statistics import extrapolated
from vbrand.model.wishart import Roots

factorise, log_normaliser, way_to_go = (
    from_python(each) for each in (wishart.factorise, wishart.log_normaliser, wishart.way_to_go)
)


def some_scales(count, p, seed=0):
    root = np.random.default_rng(seed).normal(size=(count, p, p + 3))
    return root @ root.transpose(0, 2, 1)


def roots_of(scale):
    _, roots = room_for(scale.shape[0], np.zeros(scale.shape[1:]))
    assert factorise(scale, roots)
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
def test_a_scale_that_is_none_is_noticed(diagonal):
    _, roots = room_for(1, np.zeros((2, 2)))
    assert not factorise(np.diag([1.0, diagonal])[None], roots)


def test_the_factors_of_a_scale_that_is_none_are_an_error():
    none = Components(np.zeros((1, 2)), np.ones(1), np.full(1, 5.0), np.diag([1.0, -1.0])[None], (Gaussian(),))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        _ = none.factor


@pytest.mark.parametrize("step", [0.0, 0.3])
def test_statistics_go_on_in_a_straight_line_whatever_their_origins(step):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 3))
    before, now = (
        statistics_of_labels(Rows.plain(rows), rng.integers(0, 2, size=50), 2).about(rng.normal(size=(2, 3)))
        for _ in range(2)
    )
    found = extrapolated(now, before, step)
    moved = before.about(now.origin)
    np.testing.assert_allclose(found.counts, now.counts + step * (now.counts - before.counts))
    np.testing.assert_allclose(found.sums, now.sums + step * (now.sums - moved.sums), atol=1e-11)
    np.testing.assert_allclose(found.squares, now.squares + step * (now.squares - moved.squares), atol=1e-10)


def test_no_component_loses_more_than_half_of_its_rows():
    rows = Rows.plain(np.random.default_rng(0).normal(size=(50, 2)))
    before, now = (statistics_of_labels(rows, np.repeat([0, 1], [n, 50 - n]), 2) for n in (40, 10))
    assert extrapolated(now, before, 100.0).counts.tolist() == [5.0, 45.0]


@pytest.mark.parametrize(("gains", "expected"), [((1.0, 0.25), 1.0), ((1.0, 0.81), 9.0), ((1.0, 2.0), 0.0)])
def test_the_way_to_go_is_that_of_a_geometric_ascent(gains, expected):
    assert way_to_go(gains[1], gains[0]) == pytest.approx(expected)


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
