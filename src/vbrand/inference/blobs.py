"""k-means with 2, 3, .. pieces, compiled: each time the widest piece is cut across its longest axis."""

import math

import numpy as np

from vbrand.model.gamma import jit

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
        found[pieces - 2] = labels
    return found


@jit
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
            sums[k, j] /= max(sizes[k], 1.0)
    return sums, sizes


@jit
def _widest(rows, labels, centres):  # type: ignore[no-untyped-def]
    """Return the piece with the largest sum of squares about its centre."""
    spread = np.zeros(centres.shape[0])
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            spread[labels[i]] += (rows[i, j] - centres[labels[i], j]) ** 2
    return spread.argmax()


@jit
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
    axis = scatter[first].copy()  # no direction that the rows do not have
    for _ in range(_POWER_STEPS):
        length = math.sqrt((axis * axis).sum())
        if length == 0.0:
            break
        for j in range(p):
            deviation[j] = axis[j] / length
        for j in range(p):
            total = 0.0
            for other in range(p):
                total += scatter[j, other] * deviation[other]
            axis[j] = total
    return axis


@jit
def _assign(rows, labels, centres, sizes):  # type: ignore[no-untyped-def]
    """Put each row to the nearest centre that has rows, and return whether any moved."""
    moved = False
    for i in range(rows.shape[0]):
        nearest, least = labels[i], math.inf
        for k in range(sizes.size):
            if sizes[k] > 0.0:
                distance = 0.0
                for j in range(rows.shape[1]):
                    distance += (rows[i, j] - centres[k, j]) ** 2
                if distance < least:
                    nearest, least = k, distance
        if nearest != labels[i]:
            labels[i] = nearest
            moved = True
    return moved
