"""k-means with 2, 3, .. pieces, compiled: each time the widest piece is cut across its longest axis."""

import math

import numpy as np

from vbrand.model.gamma import inner, jit

# steps of the power method towards the longest axis: k-means mends what they leave
_POWER_STEPS = 30


@jit
def blobs(rows, most, steps):  # type: ignore[no-untyped-def]
    """Return the labels of k-means with 2 .. most pieces, (most - 1, n)."""
    n, p = rows.shape
    found = np.zeros((most - 1, n), np.int64)
    labels = np.zeros(n, np.int64)
    for pieces in range(2, most + 1):
        centres, sizes = _centres(rows, labels, pieces - 1)
        widest = _widest(rows, labels, centres)
        axis = _longest_axis(rows, labels, widest, centres[widest])
        for i in range(n):
            if labels[i] == widest:
                along = 0.0
                for j in range(p):
                    along += (rows[i, j] - centres[widest, j]) * axis[j]
                if along > 0.0:
                    labels[i] = pieces - 1
        for _ in range(steps):
            centres, sizes = _centres(rows, labels, pieces)
            if not _assign(rows, labels, centres, sizes):
                break
        for i in range(n):
            found[pieces - 2, i] = labels[i]
    return found


@inner
def _centres(rows, labels, pieces):  # type: ignore[no-untyped-def]
    """Return the means of the pieces and the numbers of their rows."""
    sums, sizes = np.zeros((pieces, rows.shape[1])), np.zeros(pieces)
    for i in range(rows.shape[0]):
        own = sums[labels[i]]
        sizes[labels[i]] += 1.0
        for j in range(rows.shape[1]):
            own[j] += rows[i, j]
    for k in range(pieces):
        for j in range(rows.shape[1]):
            sums[k, j] /= sizes[k] if sizes[k] > 0.0 else 1.0
    return sums, sizes


@inner
def _widest(rows, labels, centres):  # type: ignore[no-untyped-def]
    """Return the piece with the largest sum of squares about its centre."""
    spread = np.zeros(centres.shape[0])
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            deviation = rows[i, j] - centres[labels[i], j]
            spread[labels[i]] += deviation * deviation
    widest = 0
    for k in range(spread.size):
        if spread[k] > spread[widest]:
            widest = k
    return widest


@inner
def _longest_axis(rows, labels, piece, centre):  # type: ignore[no-untyped-def]
    """Return the direction in which the rows of a piece are widest, by the power method on their scatter."""
    p = rows.shape[1]
    scatter, deviation = np.zeros((p, p)), np.empty(p)
    for i in range(rows.shape[0]):
        if labels[i] == piece:
            for j in range(p):
                deviation[j] = rows[i, j] - centre[j]
            for j in range(p):
                row, size = scatter[j], deviation[j]
                for other in range(p):
                    row[other] += size * deviation[other]

    first = 0
    for j in range(p):
        if scatter[j, j] > scatter[first, first]:
            first = j
    axis = np.empty(p)
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
            total = 0.0
            for other in range(p):
                total += scatter[j, other] * deviation[other]
            axis[j] = total
    return axis


@inner
def _assign(rows, labels, centres, sizes):  # type: ignore[no-untyped-def]
    """Put each row to the nearest centre that has rows, and return whether any moved."""
    moved = False
    for i in range(rows.shape[0]):
        nearest, least = labels[i], math.inf
        for k in range(sizes.size):
            if sizes[k] > 0.0:
                distance = 0.0
                for j in range(rows.shape[1]):
                    deviation = rows[i, j] - centres[k, j]
                    distance += deviation * deviation
                if distance < least:
                    nearest, least = k, distance
        if nearest != labels[i]:
            labels[i] = nearest
            moved = True
    return moved
