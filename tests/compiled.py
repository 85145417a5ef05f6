"""Compiled functions that only compiled code calls, called from Python."""

from functools import cache

import numba


@cache
def from_python(function):
    """Return a function that calls it."""

    @numba.njit
    def call(*given):
        return function(*given)

    return call
