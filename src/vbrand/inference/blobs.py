"""k-means with 2, 3, .. pieces, compiled: each time the widest piece is cut across its longest axis."""

import math

import numpy as np

from vbrand.compiling import inner, jit
from vbrand.types import FloatArray, IntArray

# steps of the power method towards the longest axis: k-means mends what they leave
_POWER_STEPS = 30


def blobs(rows: FloatArray, most: int, steps: int) -> IntArray:
    """Return the labels of k-means with 2 .. most pieces, (most - 1, n)."""
    n, p = rows.shape
    found = np.zeros((most - 1, n), np.int64)
    centres, sizes, scatter = np.empty((most, p)), np.empty(most), np.empty((p, p))
    columns, nearest, room = np.ascontiguousarray(rows.T), np.empty(n, np.int64), np.empty((2, n))
    _cut_up(rows, columns, steps, found, centres, sizes, scatter, np.empty(p), np.empty(p), nearest, room)
    return found


@jit
def _cut_up(rows, columns, steps, found, centres, sizes, scatter, axis, deviation, nearest, room):  # type: ignore[no-untyped-def]
    """Store the labels, all zero at first; the arrays after them are memory to work in."""
    n, p = rows.shape
    for cuts in range(found.shape[0]):
        labels = found[cuts]
        if cuts > 0:
            for i in range(n):
                labels[i] = found[cuts - 1, i]
        _centre(rows, labels, cuts + 1, centres, sizes)
        widest = _widest(rows, labels, cuts + 1, centres, sizes)
        _find_longest_axis(rows, labels, widest, centres[widest], scatter, axis, deviation)
        for i in range(n):
            if labels[i] == widest:
                along = 0.0
                for j in range(p):
                    along += (rows[i, j] - centres[widest, j]) * axis[j]
                if along > 0.0:
                    labels[i] = cuts + 1
        for _ in range(steps):
            _centre(rows, labels, cuts + 2, centres, sizes)
            if not _assign(columns, labels, cuts + 2, centres, sizes, nearest, room):
                break


@inner
def _centre(rows, labels, pieces, centres, sizes):  # type: ignore[no-untyped-def]
    """Store the means of the pieces and the numbers of their rows."""
    n, p = rows.shape
    for k in range(pieces):
        sizes[k] = 0.0
        for j in range(p):
            centres[k, j] = 0.0
    for i in range(n):
        k = labels[i]
        sizes[k] += 1.0
        for j in range(p):
            centres[k, j] += rows[i, j]
    for k in range(pieces):
        for j in range(p):
            centres[k, j] /= sizes[k] if sizes[k] > 0.0 else 1.0


@inner
def _widest(rows, labels, pieces, centres, spread):  # type: ignore[no-untyped-def]
    """Return the piece with the largest sum of squares about its centre."""
    n, p = rows.shape
    for k in range(pieces):
        spread[k] = 0.0
    for i in range(n):
        k = labels[i]
        for j in range(p):
            deviation = rows[i, j] - centres[k, j]
            spread[k] += deviation * deviation
    widest = 0
    for k in range(pieces):
        if spread[k] > spread[widest]:
            widest = k
    return widest


@inner
def _find_longest_axis(rows, labels, piece, centre, scatter, axis, deviation):  # type: ignore[no-untyped-def]
    """Store the direction in which the rows of a piece are widest, by the power method on their scatter."""
    n, p = rows.shape
    for j in range(p):
        for other in range(p):
            scatter[j, other] = 0.0
    for i in range(n):
        if labels[i] == piece:
            for j in range(p):
                deviation[j] = rows[i, j] - centre[j]
            for j in range(p):
                size = deviation[j]
                for other in range(p):
                    scatter[j, other] += size * deviation[other]

    first = 0
    for j in range(p):
        if scatter[j, j] > scatter[first, first]:
            first = j
    for j in range(p):
        axis[j] = scatter[first, j]  # a direction that the rows have
    for _ in range(_POWER_STEPS):
        square = 0.0
        for j in range(p):
            square += axis[j] * axis[j]
        if square == 0.0:
            break
        for j in range(p):
            deviation[j] = axis[j] / math.sqrt(square)
        for j in range(p):
            axis[j] = 0.0
        for other in range(p):  # along rows of the scatter, which is symmetric: each sum is in the same order
            row, size = scatter[other], deviation[other]
            for j in range(p):
                axis[j] += row[j] * size


@inner
def _assign(columns, labels, pieces, centres, sizes, nearest, room):  # type: ignore[no-untyped-def]
    """Put each row to the nearest centre that has rows, and return whether any moved.

    Column by column, so that loops run along the rows; `nearest` and `room` are memory to work in.
    """
    p, n = columns.shape
    least, distance = room[0], room[1]
    for i in range(n):
        nearest[i] = labels[i]
        least[i] = math.inf
    for k in range(pieces):
        if sizes[k] > 0.0:
            for i in range(n):
                distance[i] = 0.0
            for j in range(p):
                column, centre = columns[j], centres[k, j]
                for i in range(n):
                    distance[i] += (column[i] - centre) * (column[i] - centre)
            for i in range(n):
                nearest[i] = k if distance[i] < least[i] else nearest[i]
                least[i] = distance[i] if distance[i] < least[i] else least[i]
    moved = 0
    for i in range(n):
        moved += 1 if labels[i] != nearest[i] else 0
        labels[i] = nearest[i]
    return moved > 0
