"""Batches of triangular systems agree with scipy, one at a time."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from vbrand.model.triangles import divide, solve


def lower_triangles(rng, k, p):
    return np.tril(rng.normal(size=(k, p, p)), -1) + np.eye(p) * rng.uniform(0.5, 2.0, size=(k, 1, p))


@pytest.mark.parametrize(("k", "p"), [(1, 1), (4, 2), (7, 9), (0, 3)])
def test_a_triangle_divided_by_another_is_a_product_with_its_inverse(k, p):
    rng = np.random.default_rng(p)
    first, factor = lower_triangles(rng, k, p), lower_triangles(rng, k, p)
    found = first.copy()
    divide(found, factor)
    np.testing.assert_allclose(found @ factor, first, atol=1e-12)
    assert not np.triu(found, 1).any()


@pytest.mark.parametrize(("k", "p"), [(1, 1), (4, 2), (7, 9), (0, 3)])
def test_solutions_are_those_of_scipy(k, p):
    rng = np.random.default_rng(p)
    lower, right = lower_triangles(rng, k, p), rng.normal(size=(k, p))
    found = right.copy()
    solve(lower, found)
    for each, side, solution in zip(lower, right, found, strict=True):
        np.testing.assert_allclose(solution, solve_triangular(each, side, lower=True), atol=1e-12)
