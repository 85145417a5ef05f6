"""Loops over the lanes of a group of rows: what the compiled kernel is made of.

Each runs over contiguous lanes without a branch, so that the compiler turns it into vector instructions.
"""

import numba
import numpy as np

# Sums may be reordered and contracted so that they run in vector registers; infinities keep their meaning.
# Functions are always inlined into their callers: a function that numba has just compiled, and its copy in the cached
# code of a caller, may add in different orders, and the first run on a machine would differ from the second.
jit = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"}, forceinline=True)


@jit
def add_products(weighted, own, square):  # type: ignore[no-untyped-def]
    """Add weighted own' to the lower triangle of a square, two rows and four columns at a time."""
    p, m = own.shape
    for i in range(0, p, 2):
        k = min(i + 1, p - 1)
        a, b = weighted[i], weighted[k]
        for j in range(0, k + 1, 4):
            j1, j2, j3 = min(j + 1, k), min(j + 2, k), min(j + 3, k)
            c0, c1, c2, c3 = own[j], own[j1], own[j2], own[j3]
            a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
            b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
            for lane in range(m):
                u, v = a[lane], b[lane]
                a0 += u * c0[lane]
                a1 += u * c1[lane]
                a2 += u * c2[lane]
                a3 += u * c3[lane]
                b0 += v * c0[lane]
                b1 += v * c1[lane]
                b2 += v * c2[lane]
                b3 += v * c3[lane]
            # columns beyond the last one repeat it and are not added; nor is the second row where there is none
            square[i, j] += a0
            if j1 > j:
                square[i, j1] += a1
            if j2 > j1:
                square[i, j2] += a2
            if j3 > j2:
                square[i, j3] += a3
            if k > i:
                square[k, j] += b0
                if j1 > j:
                    square[k, j1] += b1
                if j2 > j1:
                    square[k, j2] += b2
                if j3 > j2:
                    square[k, j3] += b3


@jit
def mirror(squares):  # type: ignore[no-untyped-def]
    """Copy the lower triangles to the upper ones."""
    for k in range(squares.shape[0]):
        for i in range(squares.shape[1]):
            for j in range(i):
                squares[k, j, i] = squares[k, i, j]


@jit
def add_squares(root, delta, deviation, first, second, distance, begin, end, m):  # type: ignore[no-untyped-def]
    """Add the squares of rows begin..end-1 of root (deviation - delta), two rows and four columns at a time."""
    i = begin
    while i + 1 < end:
        a, b = root[i], root[i + 1]
        at, bt = 0.0, 0.0
        for j in range(i + 2):
            at -= a[j] * delta[j]
            bt -= b[j] * delta[j]
        j = 0
        while j + 4 < i + 2:
            a0, a1, a2, a3 = a[j], a[j + 1], a[j + 2], a[j + 3]
            b0, b1, b2, b3 = b[j], b[j + 1], b[j + 2], b[j + 3]
            d0, d1, d2, d3 = deviation[j], deviation[j + 1], deviation[j + 2], deviation[j + 3]
            if j == 0:
                for lane in range(m):
                    first[lane] = at + a0 * d0[lane] + a1 * d1[lane] + a2 * d2[lane] + a3 * d3[lane]
                    second[lane] = bt + b0 * d0[lane] + b1 * d1[lane] + b2 * d2[lane] + b3 * d3[lane]
            else:
                for lane in range(m):
                    first[lane] += a0 * d0[lane] + a1 * d1[lane] + a2 * d2[lane] + a3 * d3[lane]
                    second[lane] += b0 * d0[lane] + b1 * d1[lane] + b2 * d2[lane] + b3 * d3[lane]
            j += 4
        # two to four columns are left; a column beyond them counts zero
        j2, j3 = min(j + 2, i + 1), min(j + 3, i + 1)
        a0, a1, b0, b1 = a[j], a[j + 1], b[j], b[j + 1]
        a2, b2 = (a[j2], b[j2]) if j + 2 < i + 2 else (0.0, 0.0)
        a3, b3 = (a[j3], b[j3]) if j + 3 < i + 2 else (0.0, 0.0)
        d0, d1, d2, d3 = deviation[j], deviation[j + 1], deviation[j2], deviation[j3]
        if j == 0:
            for lane in range(m):
                u = at + a0 * d0[lane] + a1 * d1[lane] + a2 * d2[lane] + a3 * d3[lane]
                v = bt + b0 * d0[lane] + b1 * d1[lane] + b2 * d2[lane] + b3 * d3[lane]
                distance[lane] += u * u + v * v
        elif j + 2 == i + 2:
            for lane in range(m):
                u = first[lane] + a0 * d0[lane] + a1 * d1[lane]
                v = second[lane] + b0 * d0[lane] + b1 * d1[lane]
                distance[lane] += u * u + v * v
        else:
            for lane in range(m):
                u = first[lane] + a0 * d0[lane] + a1 * d1[lane] + a2 * d2[lane] + a3 * d3[lane]
                v = second[lane] + b0 * d0[lane] + b1 * d1[lane] + b2 * d2[lane] + b3 * d3[lane]
                distance[lane] += u * u + v * v
        i += 2
    if i < end:
        at = 0.0
        for j in range(i + 1):
            at -= root[i, j] * delta[j]
        for lane in range(m):
            first[lane] = at
        for j in range(i + 1):
            a0, d0 = root[i, j], deviation[j]
            for lane in range(m):
                first[lane] += a0 * d0[lane]
        for lane in range(m):
            distance[lane] += first[lane] * first[lane]


@jit
def exponential(x, result, bits, m):  # type: ignore[no-untyped-def]
    """Store exp(x), x <= 0, to double precision beside 1: exp(x) = 2^n exp(r), |r| <= log(2) / 2, by its Taylor series.

    Sums may be reordered, so the relative error grows with |x| as that of a rounded x does.
    """
    power = bits.view(np.float64)
    for lane in range(m):
        value = max(x[lane], -700.0)
        n = np.floor(value * 1.4426950408889634 + 0.5)
        r = value - n * 6.93147180369123816490e-01  # log 2 in two parts
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
        bits[lane] = (np.int64(n) + 1023) << 52  # the bits of 2^n
    for lane in range(m):
        result[lane] *= power[lane]


@jit
def logarithm(x, result, bits, m):  # type: ignore[no-untyped-def]
    """Store log(x), x >= 1, to double precision: x = 2^n f, f within [sqrt(1/2), sqrt(2)], log f by its series."""
    value = bits.view(np.float64)
    for lane in range(m):
        value[lane] = x[lane]
    for lane in range(m):
        n = (bits[lane] >> 52) - 1023
        bits[lane] = (bits[lane] & 0xFFFFFFFFFFFFF) | (1023 << 52)  # the fraction, within [1, 2)
        result[lane] = np.float64(n)
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
