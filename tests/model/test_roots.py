import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand.model.roots import symmetric_roots


@given(st.integers(0, 10_000), st.integers(1, 8))
def test_roots_lead_back_to_the_scatter_whatever_the_order_of_columns(seed, p):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(3 * p, p))
    scatter, order = rows.T @ rows, generator.permutation(p)
    root, inverse = symmetric_roots(scatter)
    np.testing.assert_allclose(root @ root, scatter, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(root @ inverse, np.eye(p), atol=1e-7)
    np.testing.assert_allclose(symmetric_roots(scatter[np.ix_(order, order)])[0], root[np.ix_(order, order)], atol=1e-7)


@given(st.integers(0, 10_000), st.integers(2, 8))
def test_a_singular_scatter_has_finite_roots(seed, p):
    line = np.random.default_rng(seed).normal(size=(1, p))
    root, inverse = symmetric_roots(line.T @ line)
    assert np.isfinite(root).all()
    assert np.isfinite(inverse).all()
    np.testing.assert_allclose(root @ root, line.T @ line, atol=1e-12 * p * float(np.square(line).sum()))


@pytest.mark.parametrize("scatter", [-np.eye(2), np.zeros((2, 2)), np.full((2, 2), np.nan)])
def test_what_is_positive_nowhere_has_no_roots(scatter):
    with pytest.raises(np.linalg.LinAlgError):
        symmetric_roots(scatter)
