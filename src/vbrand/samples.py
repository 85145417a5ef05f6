"""Samples and orders of rows without random numbers: some of many, evenly; all of them, by what they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.types import FloatArray, IntArray

# rows that are looked at together
_CHUNK = 2**15
# numbers of rows that are worked on together where what is computed of them is as large as they are
_PART = 2**16

# cells are seen in so many steps of their column's range: finer digits change with its unit; no whole number of them,
# so that values of few digits do not lie on a border
_STEPS = 1e9 / np.pi
# how far levels are told by what stands beside them: the levels there, and what stands beside those
_ROUNDS = 2


def every_kth(total: int, most: int) -> slice:
    """Return the slice that takes every k-th of `total` rows, at most `most` of them: of a table a view, not a copy.

    >>> list("abcdefg")[every_kth(7, most=3)]
    ['a', 'd', 'g']
    """
    return slice(None, None, max(1, -(-total // most)))


def chunks(total: int) -> list[slice]:
    """Return slices of so many rows, long ones; each is small beside a table that does not fit into memory."""
    return [slice(first, min(first + _CHUNK, total)) for first in range(0, total, _CHUNK)]


def parts_of(rows: FloatArray) -> list[slice]:
    """Return slices of rows in memory: what is computed of each row on the way to a few numbers is small for a part."""
    size = max(256, _PART // max(rows.shape[1], 1))
    return [slice(first, min(first + size, rows.shape[0])) for first in range(0, rows.shape[0], size)]


def some_members(labels: Any, total: int, label: int, most: int) -> IntArray:
    """Return every k-th of the rows that have a label, at most `most` of them; labels may be an array or lie on disk.

    >>> some_members(np.array([4, 0, 4, 4, 4]), 5, 4, most=2)
    array([0, 3])
    """
    parts = chunks(total)
    if len(parts) == 1:
        members = np.flatnonzero(labels[parts[0]] == label)
        return members[every_kth(members.size, most)]
    size = sum(int((labels[chunk] == label).sum()) for chunk in parts)
    return members_at(labels, total, label, np.arange(0, size, every_kth(size, most).step))


def members_at(labels: Any, total: int, label: int, places: IntArray) -> IntArray:
    """Return those of the rows with a label that are at some places, in rising order, among them.

    >>> members_at(np.array([4, 0, 4, 4, 4]), 5, 4, np.array([1, 3]))
    array([2, 4])
    """
    found, seen = [np.empty(0, dtype=np.int64)], 0
    for chunk in chunks(total):
        members = np.flatnonzero(labels[chunk] == label)
        here = places[np.searchsorted(places, seen) : np.searchsorted(places, seen + members.size)]
        found.append(chunk.start + members[here - seen])
        seen += members.size
    return np.concatenate(found)


def evenly(total: int, most: int) -> IntArray:
    """Return `most` of the numbers 0, .., total - 1, the first and the last among them; all if there are no more.

    >>> evenly(7, most=3)
    array([0, 3, 6])
    """
    count = min(total, most)
    return np.arange(count) * (total - 1) // max(count - 1, 1)


def by_content(rows: FloatArray) -> IntArray:
    """Return an order of rows that depends on what they hold and not on where they stand: to break ties and round in.

    It is that of numbers made of their cells, as if drawn by lot: near rows are not near each other in it, as in a sort
    they would be. Units and the order of columns do not matter. Rows that hold the same in other columns tie; they are
    told by what else there is in these columns, and where that is the same, too, by their first cells.

    >>> import numpy as np
    >>> by_content(np.array([[3.0, 0.0], [1.0, 2.0], [1.0, 1.0]]))
    array([1, 0, 2])
    """
    ends = _ends(rows)
    lot = np.empty(rows.shape[0], np.uint64)
    for part in parts_of(rows):
        lot[part] = _lots_between(*ends, rows[part]).sum(axis=1)
    order = np.argsort(lot, kind="stable")

    tied = lot[order][1:] == lot[order][:-1]
    places = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
    among = order[places]
    lots = _lots_between(*ends, rows[among])
    finer = mixed(lots + columns_by_lot(lots)).sum(axis=1)
    order[places] = among[np.lexsort((*rows[among].T[::-1], finer, lot[among]))]
    return order


def columns_by_lot(lots: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a number for each column, (p,), that depends on what it holds beside what, given numbers of cells, (n, p).

    >>> import numpy as np
    >>> columns_by_lot(np.array([[3, 1, 3], [1, 0, 1], [0, 3, 1]], dtype=np.uint64)) % np.uint64(1000)
    array([171, 813, 279], dtype=uint64)
    """
    return np.asarray(mixed(lots + mixed(lots.sum(axis=1, keepdims=True))).sum(axis=0))


def level_lots(numbers: FloatArray, codes: FloatArray, sizes: tuple[int, ...]) -> list[NDArray[np.uint64]]:
    """Return a number for each level of columns of codes, (n, c), NaN for none, made of what rows with it hold.

    >>> import numpy as np
    >>> (one,) = level_lots(np.array([[3.0], [5.0], [9.0]]), np.array([[0.0], [1.0], [0.0]]), (2,))
    >>> (two,) = level_lots(np.array([[3.0], [5.0], [9.0]]), np.array([[1.0], [0.0], [1.0]]), (2,))
    >>> (one == two[::-1]).all()
    np.True_
    """
    places = [np.where(np.isnan(own), size, own).astype(np.int64) for own, size in zip(codes.T, sizes, strict=True)]
    beside = cell_lots(numbers).sum(axis=1)
    lots = [np.bincount(own, minlength=size + 1).astype(np.uint64) for own, size in zip(places, sizes, strict=True)]
    for _ in range(_ROUNDS):
        whole = beside + sum(mixed(lot)[own] for lot, own in zip(lots, places, strict=True))
        lots = [np.zeros_like(lot) for lot in lots]
        for lot, own in zip(lots, places, strict=True):
            np.add.at(lot, own, mixed(whole))
    return [lot[:-1] for lot in lots]


def cell_lots(rows: FloatArray) -> NDArray[np.uint64]:
    """Return a number for each cell, (n, p), by its place between the ends of its column."""
    return _lots_between(*_ends(rows), rows)


def _ends(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.fmin.reduce(rows, axis=0, initial=np.inf), np.fmax.reduce(rows, axis=0, initial=-np.inf)


def _lots_between(low: FloatArray, high: FloatArray, rows: FloatArray) -> NDArray[np.uint64]:
    reach = 0.5 * high - 0.5 * low  # halves: twice the largest number is none
    cells = np.rint((0.5 * rows - 0.5 * low) / np.where(reach > 0.0, reach, 1.0) * _STEPS)
    return mixed(np.where(np.isnan(cells), -1.0, cells).astype(np.int64).astype(np.uint64))


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers of 64 bits, each a known but lawless function of another: multiply, fold, multiply, fold.

    >>> import numpy as np
    >>> mixed(np.array([0, 1], dtype=np.uint64)) % np.uint64(1000)
    array([505, 453], dtype=uint64)
    """
    lot = (numbers + np.uint64(2)) * np.uint64(0x9E3779B97F4A7C15)
    lot = (lot ^ (lot >> np.uint64(29))) * np.uint64(0xD6E8FEB86659FD93)
    return lot ^ (lot >> np.uint64(32))
