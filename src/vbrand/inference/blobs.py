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
    _cut_up(rows, steps, found, np.empty((most, p)), np.empty(most), np.empty((p, p)), np.empty(p), np.empty(p))
    return found


@jit
def _cut_up(rows, steps, found, centres, sizes, scatter, axis, deviation):  # type: ignore[no-untyped-def]
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
            if not _assign(rows, labels, cuts + 2, centres, sizes):
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
def _assign(rows, labels, pieces, centres, sizes):  # type: ignore[no-untyped-def]
    """Put each row to the nearest centre that has rows, and return whether any moved."""
    n, p = rows.shape
    moved = False
    for i in range(n):
        nearest, least = labels[i], math.inf
        for k in range(pieces):
            if sizes[k] > 0.0:
                distance = 0.0
                for j in range(p):
                    deviation = rows[i, j] - centres[k, j]
                    distance += deviation * deviation
                if distance < least:
                    nearest, least = k, distance
        if nearest != labels[i]:
            labels[i] = nearest
            moved = True
    return moved
