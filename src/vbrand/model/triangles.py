"""Batches of small triangular systems, compiled: numpy has none, and scipy solves one at a time."""

import numba

_jit = numba.njit(cache=True, nogil=True)


@_jit
def divide(lower, factor):  # type: ignore[no-untyped-def]
    """Overwrite each D of lower (K, p, p) by D L^-1, L of factor: both lower triangular."""
    for k in range(lower.shape[0]):
        for i in range(lower.shape[1]):
            row = lower[k, i]
            # x L = d: the last unknown first, and what it explains is taken from the others
            for j in range(i, -1, -1):
                row[j] /= factor[k, j, j]
                for other in range(j):
                    row[other] -= row[j] * factor[k, j, other]


@_jit
def solve(lower, right):  # type: ignore[no-untyped-def]
    """Overwrite each z of right (K, p) by L^-1 z, L of lower (K, p, p)."""
    for k in range(lower.shape[0]):
        for i in range(lower.shape[1]):
            total = right[k, i]
            for j in range(i):
                total -= lower[k, i, j] * right[k, j]
            right[k, i] = total / lower[k, i, i]
