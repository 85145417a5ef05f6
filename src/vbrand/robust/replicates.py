"""Rows that were measured again: nearer to each other than chance puts rows of a table."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from vbrand.robust.columns import stand_in_scale
from vbrand.samples import by_content, evenly
from vbrand.types import BoolArray, FloatArray, IntArray

# neighbours of a row that are looked at, and rows whose neighbours are
MOST_REPLICATES = 6
_ROWS = 400
# rows that say something about gaps, at the least, and that are looked through, at the most
_FEWEST, _MOST = 50, 20_000
# distances that are held at once
_AT_ONCE = 2**18
# how much wider than others a gap between neighbours is, on average, that chance does not make: of 23 real sets none is
# above 1.9; a tenth of the rows measured three times gives 3 and more
_TOO_WIDE = 2.0
# rows of a class for each replicate of a sample, at the least: seven rows of a small class may be all of it
_SAMPLES = 5
# share of the rows that are joined to others by chance
_BY_CHANCE = 0.05


def has_replicates(tables: list[FloatArray]) -> bool:
    """Return whether rows of one table or another have neighbours that are too near: replicates of one sample.

    Tables have columns of like scales. Rows that are equal are no matter of this: they are copies, or rounded.
    """
    gaps = np.concatenate([np.zeros((0, MOST_REPLICATES)), *map(_gaps, tables)])
    if gaps.shape[0] < _FEWEST:
        return False
    means = gaps.mean(axis=0)
    return bool(means.max() > _TOO_WIDE * np.median(means))


def replicates_of(table: FloatArray, member: IntArray) -> int:
    """Return how many other rows of their sample the labelled rows of a table have, 0 if they are no replicates.

    `member` are their classes, within which neighbours are looked for: rows of a small class are near each other, too.
    """
    alike = _alike(table)
    total, rows = np.zeros(MOST_REPLICATES), np.zeros(MOST_REPLICATES)
    for j in np.unique(member):
        own = alike[member == j]
        gaps, able = _gaps(own), np.arange(1, MOST_REPLICATES + 1) < own.shape[0] // _SAMPLES
        total += np.where(able, gaps.sum(axis=0), 0.0)
        rows += np.where(able, gaps.shape[0], 0.0)
    means = total[rows >= _FEWEST] / rows[rows >= _FEWEST]
    wide = means.size > 1 and means.max() > _TOO_WIDE * np.median(means)
    return int(means.argmax()) + 1 if wide else 0


def first_of_samples(table: FloatArray, member: IntArray, others: int) -> IntArray:
    """Return one row of each sample of a table in which rows have so many others of their sample, rising.

    `member` are classes: a sample is of one of them. Which row it is depends on what rows hold.
    """
    alike = _alike(table)
    whole = ~np.isnan(alike).any(axis=1)
    gap, nearest = np.zeros(table.shape[0]), np.zeros((table.shape[0], others), dtype=np.int64)
    for j in np.unique(member):
        own = np.flatnonzero(whole & (member == j))
        if others + 1 < own.size <= _MOST:
            gap[own], near = _gap_after(alike[own], others)
            nearest[own] = own[near]

    joined = _beyond_chance(gap)
    has = joined[:, None] & joined[nearest]
    pairs = coo_array((np.ones(has.sum()), (np.nonzero(has)[0], nearest[has])), shape=(table.shape[0],) * 2).tocsr()
    # samples are rows that have each other
    sample = connected_components(pairs.multiply(pairs.T), directed=False)[1]
    order = by_content(table)
    return np.sort(order[np.unique(sample[order], return_index=True)[1]])


def _alike(table: FloatArray) -> FloatArray:
    """Return columns in units of their spread, without those that have none."""
    scale = stand_in_scale(table)
    return np.asarray(table[:, scale > 0.0] / scale[scale > 0.0])


def _gap_after(rows: FloatArray, others: int) -> tuple[FloatArray, IntArray]:
    """Return g_k p of each row, k = `others`, and its k nearest rows, (n, k); 0 where rows are equal.

    1 / p is the mean of the gaps that come before k and behind it: those of chance.
    """
    count = min(MOST_REPLICATES, rows.shape[0] - 2)
    size = max(1, _AT_ONCE // rows.shape[0])
    found = [_neighbours(rows, slice(first, first + size), count) for first in range(0, rows.shape[0], size)]
    distances, nearest = (np.concatenate(part) for part in zip(*found, strict=True))
    apart = (distances[:, 0] > 0.0) & np.isfinite(distances).all(axis=1)  # a cell of 1e200 has no neighbours
    gaps = np.zeros((rows.shape[0], count))
    gaps[apart] = np.arange(1, count + 1) * np.log(distances[apart, 1:] / distances[apart, :-1])
    usual = float(np.median(gaps[apart].mean(axis=0))) if apart.any() else 1.0
    return gaps[:, others - 1] / max(usual, np.finfo(np.float64).tiny), nearest[:, :others]


def _neighbours(rows: FloatArray, some: slice, count: int) -> tuple[FloatArray, IntArray]:
    """Return the distances of some rows to their nearest ones, one more than `count`, and which these are."""
    distances = cdist(rows[some], rows)
    here = np.arange(rows.shape[0])[some]
    distances[np.arange(here.size), here] = np.inf  # not the row itself
    nearest = np.argpartition(distances, count, axis=1)[:, : count + 1]
    own = np.take_along_axis(distances, nearest, axis=1)
    order = np.argsort(own, axis=1, kind="stable")
    return np.take_along_axis(own, order, axis=1), np.take_along_axis(nearest, order, axis=1)


def _beyond_chance(gap: FloatArray) -> BoolArray:
    """Return the rows whose gaps, in units of those by chance, are so wide that few of them are by chance.

    (9.23)  g_k p > c,  c the least with  pi n e^-c <= .05 rows above c,  pi = 2 share of g_k p < log 2:  by chance
            g_k p is exponential
    """
    at_chance = min(1.0, 2.0 * float((gap < np.log(2.0)).mean()))  # pi
    ordered = np.sort(gap)[::-1]
    above = np.arange(1, gap.size + 1)
    enough = np.flatnonzero(at_chance * gap.size * np.exp(-ordered) <= _BY_CHANCE * above)
    return np.asarray(gap >= ordered[enough[-1]]) if enough.size else np.zeros(gap.size, dtype=bool)


def _gaps(table: FloatArray) -> FloatArray:
    """Return how much farther away each neighbour is than the one before, (n, neighbours); of too few rows none.

    (9.21)  g_k = k log(d_{k+1} / d_k) of the distances d to the nearest rows:  alike for all k wherever density hardly
            changes, by Renyi's representation; rows that were measured r times have a large g_{r-1}
    """
    whole = table[~np.isnan(table).any(axis=1)]
    if not MOST_REPLICATES + 2 < whole.shape[0] <= _MOST:
        return np.zeros((0, MOST_REPLICATES))
    some = by_content(whole)[evenly(whole.shape[0], _ROWS)]
    # some at a time: distances from all of them to all rows would be the largest thing that a fit holds
    size = max(1, _AT_ONCE // whole.shape[0])
    parts = [_nearest(whole[some[first : first + size]], whole) for first in range(0, some.size, size)]
    nearest = np.concatenate(parts)
    # a row with a cell of 1e200 has no neighbours: squares are infinite
    nearest = nearest[(nearest[:, 0] > 0.0) & np.isfinite(nearest[:, -1])]
    return np.asarray(np.arange(1, MOST_REPLICATES + 1) * np.log(nearest[:, 1:] / nearest[:, :-1]))


def _nearest(some: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the distances of some of the rows to their nearest neighbours, rising, without the rows themselves."""
    distances = cdist(some, rows)
    distances.partition(MOST_REPLICATES + 1, axis=1)
    return np.asarray(np.sort(distances[:, : MOST_REPLICATES + 2], axis=1)[:, 1:])
