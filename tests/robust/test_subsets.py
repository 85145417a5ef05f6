"""Six places to look for the clean half: masks of the right size that outliers can hardly bend."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vbrand.robust.subsets import smallest, starting_subsets


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(arrays(float, n, elements=st.integers(-3, 3).map(float)), st.integers(1, n))
    )
)
def test_the_smallest_values_are_a_stable_sort_cut_off(problem):
    values, size = problem
    mask = smallest(values, size)
    assert set(np.flatnonzero(mask)) == set(np.argsort(values, kind="stable")[:size])


@pytest.mark.parametrize("shape", [(60, 1), (60, 4), (25, 40)])
def test_there_are_six_masks_of_the_size_that_was_asked_for(shape):
    rows = np.random.default_rng(0).normal(size=shape)
    for size in (shape[0] // 2, shape[0]):
        masks = starting_subsets(rows, size)
        assert [mask.sum() for mask in masks] == [size] * 6


@pytest.mark.parametrize("n", [100, 2_400])  # tau instead of Qn for many rows
def test_no_start_holds_a_far_outlier(n):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 3))
    rows[: n // 5] += 50.0
    for mask in starting_subsets(rows, n // 2):
        assert not mask[: n // 5].any()


def test_units_and_places_of_columns_change_no_start():
    rows = np.random.default_rng(1).normal(size=(80, 3))
    moved = rows * [1.0, 2.0**-20, 2.0**20] + [0.0, 2.0**-18, 2.0**18]
    np.testing.assert_array_equal(starting_subsets(rows, 40), starting_subsets(moved, 40))


def test_a_column_without_spread_changes_no_start():
    rows = np.random.default_rng(2).normal(size=(60, 3))
    flat = np.insert(rows, 1, 4.0, axis=1)
    np.testing.assert_array_equal(starting_subsets(flat, 30), starting_subsets(rows, 30))
