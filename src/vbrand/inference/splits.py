"""Ways to split the rows of one component: guesses about where another class may hide among them.

None of them is right often; together they rarely miss. They use no random numbers, so that the order of rows does not
matter but for ties.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np

from vbrand.inference.blobs import blobs
from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.samples import every_kth
from vbrand.types import FloatArray, IntArray

# distances that are held at once
_FEW_DISTANCES = 64_000


def guesses(rows: FloatArray, tuning: SearchTuning = TUNED) -> Iterator[IntArray]:
    """Return labelings, (n,), of rows, (n, p), into two or more pieces; columns should be of like size."""
    standard = _standardised(rows)
    white = _whitened(standard, tuning.no_spread)

    most, steps = tuning.most_blobs, tuning.lloyd_steps
    yield from _blobs(rows, most, steps)
    yield from _blobs(standard, most, steps)
    for axes in (standard, white):
        yield from _cores(axes, tuning)
    if white.shape[1] == 0:
        return

    yield from _blobs(white, 2, steps)
    unusual = white @ _unusual_axes(white)
    # clusters apart make flat or two-humped axes: the first ones
    yield from _blobs(unusual[:, : tuning.flattest], most, steps)

    distance = np.square(white).sum(axis=1)
    yield from (distance > np.quantile(distance, tuning.within)[:, None]).astype(np.int64)
    for axes in (standard, white, unusual):
        yield from _crossings(axes, tuning.crossings)


def _blobs(rows: FloatArray, most: int, steps: int) -> Iterator[IntArray]:
    """Return k-means with 2, 3, .. pieces."""
    if rows.shape[0] > 1:
        yield from blobs(np.ascontiguousarray(rows), min(most, rows.shape[0]), steps)


def _cores(rows: FloatArray, tuning: SearchTuning) -> Iterator[IntArray]:
    """Return the densest places: the nearest rows to the one that has them nearest, against the others."""
    n = rows.shape[0]
    some = rows[every_kth(n, tuning.looked_at)]
    lengths, last = np.square(rows).sum(axis=1), [max(2, int(share * n)) - 1 for share in tuning.cores]
    nearest, found = [np.inf] * len(last), [np.zeros(n, dtype=np.int64)] * len(last)
    # some at a time: distances of all of them would be among the largest things that a fit of a long table holds
    step = max(1, _FEW_DISTANCES // n)
    for first in range(0, some.shape[0], step):
        own = some[first : first + step]
        square = np.square(own).sum(axis=1)[:, None] + lengths
        square -= 2.0 * own @ rows.T
        # the core of a row in the middle is dense: few others have to be looked at in full
        middle = square[square.sum(axis=1).argmin()].copy()
        middle.partition(last)
        for place, k in enumerate(last):
            able = np.flatnonzero((square <= min(middle[k], nearest[place])).sum(axis=1) > k)
            radius = np.partition(square[able], k, axis=1)[:, k]  # of the farthest row of each core
            if radius.min(initial=np.inf) < nearest[place]:
                nearest[place] = radius.min()
                found[place] = (square[able[radius.argmin()]] > radius.min()).astype(np.int64)
    yield from found


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
    first, second = _pairs(p)
    order = np.argsort(together[first, second] / (size[first] * size[second]), kind="stable")

    columns, rising, falling = rows.T, order[::-1][:pairs], order[:pairs]
    yield from (columns[first[rising]] * columns[second[rising]] > 0.0).astype(np.int64)
    yield from (np.abs(columns[first[falling]]) > np.abs(columns[second[falling]])).astype(np.int64)


@cache
def _pairs(p: int) -> tuple[IntArray, IntArray]:
    return np.triu_indices(p, 1)


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
