"""Ways to split the rows of one component: guesses about where another class may hide among them.

None of them is right often; together they rarely miss. They use no random numbers, so that the order of rows does not
matter but for ties.
"""

from collections.abc import Iterator

import numpy as np

from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.samples import every_kth
from vbrand.types import FloatArray, IntArray


def guesses(rows: FloatArray, tuning: SearchTuning = TUNED) -> Iterator[IntArray]:
    """Return labelings, (n,), of rows, (n, p), into two or more pieces; columns should be of like size."""
    standard = _standardised(rows)
    white = _whitened(standard, tuning.no_spread)

    yield from _blobs(rows, tuning)
    yield from _blobs(standard, tuning)
    for axes in (standard, white):
        yield from _cores(axes, tuning)
    if white.shape[1] == 0:
        return

    yield next(_blobs(white, tuning))
    unusual = white @ _unusual_axes(white)
    # clusters apart make flat or two-humped axes: the first ones
    yield from _blobs(unusual[:, : tuning.flattest], tuning)

    distance = np.square(white).sum(axis=1)
    for share in tuning.within:
        yield (distance > np.quantile(distance, share)).astype(np.int64)
    for axes in (standard, white, unusual):
        yield from _crossings(axes, tuning.crossings)


def _blobs(rows: FloatArray, tuning: SearchTuning) -> Iterator[IntArray]:
    """Return k-means with 2, 3, .. pieces: each time the widest piece is cut across its longest axis."""
    labels = np.zeros(rows.shape[0], dtype=np.int64)
    for pieces in range(2, min(tuning.most_blobs, rows.shape[0]) + 1):
        spread = [_sum_of_squares(rows[labels == k]) for k in range(pieces - 1)]
        widest = np.flatnonzero(labels == np.argmax(spread))
        inside = rows[widest] - rows[widest].mean(axis=0)
        longest = np.linalg.svd(inside, full_matrices=False)[2][0]
        labels = labels.copy()
        labels[widest[inside @ longest > 0.0]] = pieces - 1
        labels = _lloyd(rows, labels, pieces, tuning.lloyd_steps)
        yield labels


def _lloyd(rows: FloatArray, labels: IntArray, pieces: int, steps: int) -> IntArray:
    """Return the labels after some steps of k-means: rows go to the nearest centre, centres to their rows."""
    for _ in range(steps):
        member = (labels[:, None] == np.arange(pieces)).astype(np.float64)  # (n, pieces)
        sizes = member.sum(axis=0)
        centres = (member.T @ rows) / np.maximum(sizes, 1.0)[:, None]
        distance = np.square(centres).sum(axis=1) - 2.0 * rows @ centres.T
        distance[:, sizes == 0.0] = np.inf
        nearest = distance.argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
    return labels


def _cores(rows: FloatArray, tuning: SearchTuning) -> Iterator[IntArray]:
    """Return the densest places: the nearest rows to the one that has them nearest, against the others."""
    n = rows.shape[0]
    some = rows[every_kth(n, tuning.looked_at)]
    square = np.square(some).sum(axis=1)[:, None] + np.square(rows).sum(axis=1) - 2.0 * some @ rows.T
    for share in tuning.cores:
        size = max(2, int(share * n))
        radius = np.partition(square, size - 1, axis=1)[:, size - 1]
        yield (square[radius.argmin()] > radius.min()).astype(np.int64)


def _crossings(rows: FloatArray, pairs: int) -> Iterator[IntArray]:
    """Return pieces with one centre and different orientation, for the pairs of axes whose squares go together.

    Rows of two classes that cross along the diagonals of a plane have squares that rise together; along its axes,
    squares of which one rises where the other falls.
    """
    p = rows.shape[1]
    if p < 2:
        return

    squares = np.square(rows)
    squares -= squares.mean(axis=0)
    together = squares.T @ squares
    size = np.sqrt(np.maximum(np.diagonal(together), np.finfo(float).tiny))
    first, second = np.triu_indices(p, 1)
    order = np.argsort(together[first, second] / (size[first] * size[second]), kind="stable")

    for pair in order[::-1][:pairs]:
        yield (rows[:, first[pair]] * rows[:, second[pair]] > 0.0).astype(np.int64)
    for pair in order[:pairs]:
        yield (np.abs(rows[:, first[pair]]) > np.abs(rows[:, second[pair]])).astype(np.int64)


def _standardised(rows: FloatArray) -> FloatArray:
    spread = rows.std(axis=0)
    return np.asarray((rows - rows.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0))


def _whitened(centred: FloatArray, no_spread: float) -> FloatArray:
    """Return rows along their principal axes, each with variance one; axes without variance are left out."""
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(left[:, spread > no_spread * spread[0]] * np.sqrt(centred.shape[0]))


def _unusual_axes(white: FloatArray) -> FloatArray:
    """Return axes in order of kurtosis: eigenvectors of sum |z|^2 z z'."""
    weight = np.square(white).sum(axis=1)
    return np.asarray(np.linalg.eigh((white * weight[:, None]).T @ white)[1])


def _sum_of_squares(rows: FloatArray) -> float:
    return float(np.square(rows - rows.mean(axis=0)).sum()) if rows.size else -1.0
