"""Six deterministic places to look for the clean half of the rows.

Each start guesses the directions of the clean rows in a way that outliers can hardly bend, measures robust centre and
scales along them, and keeps the rows that are closest in that metric (Hubert, Rousseeuw and Verdonck 2012).
"""

import numpy as np
from scipy import linalg, special, stats

from vbrand.robust.scale import qn, tau
from vbrand.types import BoolArray, FloatArray

# directions whose scale is below this share of the largest hold rounding noise, not data
_NO_SPREAD = 1e-9
# above this many rows the pairwise scales of OGK come from tau, which is faster than Qn on long columns
_LONG_COLUMN = 2_000
# values of sums of columns that are held at once
_FEW_SUMS = 64_000


def starting_subsets(rows: FloatArray, size: int) -> list[BoolArray]:
    """Return six masks of `size` rows each: tanh, Spearman, normal scores, spatial sign, BACON and raw OGK.

    The columns of `rows` come in units of their spread; one in which half of the rows agree keeps that unit.
    """
    scale = qn(rows)
    standard = (rows - np.median(rows, axis=0)) / np.where(scale > _NO_SPREAD, scale, 1.0)  # (n, p)
    ranks = np.asarray(stats.rankdata(standard, axis=0))
    axes = (
        _principal_axes(_standardised(np.tanh(standard))),
        _principal_axes(_standardised(ranks)),
        _principal_axes(_standardised(_normal_scores(ranks))),
        _principal_axes(_spatial_signs(standard)),
        _principal_axes(_innermost_half(standard)),
        _ogk_axes(standard),
    )
    return [_closest_along(standard, each, size) for each in axes]


def smallest(values: FloatArray, size: int) -> BoolArray:
    """Return the mask of the `size` smallest values; of equal values the first are taken.

    >>> import numpy as np
    >>> smallest(np.array([3.0, 1.0, 1.0, 1.0]), 2)
    array([False,  True,  True, False])
    """
    limit = np.partition(values, size - 1)[size - 1]
    mask: BoolArray = values < limit
    ties = np.flatnonzero(values == limit)
    mask[ties[: size - int(mask.sum())]] = True
    return mask


def _closest_along(rows: FloatArray, axes: FloatArray, size: int) -> BoolArray:
    """Return the rows closest to the robust centre, in the metric of robust scales along the axes."""
    projected = rows @ axes  # (n, r)
    scale = qn(projected)
    spread = scale > _NO_SPREAD * scale.max()
    axes, projected, scale = axes[:, spread], projected[:, spread], scale[spread]
    # (3.12) centre = E diag(s) E' median(E diag(1/s) E' x), and the rows of least |E diag(1/s) E' (x - centre)|^2
    centre = (np.median((projected / scale) @ axes.T, axis=0) @ axes) * scale  # (r,), along the axes
    distance = np.square((projected - centre) / scale).sum(axis=1)  # (n,)
    return smallest(distance, size)


def _principal_axes(rows: FloatArray) -> FloatArray:
    """Return the right singular vectors of the rows as columns: the eigenvectors of rows' rows."""
    n, p = rows.shape
    if p <= n:
        return np.asarray(linalg.eigh(rows.T @ rows)[1])
    _, singular, vectors = linalg.svd(rows, full_matrices=False)
    return np.asarray(vectors[singular > _NO_SPREAD * singular[0]].T)


def _ogk_axes(rows: FloatArray) -> FloatArray:
    """Return the eigenvectors of the pairwise robust covariances (Gnanadesikan and Kettenring 1972)."""
    n, p = rows.shape
    if p > n:  # the rows span at most n directions: pairs of those, not of all columns
        basis = _principal_axes(rows)
        return basis @ _ogk_axes(rows @ basis)
    scale = tau if n > _LONG_COLUMN else qn
    covariance = np.eye(p)
    later, first = np.tril_indices(p, -1)
    step = max(1, _FEW_SUMS // n)
    for at in range(0, first.size, step):
        a, b = rows[:, first[at : at + step]], rows[:, later[at : at + step]]
        # (3.11) cov(a, b) = (scale(a + b)^2 - scale(a - b)^2) / 4
        covariance[later[at : at + step], first[at : at + step]] = (scale(a + b) ** 2 - scale(a - b) ** 2) / 4.0
    return np.asarray(linalg.eigh(covariance, lower=True)[1])


def _standardised(columns: FloatArray) -> FloatArray:
    centred = columns - columns.mean(axis=0)
    length = np.sqrt(np.square(centred).sum(axis=0))
    return np.asarray(centred / np.where(length > 0, length, 1.0))


def _normal_scores(ranks: FloatArray) -> FloatArray:
    # Phi^-1((rank - 1/3) / (n + 1/3))
    return np.asarray(special.ndtri((ranks - 1.0 / 3.0) / (ranks.shape[0] + 1.0 / 3.0)))


def _spatial_signs(rows: FloatArray) -> FloatArray:
    length = np.linalg.norm(rows, axis=1)
    return np.asarray(rows / np.where(length > 0, length, 1.0)[:, None])


def _innermost_half(rows: FloatArray) -> FloatArray:
    half = smallest(np.linalg.norm(rows, axis=1), (rows.shape[0] + 1) // 2)
    return np.asarray(rows[half] - rows[half].mean(axis=0))
