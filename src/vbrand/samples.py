"""Even samples: some of many things, from all over their order, without random numbers."""

from typing import Any

import numpy as np

from vbrand.types import IntArray

# rows that are looked at together
_CHUNK = 2**20


def every_kth(total: int, most: int) -> slice:
    """Return the slice that takes every k-th of `total` rows, at most `most` of them: of a table a view, not a copy.

    >>> list("abcdefg")[every_kth(7, most=3)]
    ['a', 'd', 'g']
    """
    return slice(None, None, max(1, -(-total // most)))


def chunks(total: int) -> list[slice]:
    """Return slices of so many rows, long ones; each is small beside a table that does not fit into memory."""
    return [slice(first, min(first + _CHUNK, total)) for first in range(0, total, _CHUNK)]


def some_members(labels: Any, total: int, label: int, most: int) -> IntArray:
    """Return every k-th of the rows that have a label, at most `most` of them; labels may be an array or lie on disk.

    >>> some_members(np.array([4, 0, 4, 4, 4]), 5, 4, most=2)
    array([0, 3])
    """
    size = sum(int((labels[chunk] == label).sum()) for chunk in chunks(total))
    return members_at(labels, total, label, np.arange(size)[every_kth(size, most)])


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
