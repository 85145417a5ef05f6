"""Columns that go together, so that shares of a distance make sense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand.facts.bands import columns_together


def problem(seed, p, alike):
    """Return shares of columns in a squared distance, pieces and precision; neighbours go together."""
    rng = np.random.default_rng(seed)
    place = np.arange(p)
    precision = np.linalg.inv(alike ** np.abs(place[:, None] - place) + 1e-3 * np.eye(p))
    deviation = rng.normal(size=p) + 1.0
    shares = deviation * (precision @ deviation)
    return shares / shares.sum(), np.diag(deviation), precision


@given(st.integers(0, 99), st.integers(1, 12), st.floats(0.0, 0.99), st.booleans())
def test_shares_of_groups_are_between_nothing_and_all_but_for_little(seed, p, alike, ordered):
    shares, pieces, precision = problem(seed, p, alike)
    groups = columns_together(shares, pieces, precision, ordered=ordered)
    assert sorted(j for group in groups for j in group) == list(range(p))
    sums = [shares[group].sum() for group in groups]
    assert min(sums) >= -0.05
    assert max(sums) <= 1.05
    assert sum(sums) == pytest.approx(1.0)
    if ordered:
        assert all(np.diff(group).tolist() == [1] * (len(group) - 1) for group in groups)


@given(st.integers(0, 99), st.integers(2, 8))
def test_columns_that_scatter_apart_stand_alone(seed, p):
    shares, pieces, precision = problem(seed, p, 0.0)
    assert columns_together(shares, pieces, precision) == [[j] for j in range(p)]


@given(st.integers(0, 30), st.permutations(range(6)))
def test_the_order_of_columns_does_not_matter(seed, order):
    shares, pieces, precision = problem(seed, 6, 0.9)
    first = {frozenset(group) for group in columns_together(shares, pieces, precision)}
    place = np.array(order)
    moved = columns_together(shares[place], pieces[np.ix_(place, place)], precision[np.ix_(place, place)])
    assert {frozenset(place[group].tolist()) for group in moved} == first


def test_two_columns_that_go_together_and_differ_apart_are_one():
    """Both rise together in the class, one alone is higher in the row: +500 % and -400 % of the distance."""
    precision = np.linalg.inv(np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    deviation = np.array([2.0, 1.6, 0.5])
    shares = deviation * (precision @ deviation)
    shares /= shares.sum()
    assert shares.max() > 1.0
    assert columns_together(shares, np.diag(deviation), precision) == [[0, 1], [2]]
