"""The step to which a column was rounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand.robust.rounding import rounding_steps


@given(st.sampled_from([1.0, 0.5, 0.1, 0.01, 5.0, 1e-6, 3.0, 1e7]), st.floats(-1e3, 1e3), st.integers(0, 99))
def test_the_step_is_found_whatever_the_shift(step, shift, seed):
    column = np.random.default_rng(seed).integers(0, 20, 60) * step + shift * step
    assert rounding_steps(column[:, None])[0] == pytest.approx(step, rel=1e-4)


def test_values_as_they_were_measured_have_none():
    rows = np.random.default_rng(0).normal(size=(500, 3))
    np.testing.assert_array_equal(rounding_steps(rows), 0.0)
    np.testing.assert_array_equal(rounding_steps(np.repeat(rows, 3, axis=0)), 0.0)  # nor have copies


def test_a_slip_of_the_pen_does_not_matter():
    column = np.append(np.tile(np.arange(40.0), 5), [3.14159, 7.5])
    assert rounding_steps(column[:, None])[0] == 1.0


def test_constant_columns_and_two_levels():
    rows = np.column_stack([np.ones(10), np.tile([0.0, 1.0], 5)])
    np.testing.assert_array_equal(rounding_steps(rows), [0.0, 1.0])
