"""Bent scales: monotone, and there and back again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.stage1.warp import Warp

# reaches of the low and the high end, and the power
LOW_END = (0.3, np.inf, 0.0)
HIGH_END = (np.inf, 0.002, 1 / 3)
BOTH_ENDS = (0.05, 0.7, 2 / 3)
NOT_BENT = (np.inf, np.inf, 0.0)


def warp_of(*bends, low=-1.0, high=4.0, step=0.0):
    reach, high_reach, power = np.array(bends).T
    p = len(bends)
    return Warp(np.full(p, low), reach, np.full(p, high), high_reach, power, np.full(p, step))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000))
def test_values_come_back_as_they_were(seed):
    warp = warp_of(LOW_END, HIGH_END, BOTH_ENDS, NOT_BENT)
    rows = np.random.default_rng(seed).normal(1.0, 10.0, (20, 4))
    np.testing.assert_allclose(warp.outward(warp.inward(rows)), rows, rtol=1e-9, atol=1e-9)


def test_a_bent_scale_keeps_the_order():
    ordered = np.sort(np.random.default_rng(0).normal(1.0, 5.0, (200, 4)), axis=0)
    assert (np.diff(warp_of(LOW_END, HIGH_END, BOTH_ENDS, NOT_BENT).inward(ordered), axis=0) > 0.0).all()


def test_slopes_are_differences():
    warp = warp_of(LOW_END, HIGH_END, BOTH_ENDS, NOT_BENT)
    rows, width = np.random.default_rng(1).normal(1.0, 2.0, (30, 4)), 1e-6
    slopes = (warp.inward(rows + width) - warp.inward(rows - width)) / (2.0 * width)
    np.testing.assert_allclose(warp.slopes(rows), slopes, rtol=1e-5)
    np.testing.assert_allclose(warp.log_slopes(rows), np.log(slopes).sum(axis=1), rtol=1e-5)


def test_missing_cells_stay_missing():
    rows = np.array([[1.0, np.nan, 2.0], [np.nan, 3.0, 1.0]])
    warp = warp_of(LOW_END, BOTH_ENDS, NOT_BENT)
    mapped = warp.inward(rows)
    np.testing.assert_array_equal(np.isnan(mapped), np.isnan(rows))
    np.testing.assert_allclose(warp.outward(mapped), rows, rtol=1e-9)
    assert np.isfinite(warp.log_slopes(rows)).all()


def test_steps_on_a_bent_scale_are_those_about_the_rows():
    warp = warp_of(LOW_END, step=0.1)
    rows = np.full((5, 1), 3.0)
    assert warp.steps(rows)[0] == pytest.approx(0.1 * warp.slopes(rows)[0, 0], rel=1e-3)


def test_a_column_that_is_not_bent_is_untouched():
    rows = np.random.default_rng(2).normal(size=(10, 2))
    np.testing.assert_array_equal(warp_of(BOTH_ENDS, NOT_BENT).inward(rows)[:, 1], rows[:, 1])


def test_places_farther_than_any_number_are_very_far():
    warp = warp_of(LOW_END, HIGH_END, BOTH_ENDS, (0.1, 0.1, 0.0), NOT_BENT)
    places = warp.outward(np.array([np.full(5, 1e6), np.full(5, -1e6)]))
    assert np.isfinite(places).all()
    assert (places[0] > 1e5).all()
    assert (places[1] < -1e5).all()
