"""Maps of rows: which rows to draw, and where in the plane, by principal components or t-SNE."""

import warnings

import numpy as np

from vbrand.samples import evenly, members_at
from vbrand.threads import one_thread
from vbrand.types import FloatArray, IntArray

# rows on a map: as many as a browser draws at once and an eye can tell apart
MOST_POINTS = 2_000
# t-SNE works on so many principal components, as is usual
_COMPONENTS = 30
# coordinates farther out are cut to this: one far row should not choose the axes
_FAR_OUT = 30.0
# a sample of rows has one row of each group at least, so it may be larger than it should be
_FEWEST_FOR_TSNE, _MOST_FOR_TSNE = 10, 2 * MOST_POINTS
_SAME_PLACE = 1e-9


def rows_to_draw(clusters: IntArray, most: int = MOST_POINTS) -> IntArray:
    """Return the rows on a map: all, or a sample of a long table that keeps its small groups.

    Half of the sample is shared out equally among the clusters, half by size; within a cluster rows are taken evenly.

    >>> rows_to_draw(np.array([0, 0, 0, 0, 0, 0, 1]), most=4)
    array([0, 5, 6])
    """
    if clusters.size <= most:
        return np.arange(clusters.size)
    sizes = np.bincount(clusters)
    present, sizes = np.flatnonzero(sizes), sizes[sizes > 0]
    counts = np.minimum(sizes, most // (2 * present.size) + (most // 2) * sizes // clusters.size)
    chosen = [
        members_at(clusters, clusters.size, k, evenly(size, count))
        for k, size, count in zip(present.tolist(), sizes.tolist(), np.maximum(counts, 1).tolist(), strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def principal_scores(rows: FloatArray) -> FloatArray:
    """Return the first principal components of rows in units of the scatter within classes, (n, at least 2)."""
    return principal_places(rows, rows[:0])[0]


def principal_places(rows: FloatArray, beside: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the principal components of rows, and where those `beside` them, which have no say in it, lie on them."""
    near = np.clip(rows, -_FAR_OUT, _FAR_OUT)
    centre = near.mean(axis=0)
    left, size, axes = np.linalg.svd(near - centre, full_matrices=False)
    turn = np.sign(axes[np.arange(axes.shape[0]), np.abs(axes).argmax(axis=1)])  # a sign that does not depend on LAPACK
    turn = np.where(turn == 0.0, 1.0, turn)
    others = np.clip(beside, -_FAR_OUT, _FAR_OUT) - centre
    return _in_a_plane(left * size * turn), _in_a_plane(others @ (axes * turn[:, None]).T)


def _in_a_plane(scores: FloatArray) -> FloatArray:
    """Return the first components, with zeros where there is only one."""
    return np.asarray(np.pad(scores[:, :_COMPONENTS], ((0, 0), (0, max(0, 2 - scores.shape[1])))))


def tsne_points(scores: FloatArray) -> FloatArray | None:
    """Return points in the plane such that neighbours stay neighbours, (n, 2); None for too few or too many rows."""
    from sklearn.manifold import TSNE

    n, size = scores.shape[0], float(np.ptp(scores, axis=0).max())
    if (
        not _FEWEST_FOR_TSNE <= n <= _MOST_FOR_TSNE or not _SAME_PLACE < size < np.inf
    ):  # rows equal up to rounding crash its compiled code
        return None
    method = TSNE(perplexity=min(30.0, (n - 1) / 3.0), init="pca", max_iter=500, random_state=0)
    # so few rows gain nothing by threads, and warnings about t-SNE's settings are of no use for a map
    with one_thread(), warnings.catch_warnings(action="ignore"):
        return np.asarray(method.fit_transform(scores / size), dtype=np.float64)
