"""Scales column by column: Qn where there is one, a stand-in where half of the values agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.robust.columns import (
    checked_scales,
    column_scales,
    constant_columns,
    rounding_of,
    spread_about,
    stand_in_scale,
)
from vbrand.robust.scale import qn


def test_a_column_without_ties_has_the_scale_qn():
    rows = np.random.default_rng(0).normal(size=(51, 4)) * [1.0, 1e-8, 1e8, 3.0]
    np.testing.assert_array_equal(column_scales(rows, np.full(4, np.nan)), qn(rows))


@pytest.mark.parametrize("n", [10, 11])
def test_a_column_takes_its_stand_in_exactly_if_half_of_its_values_agree(n):
    values = np.arange(float(n))
    half, fewer = values.copy(), values.copy()
    half[: n // 2] = 5.0
    fewer[: n // 2 - 1] = -1.0
    fewer[n // 2 - 1 :] *= np.pi  # no other ties
    scales = column_scales(np.column_stack([half, fewer]), np.array([7.0, 9.0]))
    assert scales[0] == 7.0
    assert scales[1] == qn(fewer[:, None])[0]


def test_values_that_differ_by_rounding_agree():
    rows = np.full((20, 2), 0.1)
    rows[::2] = 0.3 - 0.2  # not quite 0.1
    rows[:, 1] += np.arange(20.0)
    assert np.ptp(rows[:, 0]) > 0.0
    assert constant_columns(rows).tolist() == [True, False]
    assert column_scales(rows, np.array([7.0, 9.0]))[0] == 7.0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(-30, 30), st.floats(-100.0, 100.0))
def test_units_and_shifts_change_scales_by_just_that(seed, power, shift):
    rows = np.random.default_rng(seed).poisson(0.7, size=(40, 2)) + np.array([0.0, 0.25])
    factor = 2.0**power
    stand_in = stand_in_scale(rows)
    moved = (rows + shift) * factor
    np.testing.assert_allclose(stand_in_scale(moved), stand_in * factor, rtol=1e-9)
    np.testing.assert_allclose(
        column_scales(moved, stand_in * factor), column_scales(rows, stand_in) * factor, rtol=1e-9
    )
    assert (rounding_of(rows * factor) == rounding_of(rows) * factor).all()


def test_the_spread_of_deviations_is_their_root_mean_square_if_none_is_wild():
    deviations = np.array([[0.0, 3.0, 0.0], [0.0, -4.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 100.0]])
    # of the last column 100 counts as five times the median of 1, 1 and 100
    np.testing.assert_allclose(spread_about(deviations), [0.0, np.sqrt(25 / 4), np.sqrt(27 / 4)])


def test_one_wild_value_does_not_set_the_scale_of_a_column_of_counts():
    counts = np.random.default_rng(0).poisson(0.3, size=(100, 1)).astype(float)
    wild = counts.copy()
    wild[0] = 1e3
    assert stand_in_scale(wild)[0] < 2.0 * stand_in_scale(counts)[0]


@pytest.mark.parametrize("scale", [0.0, 1e-160, 1e160, np.inf, np.nan])
def test_scales_whose_squares_are_no_numbers_are_refused(scale):
    assert checked_scales(np.array([1e-140, 1e140])).tolist() == [1e-140, 1e140]
    with pytest.raises(ValueError, match="too small or too large"):
        checked_scales(np.array([1.0, scale]))
