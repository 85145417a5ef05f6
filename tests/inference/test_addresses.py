"""A compiled function that is called by its address is the function."""

import numba
import numpy as np
import pytest

from vbrand.inference.addresses import address_of, call, call_for_number, call_for_truth


@numba.njit
def weighed(block, scores, winners):
    block[0] += 1.0
    return block[0] * scores[0].sum() + winners[0]


@numba.njit
def raised(block, step):
    block[0] += step


@numba.njit
def is_large(block):
    return block[0] > 2.0


@numba.njit
def all_called(addresses, block, scores, winners):
    number = call_for_number(addresses[0], (block, scores, winners))
    call(addresses[1], (block, 5.0))
    return number, call_for_truth(addresses[2], (block,))


def test_a_call_by_address_is_the_call():
    arguments = np.full(2, 3.0), (np.ones(4), np.zeros(1)), np.array([5], np.int32)
    block = arguments[0]
    addresses = address_of(weighed, *arguments), address_of(raised, block, 5.0), address_of(is_large, block)
    assert addresses[0] == address_of(weighed, *arguments)
    assert all_called(addresses, *arguments) == (21.0, True)
    assert block[0] == 9.0
    assert weighed.py_func(*arguments) == 45.0


def test_arrays_of_another_layout_are_refused():
    @numba.njit
    def passed_on(address, block):
        call(address, ((block, block), 5.0))

    with pytest.raises(TypeError, match="must be contiguous and writeable"):
        passed_on(0, np.zeros(6)[::2])
