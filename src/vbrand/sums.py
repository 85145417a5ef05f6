"""Sums of numbers that are given by their logarithms."""

import numpy as np

from vbrand.types import FloatArray


def log_sum(terms: FloatArray, axis: int, keepdims: bool = False) -> FloatArray:
    """Return log sum exp(terms) along an axis, as scipy's logsumexp does, without what it does for others' sake.

    >>> import numpy as np
    >>> log_sum(np.log([[1.0, 2.0], [3.0, 5.0]]), axis=1)
    array([1.09861229, 2.07944154])
    """
    largest = terms.max(axis=axis, keepdims=True)
    at_top = terms == largest
    count = at_top.sum(axis=axis, keepdims=True, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        others = np.exp(np.where(at_top, -np.inf, terms) - largest).sum(axis=axis, keepdims=True)
        total = np.log1p(others / count) + np.log(count) + largest
    total = np.where(np.isfinite(largest), total, largest)
    return np.asarray(total if keepdims else total.squeeze(axis))
