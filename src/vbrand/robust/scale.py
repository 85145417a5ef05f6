"""Robust scales of columns: Qn and tau.

Both are consistent for the standard deviation of Gaussian data and survive outliers. Qn (Rousseeuw and
Croux 1993) is the first quartile of all pairwise distances; tau (Maronna and Zamar 2002) is a truncated
standard deviation about a weighted mean, cheaper on long columns.
"""

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from scipy import special, stats

from vbrand.types import FloatArray, IntArray

# 1 / (sqrt(2) Phi^-1(5/8)): Qn of Gaussian data then estimates their standard deviation
_QN_CONSISTENCY = 1.0 / (np.sqrt(2.0) * stats.norm.ppf(5.0 / 8.0))
# factors that make Qn unbiased for Gaussian samples of n = 2..12 rows (Croux and Rousseeuw 1992, refined)
_QN_SMALL = (
    *(0.399356, 0.99365, 0.51321, 0.84401, 0.61220, 0.85877),
    *(0.66993, 0.87344, 0.72014, 0.88906, 0.75743),
)
_TAU_LOCATION_CUTOFF = 4.5
_TAU_SCALE_CUTOFF = 3.0
# the first quartile of distances, in interquartile ranges of Gaussian data: where to look first
_PER_QUARTILE_RANGE = 0.334
# how many distances per row are few enough to be listed
_FEW = 4
_SAMPLE = 32
# so many distances of all columns are listed without more ado: nothing has to be compiled for small tables
_LISTED = 40_000

# no sum here that could be reordered: what is compiled is what is written
_jit = numba.njit(cache=True, nogil=True, error_model="numpy")
# called from compiled code alone: nothing is compiled or kept for Python's sake
_NOT_FROM_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_inner = numba.njit(nogil=True, error_model="numpy", **_NOT_FROM_PYTHON)


