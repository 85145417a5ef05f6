"""Sums of numbers that are given by their logarithms agree with scipy's."""

import numpy as np
import pytest
from scipy.special import logsumexp

from vbrand.sums import log_sum


@pytest.mark.parametrize("shape", [(100, 3), (40, 30), (7, 1)])
@pytest.mark.parametrize("axis", [0, 1])
def test_sums_are_those_of_scipy(shape, axis):
    terms = 30.0 * np.random.default_rng(0).normal(size=shape)
    terms[1, 0] = -np.inf
    terms[2] = terms[2, 0]  # ties
    np.testing.assert_allclose(log_sum(terms, axis), logsumexp(terms, axis=axis), rtol=1e-14)
    kept = log_sum(terms, axis, keepdims=True)
    np.testing.assert_array_equal(kept, np.expand_dims(log_sum(terms, axis), axis))


def test_nothing_at_all_and_what_is_no_number_stay_so():
    terms = np.array([[-np.inf, -np.inf], [np.inf, 0.0], [np.nan, 0.0], [-1e300, -1e300]])
    np.testing.assert_array_equal(log_sum(terms, axis=1), [-np.inf, np.inf, np.nan, -1e300])
