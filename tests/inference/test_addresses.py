"""A compiled function that is called by its address is the function."""

import numba
import numpy as np

from vbrand.inference.addresses import address_of, call_sweep


@numba.njit
def weighed(block, group, scores, winners, statistics):
    statistics[0][0] += 1.0
    return block[0] * scores[0].sum() + group.size + winners[0]


@numba.njit
def called(address, block, group, scores, winners, statistics):
    return call_sweep(address, block, group, scores, winners, statistics)


def test_a_call_by_address_is_the_call():
    arguments = (np.full(2, 3.0), np.zeros((2, 2)), (np.ones(4), np.zeros(1)), np.array([5], np.int32), (np.zeros(1),))
    address = address_of(weighed, *arguments)
    assert address == address_of(weighed, *arguments)
    assert called(address, *arguments) == weighed.py_func(*arguments) == 21.0
    assert arguments[-1][0][0] == 2.0