def qn(columns: FloatArray) -> FloatArray:
    """Return the Qn scale of every column, in O(n log n) time and O(n) memory per column.

    >>> import numpy as np
    >>> table = np.random.default_rng(0).normal(size=(1000, 2)) * [1.0, 100.0]
    >>> table[:300] = 1e6  # 30 % of outliers
    >>> qn(table).round(1)
    array([  1.4, 130.5])
    """
    rows = columns.shape[0]
    ordered = np.full((columns.shape[1], rows + 1), np.inf)
    ordered[:, :rows] = columns.T
    ordered[:, :rows].sort(axis=1)
    # (3.3)  Qn = c_n / (sqrt(2) Phi^-1(5/8)) x the h(h-1)/2-th smallest |x_i - x_j|, i < j,   h = floor(n/2) + 1
    half = rows // 2 + 1
    rank = half * (half - 1) // 2
    if columns.size * (rows - 1) <= 2 * _LISTED:
        return np.asarray(_small_sample_factor(rows) * _QN_CONSISTENCY * _listed(ordered, rank))
    found = np.empty(columns.shape[1])
    partners, sample = np.empty((3, rows), np.int64), np.empty(_SAMPLE + rows // 64)
    _distances_of_rank(ordered, rank, partners, sample, np.empty(_FEW * rows), found)
    return np.asarray(_small_sample_factor(rows) * _QN_CONSISTENCY * found)


def _listed(ordered: FloatArray, rank: int) -> FloatArray:
    """Return the rank-th smallest distance within each row of `ordered`, which ends with a guard."""
    first, second = _pairs(ordered.shape[1] - 1)
    distances = ordered[:, second] - ordered[:, first]
    return np.asarray(np.partition(distances, rank - 1, axis=1)[:, rank - 1])


@lru_cache(maxsize=4)
def _pairs(rows: int) -> tuple[IntArray, IntArray]:
    """Return all pairs of so many rows: the columns of one class are asked for one after the other."""
    return np.triu_indices(rows, 1)


def tau(columns: FloatArray) -> FloatArray:
    """Return the tau scale of every column (Maronna and Zamar 2002), in O(n) time.

    >>> import numpy as np
    >>> tau(np.random.default_rng(0).normal(size=(100_000, 1)) * 5.0).round(1)
    array([5.])
    """
    centre = np.median(columns, axis=0)
    spread = np.median(np.abs(columns - centre), axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    distance = (columns - centre) / scale
    # (3.4)  mid = med + q sum(g e) / sum(g),   g = max(1 - (e / 4.5)^2, 0)^2,   e = (x - med) / q
    weight = np.clip(1.0 - (distance / _TAU_LOCATION_CUTOFF) ** 2, 0.0, None) ** 2
    location = (weight * distance).sum(axis=0) / weight.sum(axis=0)
    # (3.4)  tau^2 = q^2 mean(min((x - mid)^2 / q^2, 3^2)) / E min(Z^2, (3 Phi^-1(3/4))^2)
    clipped = np.minimum((distance - location) ** 2, _TAU_SCALE_CUTOFF**2)
    return np.asarray(spread * np.sqrt(clipped.mean(axis=0) / _expected_clipped_square()))


def _small_sample_factor(rows: int) -> float:
    """Return the factor that makes Qn unbiased for Gaussian samples of this size."""
    if rows <= 12:
        return _QN_SMALL[rows - 2]
    if rows % 2:
        return 1.0 / (1.0 + (1.60188 + (-2.1284 - 5.172 / rows) / rows) / rows)
    return 1.0 / (1.0 + (3.67561 + (1.9654 + (6.987 - 77.0 / rows) / rows) / rows) / rows)


def _expected_clipped_square() -> float:
    """Return E min(Z^2, b^2) for a standard Gaussian Z, b the scale cutoff in standard deviations."""
    bound = _TAU_SCALE_CUTOFF * stats.norm.ppf(0.75)
    # (3.5)  E min(Z^2, b^2) = 2 Phi(b) - 1 - 2 b f(b) + 2 b^2 (1 - Phi(b))
    inside = 2.0 * special.ndtr(bound) - 1.0 - 2.0 * bound * stats.norm.pdf(bound)
    return float(inside + 2.0 * bound**2 * special.ndtr(-bound))


@_jit
def _distances_of_rank(ordered, rank, partners, sample, rest, result):  # type: ignore[no-untyped-def]
    """Store the rank-th smallest distance within each row of `ordered`; the other arrays are memory to work in."""
    for column in range(ordered.shape[0]):
        result[column] = _distance_of_rank(ordered[column], rank, partners, sample, rest)


@_inner
def _distance_of_rank(x, rank, partners, sample, rest):  # type: ignore[no-untyped-def]
    """Return the rank-th smallest x[j] - x[i], i < j, of sorted x, which ends with an infinite guard.

    A quickselect over the n (n - 1) / 2 distances, none of which is stored. Row i of their triangle keeps the partners
    after inside[i] up to last[i] in play; a small systematic sample suggests the pivot, and one sweep of two pointers
    counts the distances up to it.
    """
    n = x.size - 1
    # (n,) each: the last partner known to be too close, the last one in play, and what the next look finds
    inside, last, reach = 0, 1, 2
    for i in range(n):
        partners[inside, i] = i
        partners[last, i] = n - 1

    in_play = n * (n - 1) // 2
    below = 0
    expected = _PER_QUARTILE_RANGE * (x[3 * n // 4] - x[n // 4])
    turn = 0

    while turn < 2 or in_play > _FEW * n:
        # two looks about where the first quartile of Gaussian distances lies, then at pivots
        exact = turn >= 2
        if exact:
            _fill_sample(x, partners[inside], partners[last], in_play, sample)
            pivot = _select(sample, sample.size, (rank - below - 1) * sample.size // in_play)
        else:
            pivot = (0.9 + 0.2 * turn) * expected
        turn += 1

        count = _reach(x, pivot, exact, partners[reach])
        if count < rank:
            inside, reach = reach, inside
            in_play -= count - below
            below = count
            continue
        if exact:
            count = _reach(x, pivot, not exact, partners[reach])
            if count < rank:
                return pivot
        if count < below + in_play:
            last, reach = reach, last
            in_play = count - below

    filled = 0
    for i in range(n):
        for j in range(partners[inside, i] + 1, partners[last, i] + 1):
            rest[filled] = x[j] - x[i]
            filled += 1
    return _select(rest, in_play, rank - below - 1)


@_inner
def _fill_sample(x, inside, last, in_play, sample):  # type: ignore[no-untyped-def]
    """Store equally spaced distances of those in play, counted row by row."""
    passed, row = 0, 0
    for taken in range(sample.size):
        wanted = int((taken + 0.5) / sample.size * in_play)
        while passed + last[row] - inside[row] <= wanted:
            passed += last[row] - inside[row]
            row += 1
        sample[taken] = x[inside[row] + 1 + wanted - passed] - x[row]


@_inner
def _select(values, size, place):  # type: ignore[no-untyped-def]
    """Return the value that stands at a place of the first sorted values, which are reordered (Hoare 1961)."""
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]


@_inner
def _reach(x, limit, touching, reach):  # type: ignore[no-untyped-def]
    """Store the last partner of each row at a distance < limit, or <= limit if touching, and count such distances."""
    count, j = 0, 0
    for i in range(x.size - 1):
        j = j if j > i else i
        while x[j + 1] - x[i] < limit or (touching and x[j + 1] - x[i] == limit):
            j += 1
        reach[i] = j
        count += j - i
    return count
