"""Rows x scores -> statistics: the one hot place, and the only code that touches rows."""

from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp

from vbrand.model.posterior import Scores
from vbrand.model.statistics import Statistics
from vbrand.types import FloatArray, IntArray

# rows a block: its deviations from one component stay in the processor's cache
_BLOCK = 2_048


def sweep(rows: FloatArray, scores: Scores) -> Statistics:
    """Return the statistics of rows shared out among the components in proportion to exp(score).

    Blocks are added up in their order, so the answer does not depend on who computes them.
    """
    total = _nothing(scores)
    for block in _blocks(rows):
        score = score_rows(block, scores)  # (b, K)
        evidence = logsumexp(score, axis=1, keepdims=True)
        total = total + _statistics(block, np.exp(score - evidence), scores.centre, float(evidence.sum()))
    return total


def score_rows(rows: FloatArray, scores: Scores) -> FloatArray:
    """Return the score of every row in every component, (n, K)."""
    result = np.empty((rows.shape[0], scores.constant.size))
    for first, block in zip(range(0, rows.shape[0], _BLOCK), _blocks(rows), strict=True):
        for k, constant in enumerate(scores.constant):
            unit = (block - scores.centre[k]) @ scores.root[k].T
            result[first : first + _BLOCK, k] = constant - 0.5 * np.einsum("ij,ij->i", unit, unit)
    return result


def statistics_of_labels(rows: FloatArray, component: IntArray, components: int) -> Statistics:
    """Return the statistics of rows that belong to one component each."""
    counts = np.bincount(component, minlength=components).astype(np.float64)
    origin = np.zeros((components, rows.shape[1]))
    squares = np.zeros((components, rows.shape[1], rows.shape[1]))
    for k in np.flatnonzero(counts):
        members = rows[component == k]
        origin[k] = members.mean(axis=0)
        squares[k] = (members - origin[k]).T @ (members - origin[k])
    return Statistics(counts, counts, origin, np.zeros_like(origin), squares, 0.0)


def _statistics(rows: FloatArray, shares: FloatArray, origin: FloatArray, evidence: float) -> Statistics:
    counts = shares.sum(axis=0)
    sums = np.empty_like(origin)
    squares = np.empty((*origin.shape, origin.shape[1]))
    for k, share in enumerate(shares.T):
        deviation = rows - origin[k]
        sums[k] = share @ deviation
        squares[k] = deviation.T @ (share[:, None] * deviation)
    return Statistics(counts, counts, origin, sums, squares, evidence)


def _nothing(scores: Scores) -> Statistics:
    empty = np.zeros_like(scores.constant)
    return Statistics(empty, empty, scores.centre, np.zeros_like(scores.centre), np.zeros_like(scores.root), 0.0)


def _blocks(rows: FloatArray) -> Iterator[FloatArray]:
    for first in range(0, rows.shape[0], _BLOCK):
        yield rows[first : first + _BLOCK]
