"""Maps of rows: which rows to draw, and where in the plane, by principal components or t-SNE."""

import warnings

import numpy as np

from vbrand.samples import evenly, members_at
from vbrand.threads import one_thread
from vbrand.types import BoolArray, FloatArray, IntArray

# rows on a map: as many as a browser draws at once and an eye can tell apart
MOST_POINTS = 2_000
# beside those of a sample: the most novel rows of all, and as many of the most doubtful
TELLING = 50
# t-SNE works on so many principal components, as is usual
_COMPONENTS = 30
# coordinates farther out are cut to this: one far row should not choose the axes
_FAR_OUT = 30.0
# a sample of rows has one row of each group at least, so it may be larger than it should be
_FEWEST_FOR_TSNE, _MOST_FOR_TSNE = 10, 2 * MOST_POINTS
_SAME_PLACE = 1e-9
# what an axis shows of a group beyond its inner 80 %, in widths of that: of Gaussian rows all within 5 sd
_REACH = 1.5
# rows that are in no steady group still show if the axis need not grow by more than this share
_ROOM = 0.25


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


def with_telling(drawn: IntArray, novelty: FloatArray, score: FloatArray, threshold: float) -> IntArray:
    """Return the rows on a map, and those that most people look for: the most novel ones and the most doubtful ones.

    `novelty` is P(novel) of all rows; the novelty `score` tells rows apart of which that is the same.
    """
    novel = np.lexsort((-score, -novelty))[:TELLING]
    doubtful = np.lexsort((np.abs(score), np.abs(novelty - threshold)))[:TELLING]
    return np.unique(np.concatenate([drawn, novel, doubtful]))


def steady_range(places: FloatArray, clusters: IntArray, steady: BoolArray) -> FloatArray:
    """Return the range of each axis that shows all groups but not their strays, (2 axes, 2 ends).

    `steady` says of each group whether it has a place of its own: outlier groups have none. A few far rows would
    otherwise squash all others into a corner.
    """
    ends = [_reach(places[clusters == k]) for k in np.unique(clusters).tolist() if steady[k]]
    if not ends:
        return np.stack([places.min(axis=0), places.max(axis=0)], axis=1)
    low, high = np.min([end[0] for end in ends], axis=0), np.max([end[1] for end in ends], axis=0)
    room = _ROOM * (high - low)
    inside = places[((places >= low - room) & (places <= high + room)).all(axis=1)]
    together = np.vstack([inside, low, high])
    return np.stack([together.min(axis=0), together.max(axis=0)], axis=1)


def _reach(places: FloatArray) -> FloatArray:
    """Return the lower and upper ends of one group, strays left out, (2 ends, 2 axes)."""
    low, high = np.quantile(places, [0.1, 0.9], axis=0)
    reach = _REACH * (high - low)
    return np.stack([np.maximum(places.min(axis=0), low - reach), np.minimum(places.max(axis=0), high + reach)])


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
