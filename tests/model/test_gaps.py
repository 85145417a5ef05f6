"""Missing cells: expectations and spread are those of a conditional Gaussian, derived from the scatter."""

import numpy as np
import pytest
from compiled import from_python
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from vbrand.model.gaps import absent_cells, by_moments, completed, decompose, expected, hidden_loss, invert_lower


def incomplete(seed, n=40, p=5, share=0.4):
    rng = np.random.default_rng(seed)
    scatter = stats.wishart(p + 2, np.eye(p)).rvs(random_state=rng).reshape(p, p) + 0.1 * np.eye(p)
    rows = rng.multivariate_normal(np.arange(p), scatter, n)
    return np.where(rng.random(rows.shape) < share, np.nan, rows), np.arange(float(p)), scatter


def test_absent_cells_are_found_row_by_row():
    rows = np.array([[1.0, np.nan, 2.0], [0.0, 0.0, 0.0], [np.nan, np.nan, np.nan]])
    first, columns = absent_cells(rows)
    assert first.tolist() == [0, 1, 1, 4]
    assert columns.tolist() == [1, 0, 1, 2]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0.0, 1.0))
def test_expectations_and_spread_are_those_of_a_conditional_gaussian(seed, p, share):
    """(5.21), (5.24) by the blocks of the scatter instead of the precision."""
    rows, mean, scatter = incomplete(seed, 12, p, share)
    filled, spread = completed(rows, mean, np.linalg.inv(scatter))
    again, logs = expected(rows, mean, np.linalg.inv(scatter))
    np.testing.assert_array_equal(filled, again)
    covariance = np.zeros((12, p * p))
    np.add.at(covariance, (spread.row, spread.cell), spread.value)
    for i, row in enumerate(rows):
        m, o = np.isnan(row), ~np.isnan(row)
        slope = scatter[np.ix_(m, o)] @ np.linalg.inv(scatter[np.ix_(o, o)])
        wanted = np.zeros((p, p))
        wanted[np.ix_(m, m)] = scatter[np.ix_(m, m)] - slope @ scatter[np.ix_(o, m)]
        np.testing.assert_allclose(filled[i, m], mean[m] + slope @ (row - mean)[o], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(covariance[i].reshape(p, p), wanted, rtol=1e-8, atol=1e-8)
        of_observed = np.linalg.slogdet(scatter[np.ix_(o, o)])[1]  # |S_oo| = |S| |P_mm|
        assert np.linalg.slogdet(scatter)[1] + logs[i] == pytest.approx(of_observed, abs=1e-8)


def test_the_distance_of_filled_rows_is_that_of_their_cells():
    rows, mean, scatter = incomplete(3)
    deviation = expected(rows, mean, np.linalg.inv(scatter))[0] - mean
    distance = np.einsum("ij,jk,ik->i", deviation, np.linalg.inv(scatter), deviation)
    for row, found in zip(rows, distance, strict=True):
        o = ~np.isnan(row)
        wanted = (row - mean)[o] @ np.linalg.solve(scatter[np.ix_(o, o)], (row - mean)[o]) if o.any() else 0.0
        assert found == pytest.approx(wanted, abs=1e-9)


def test_what_rounding_hides_less_is_a_difference_of_traces():
    """(5.23)."""
    _, _, scatter = incomplete(1)
    precision, noise = np.linalg.inv(scatter), np.array([0.3, 0.0, 0.2, 0.1, 0.4])
    columns, lower, inverse = np.array([1, 3]), np.empty((5, 5)), np.empty((5, 5))
    from_python(decompose)(precision[None], 0, columns, 0, 2, lower)
    from_python(invert_lower)(lower, 2, inverse)
    found = from_python(hidden_loss)((precision * noise @ precision)[None], 0, columns, 0, 2, inverse)
    o = [0, 2, 4]
    inside = np.trace(np.linalg.inv(scatter[np.ix_(o, o)]) @ np.diag(noise[o]))
    assert found == pytest.approx(np.trace(precision @ np.diag(noise)) - inside)


def test_a_triangle_gives_the_inverse_of_its_square():
    _, _, scatter = incomplete(2)
    inverse = np.zeros((5, 5))
    from_python(invert_lower)(np.linalg.cholesky(scatter), 5, inverse)
    np.testing.assert_allclose(np.tril(inverse), np.tril(np.linalg.inv(scatter)), rtol=1e-9)


def test_moments_of_a_component_fill_its_gaps_and_those_of_all_rows_where_it_has_none():
    rows = np.array([[1.0, np.nan], [3.0, 2.0], [np.nan, 4.0], [8.0, np.nan], [9.0, np.nan]])
    filled, spread = by_moments(rows, np.array([0, 0, 0, 1, 1]), 2)
    np.testing.assert_allclose(filled, [[1.0, 3.0], [3.0, 2.0], [2.0, 4.0], [8.0, 3.0], [9.0, 3.0]])
    assert spread.row.tolist() == [0, 2, 3, 4]
    assert spread.cell.tolist() == [3, 0, 3, 3]
    np.testing.assert_allclose(spread.value, [1.0, 1.0, 1.0, 1.0])


def test_a_column_without_any_cell_is_one_of_variance_one_about_nothing():
    filled, spread = by_moments(np.full((2, 1), np.nan), np.zeros(2, int), 1)
    assert filled.tolist() == [[0.0], [0.0]]
    assert spread.value.tolist() == [1.0, 1.0]
