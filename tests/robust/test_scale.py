"""Qn and tau: right for any size, ties and all, and consistent for Gaussian data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vbrand.robust import scale
from vbrand.robust.scale import qn, tau

qn(np.arange(4_000.0)[:, None])  # compiled before Hypothesis looks at the clock


def slow_quartile_of_distances(column):
    n = column.size
    distances = np.sort(np.abs(column[:, None] - column)[np.triu_indices(n, 1)])
    half = n // 2 + 1
    return distances[half * (half - 1) // 2 - 1]


def consistency(n):
    column = np.random.default_rng(n).normal(size=n)
    return qn(column[:, None])[0] / slow_quartile_of_distances(column)


@given(st.integers(2, 60).flatmap(lambda n: arrays(float, n, elements=st.integers(-9, 9).map(float))))
def test_qn_of_tied_values_equals_the_sorted_distances(column):
    assert qn(column[:, None])[0] == pytest.approx(consistency(column.size) * slow_quartile_of_distances(column))


@pytest.mark.parametrize("n", [2, 3, 10, 11, 50, 201])
def test_distances_that_are_listed_give_the_bits_of_those_that_are_counted(n, monkeypatch):
    columns = np.random.default_rng(n).normal(size=(n, 4)).round(2) * [1.0, 0.1, 3.0, 1e6]
    listed = qn(columns)
    monkeypatch.setattr(scale, "_LISTED", 0)
    np.testing.assert_array_equal(qn(columns), listed)


@pytest.mark.parametrize("n", [2, 3, 10, 11, 100, 101, 1500])
@pytest.mark.parametrize("shape", ["gaussian", "cauchy", "rounded", "two lumps"])
def test_qn_equals_the_sorted_distances(n, shape):
    rng = np.random.default_rng(n)
    column = {
        "gaussian": rng.normal(size=n),
        "cauchy": rng.standard_cauchy(size=n),
        "rounded": rng.normal(size=n).round(1),
        "two lumps": rng.normal(size=n) * 1e-3 + rng.integers(0, 2, n) * 1e6,
    }[shape]
    assert qn(column[:, None])[0] == pytest.approx(consistency(n) * slow_quartile_of_distances(column), rel=1e-12)


def test_qn_of_a_million_rows_is_the_standard_deviation():
    column = np.random.default_rng(0).normal(3.0, 5.0, size=(1_000_000, 1))
    assert qn(column)[0] == pytest.approx(5.0, rel=5e-3)


def test_qn_of_a_million_ordered_integers_is_exact():
    n = 1_000_000  # distance d occurs n - d times: the rank-th smallest solves a quadratic
    half = n // 2 + 1
    rank = half * (half - 1) // 2
    d = np.arange(1, n)
    expected = d[np.searchsorted(np.cumsum(n - d), rank)]
    column = np.random.default_rng(0).permutation(n).astype(float)
    large_sample = 1.0 / (np.sqrt(2.0) * 0.3186393639643752)  # 1 / (sqrt(2) Phi^-1(5/8))
    assert qn(column[:, None])[0] == pytest.approx(expected * large_sample, rel=1e-5)


@pytest.mark.parametrize("n", [*range(2, 15), 25, 40])
def test_qn_is_unbiased_in_small_gaussian_samples(n):
    scales = qn(np.random.default_rng(n).normal(size=(n, 40_000)))
    assert abs(scales.mean() - 1.0) < 4 * scales.std() / np.sqrt(scales.size) + 2e-3


def test_tau_is_consistent_and_bounded_under_outliers():
    rows = np.random.default_rng(0).normal(0.0, 2.0, size=(200_000, 1))
    assert tau(rows)[0] == pytest.approx(2.0, rel=1e-2)
    rows[:60_000] = 1e9
    assert tau(rows)[0] < 6.0
