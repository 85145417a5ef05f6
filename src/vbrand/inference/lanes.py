"""Loops over the lanes of a group of rows: what the compiled kernel is made of.

Each runs over contiguous lanes without a branch, so that the compiler turns it into vector instructions. Callers round
the number of lanes up to a multiple of what such a loop takes at a time: what is left over would run one by one.
"""

from typing import Any

import numba
import numpy as np

from vbrand.compiling import FROM_PYTHON, INNER, OPTIONS
from vbrand.inference.tiles import (
    four_products,
    four_squares,
    four_weigh,
    lanes_of_a_tile,
    two_products,
    two_squares,
    two_weigh,
)

# Sums may be reordered and contracted so that they run in vector registers; infinities keep their meaning.
# Functions are always inlined into their callers: a function that numba has just compiled, and its copy in the cached
# code of a caller, may add in different orders, and the first run on a machine would differ from the second.
_OPTIONS: dict[str, Any] = OPTIONS | {"fastmath": {"reassoc", "contract", "nsz"}, "forceinline": True}
jit = numba.njit(**_OPTIONS, **FROM_PYTHON)
jit_both_ways = numba.njit(cache=True, **_OPTIONS)
inner = numba.njit(**_OPTIONS, **INNER)

# added to a whole number of at most 51 bits, it leaves the number in the last bits
_TO_BITS = 6755399441055744.0  # 1.5 x 2^52
# and of a number with these first bits the last ones are what it is above 2^52
_WHOLE = 0x4330000000000000
_FROM_BITS = 4503599627370496.0  # 2^52


@inner
def add_squares(root, start, deviation, distance, begin, end, lane, to):  # type: ignore[no-untyped-def]
    """Add the squares of rows begin..end-1 of start + root deviation, from one lane to another.

    Both ends are rounded up, to whole tiles of lanes and to two rows; all but the last `end` are a multiple of four.
    Root is lower triangular, and filled up with zeros to a multiple of four rows.
    """
    for first in range(lane, to, lanes_of_a_tile()):
        for i in range(begin, end - 2, 4):
            four_squares(root, start, deviation, distance, i, first)
        if 0 < (end & 3) < 3:
            two_squares(root, start, deviation, distance, end & -4, first)


@inner
def products(weight, deviation, weighted, sums, square, p, m):  # type: ignore[no-untyped-def]
    """Store the sums over lanes of weight d_i, and of weight d_i d_j in the lower triangle of a square.

    Deviation and square are filled up to a multiple of four rows, deviation with zeros; m is a multiple of eight.
    """
    for j in range(0, p - 2, 4):
        four_weigh(weight, weighted, deviation, sums, square, j, m)
        for i in range(j + 4, p - 2, 4):
            four_products(weighted, deviation, square, i, j, m)
        if 0 < (p & 3) < 3:
            two_products(weighted, deviation, square, p & -4, j, m)
    if 0 < (p & 3) < 3:
        two_weigh(weight, weighted, deviation, sums, square, p & -4, m)


@inner
def exponential(x, result, value, bits, m):  # type: ignore[no-untyped-def]
    """Store exp(x), x at most a few hundred, to double precision beside 1; value and bits are one memory, of lanes.

    exp(x) = 2^n exp(r), |r| <= log(2) / 2, by its Taylor series. Sums may be reordered, so the relative error grows
    with |x| as that of a rounded x does.
    """
    for lane in range(m):
        y = x[lane] if x[lane] > -700.0 else -700.0
        n = np.floor(y * 1.4426950408889634 + 0.5)
        r = y - n * 6.93147180369123816490e-01  # log 2 in two parts
        r = r - n * 1.90821492927058770002e-10
        e = 1.6059043836821613e-10  # 1 / 13!
        e = e * r + 2.08767569878681e-09
        e = e * r + 2.505210838544172e-08
        e = e * r + 2.755731922398589e-07
        e = e * r + 2.7557319223985893e-06
        e = e * r + 2.48015873015873e-05
        e = e * r + 0.0001984126984126984
        e = e * r + 0.001388888888888889
        e = e * r + 0.008333333333333333
        e = e * r + 0.041666666666666664
        e = e * r + 0.16666666666666666
        e = e * r + 0.5
        e = e * r + 1.0
        result[lane] = e * r + 1.0
        value[lane] = n + (_TO_BITS + 1023.0)
    for lane in range(m):
        bits[lane] = bits[lane] << 52  # the bits of 2^n
    for lane in range(m):
        result[lane] *= value[lane]


@inner
def logarithm(x, result, value, bits, m):  # type: ignore[no-untyped-def]
    """Store log(x), x > 0, to double precision; value and bits are one memory, of lanes.

    x = 2^n f, f within [sqrt(1/2), sqrt(2)], log f by its series.
    """
    for lane in range(m):
        value[lane] = x[lane]
    for lane in range(m):
        bits[lane] = (bits[lane] >> 52) | _WHOLE
    for lane in range(m):
        result[lane] = value[lane] - (_FROM_BITS + 1023.0)
    for lane in range(m):
        value[lane] = x[lane]
    for lane in range(m):
        bits[lane] = (bits[lane] & 0xFFFFFFFFFFFFF) | (1023 << 52)  # the fraction, within [1, 2)
    for lane in range(m):
        high = value[lane] > 1.4142135623730951
        f = value[lane] * (0.5 if high else 1.0)
        n = result[lane] + (1.0 if high else 0.0)
        s = (f - 1.0) / (f + 1.0)
        z = s * s
        e = 1.0 / 23.0
        e = e * z + 1.0 / 21.0
        e = e * z + 1.0 / 19.0
        e = e * z + 1.0 / 17.0
        e = e * z + 1.0 / 15.0
        e = e * z + 1.0 / 13.0
        e = e * z + 1.0 / 11.0
        e = e * z + 1.0 / 9.0
        e = e * z + 1.0 / 7.0
        e = e * z + 1.0 / 5.0
        e = e * z + 1.0 / 3.0
        e = e * z + 1.0
        result[lane] = n * 0.6931471805599453 + 2.0 * s * e
