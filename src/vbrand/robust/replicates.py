"""Rows that were measured again: nearer to each other than chance puts rows of a table."""

import numpy as np
from scipy.spatial.distance import cdist

from vbrand.samples import by_content, evenly
from vbrand.types import FloatArray

# neighbours of a row that are looked at, and rows whose neighbours are
_NEIGHBOURS = 6
_ROWS = 400
# rows that say something about gaps, at the least, and that are looked through, at the most
_FEWEST, _MOST = 50, 20_000
# distances that are held at once
_AT_ONCE = 2**18
# how much wider than others a gap between neighbours is, on average, that chance does not make: of 23 real sets none is
# above 1.9; a tenth of the rows measured three times gives 3 and more
_TOO_WIDE = 2.0


def has_replicates(tables: list[FloatArray]) -> bool:
    """Return whether rows of one table or another have neighbours that are too near: replicates of one sample.

    Tables have columns of like scales. Rows that are equal are no matter of this: they are copies, or rounded.
    """
    gaps = np.concatenate([np.zeros((0, _NEIGHBOURS)), *map(_gaps, tables)])
    if gaps.shape[0] < _FEWEST:
        return False
    means = gaps.mean(axis=0)
    return bool(means.max() > _TOO_WIDE * np.median(means))


def _gaps(table: FloatArray) -> FloatArray:
    """Return how much farther away each neighbour is than the one before, (n, neighbours); of too few rows none.

    (9.21)  g_k = k log(d_{k+1} / d_k) of the distances d to the nearest rows:  alike for all k wherever density hardly
            changes, by Renyi's representation; rows that were measured r times have a large g_{r-1}
    """
    whole = table[~np.isnan(table).any(axis=1)]
    if not _NEIGHBOURS + 2 < whole.shape[0] <= _MOST:
        return np.zeros((0, _NEIGHBOURS))
    some = by_content(whole)[evenly(whole.shape[0], _ROWS)]
    # some at a time: distances from all of them to all rows would be the largest thing that a fit holds
    size = max(1, _AT_ONCE // whole.shape[0])
    parts = [_nearest(whole[some[first : first + size]], whole) for first in range(0, some.size, size)]
    nearest = np.concatenate(parts)
    nearest = nearest[nearest[:, 0] > 0.0]
    return np.asarray(np.arange(1, _NEIGHBOURS + 1) * np.log(nearest[:, 1:] / nearest[:, :-1]))


def _nearest(some: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the distances of some of the rows to their nearest neighbours, rising, without the rows themselves."""
    distances = cdist(some, rows)
    distances.partition(_NEIGHBOURS + 1, axis=1)
    return np.asarray(np.sort(distances[:, : _NEIGHBOURS + 2], axis=1)[:, 1:])
