"""Even samples: some of many things, from all over their order, without random numbers."""

import numpy as np

from vbrand.types import IntArray


def every_kth(total: int, most: int) -> slice:
    """Return the slice that takes every k-th of `total` rows, at most `most` of them: of a table a view, not a copy.

    >>> list("abcdefg")[every_kth(7, most=3)]
    ['a', 'd', 'g']
    """
    return slice(None, None, max(1, -(-total // most)))


def evenly(total: int, most: int) -> IntArray:
    """Return `most` of the numbers 0, .., total - 1, the first and the last among them; all if there are no more.

    >>> evenly(7, most=3)
    array([0, 3, 6])
    """
    count = min(total, most)
    return np.arange(count) * (total - 1) // max(count - 1, 1)
