"""The compiled loops of the kernel: rows along the lanes of vector registers, blocks in cache.

Rows of a block are grouped by the component that won them in the last sweep. That component is scored first and in
full; any other is given up as soon as its partial sum of squares shows, for every row of the group, that its share
would be below double precision. Deviations are taken from the winner's mean and shifted to the others', so they are
computed once. Numba functions carry no annotations: their types are those of the arrays.
"""

import math
from collections import namedtuple

import numba
import numpy as np

# sums may be reordered and contracted so that they run in vector registers; infinities keep their meaning
_jit = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})

# a share below exp(-53 log 2) is lost in the rounding of the largest one
NEGLIGIBLE = 36.75
# working coordinates beyond this count as this
FARTHEST = 1e6
# columns from which BLAS beats the loops, and rows of a factor between two looks at who is still in play
WIDE = 16
STEP = 8
# columns up to which squares are added by loops over a triangle rather than by BLAS over the whole square
_LOOPED = 64
# rows that are turned into columns together
_TILE = 32
# rows that are worked on together; not a power of two, whose multiples would share cache sets
LANES = 504

Block = namedtuple("Block", ["held", "order", "first"])
Shares = namedtuple("Shares", ["score", "best", "total", "winner", "active"])
Lanes = namedtuple("Lanes", ["first", "second", "distance", "limit", "bits", "lanes", "keep", "delta"])
Workspace = namedtuple("Workspace", ["block", "shares", "lanes", "buffers"])


def workspace(components: int, p: int, block: int) -> Workspace:
    """Return the memory that one thread needs: O(block p + K lanes)."""
    features = 1 + p + p * (p + 1) // 2 if p < WIDE else p
    return Workspace(
        Block(np.empty((p, block + 8)), np.empty(block, np.int64), np.empty(components + 1, np.int64)),
        Shares(
            np.empty((components, LANES)),
            np.empty(LANES),
            np.empty(LANES),
            np.empty(LANES, np.int64),
            np.empty(components, np.bool_),
        ),
        Lanes(
            first=np.empty(LANES),
            second=np.empty(LANES),
            distance=np.empty(LANES),
            limit=np.empty(LANES),
            bits=np.empty(LANES, np.int64),
            lanes=np.empty(LANES, np.int64),
            keep=np.empty(LANES, np.int64),
            delta=np.empty(p),
        ),
        np.empty((3, max(p, components + 8, features) * LANES)),
    )


@_jit
def load_block(rows, start, size, winners, centre, unit, block):  # type: ignore[no-untyped-def]
    """Store rows in working coordinates, in order of the component that won them last, and where each one's begin.

    The only place where the type and layout of the user's table matter.
    """
    order, first = block.order, block.first
    first[:] = 0
    for i in range(start, start + size):
        first[winners[i] + 1] += 1
    for k in range(first.size - 1):
        first[k + 1] += first[k]
    cursor = first[:-1].copy()
    for i in range(start, start + size):
        order[cursor[winners[i]]] = i
        cursor[winners[i]] += 1
    for begin in range(0, size, _TILE):
        for j in range(centre.size):
            for lane in range(begin, min(size, begin + _TILE)):
                value = (np.float64(rows[order[lane], j]) - centre[j]) * unit[j]
                block.held[j, lane] = min(max(value, -FARTHEST), FARTHEST)


@_jit
def sweep_block(work, means, roots, constants, winners, counts, sums, squares):  # type: ignore[no-untyped-def]
    """Add the statistics of a loaded block about `means` (lower triangles of squares) and return its evidence.

    winners is overwritten by the components that win the rows now.
    """
    components, p = means.shape
    held, order, first = work.block
    shares, lanes, buffers = work.shares, work.lanes, work.buffers
    evidence = 0.0
    for w in range(components):
        for begin in range(first[w], first[w + 1], LANES):
            m = min(LANES, first[w + 1] - begin)
            deviation = buffers[0, : p * m].reshape(p, m)
            for j in range(p):
                for lane in range(m):
                    deviation[j, lane] = held[j, begin + lane] - means[w, j]
            _score(deviation, w, means, roots, constants, shares, lanes, buffers)
            evidence += _share_out(shares, lanes, m)
            for lane in range(m):
                winners[order[begin + lane]] = shares.winner[lane]
            if p < WIDE:
                _add_narrow(deviation, w, means, shares, buffers, counts, sums, squares)
            else:
                _add_wide(deviation, w, means, shares, lanes, buffers, counts, sums, squares)
    return evidence


@_jit
def _score(deviation, w, means, roots, constants, shares, lanes, buffers):  # type: ignore[no-untyped-def]
    """Score a group of rows in the component w that won them last, then in all others while they are in play."""
    p, m = deviation.shape
    distance, limit = lanes.distance, lanes.limit
    lanes.delta[:] = 0.0
    distance[:m] = 0.0
    if p < WIDE:
        _add_squares(roots[w], lanes.delta, deviation, lanes.first, lanes.second, distance, 0, p, m)
    else:
        unit = buffers[1, : p * m].reshape(p, m)
        np.dot(roots[w], deviation, unit)
        for i in range(p):
            for lane in range(m):
                distance[lane] += unit[i, lane] * unit[i, lane]
    for lane in range(m):
        shares.best[lane] = constants[w] - 0.5 * distance[lane]
        shares.score[w, lane] = shares.best[lane]
        shares.winner[lane] = w
    shares.active[w] = True
    for k in range(constants.size):
        if k != w:
            lanes.delta[:] = means[k] - means[w]
            for lane in range(m):
                limit[lane] = 2.0 * (constants[k] - shares.best[lane] + NEGLIGIBLE)
                distance[lane] = 0.0
            shares.active[k] = _score_other(deviation, k, roots[k], constants[k], shares, lanes, buffers)


@_jit
def _score_other(deviation, k, root, constant, shares, lanes, buffers):  # type: ignore[no-untyped-def]
    """Score the group in component k and return True, or give it up and return False.

    After every few rows of the factor those lanes are dropped whose share is already known to be negligible.
    """
    p, m = deviation.shape
    distance, limit, index, keep = lanes.distance, lanes.limit, lanes.lanes, lanes.keep
    step = p if p < WIDE else STEP
    current, playing, whole, i = deviation, m, True, 0
    while True:
        end = min(p, i + step)
        if not whole:
            for j in range(i, end):
                for x in range(playing):
                    current[j, x] = deviation[j, index[x]]
        _add_squares(root, lanes.delta, current, lanes.first, lanes.second, distance, i, end, playing)
        i = end
        left = 0
        for x in range(playing):
            left += distance[x] <= limit[x]
        if left == 0:
            return False
        if i == p:
            break
        if 2 * left <= playing:
            if whole:
                for lane in range(m):
                    index[lane] = lane
            left = 0
            for x in range(playing):
                if distance[x] <= limit[x]:
                    keep[left] = x
                    index[left], distance[left], limit[left] = index[x], distance[x], limit[x]
                    left += 1
            packed = buffers[1, : p * m].reshape(p, m)
            for j in range(i):
                for x in range(left):
                    packed[j, x] = current[j, keep[x]]
            current, playing, whole = packed, left, False
    score, best, winner = shares.score[k], shares.best, shares.winner
    if whole:
        for lane in range(m):
            value = constant - 0.5 * distance[lane]
            score[lane] = value
            winner[lane] = k if value > best[lane] else winner[lane]
            best[lane] = max(value, best[lane])
    else:
        score[:m] = -math.inf
        for x in range(playing):
            value = constant - 0.5 * distance[x]
            score[index[x]] = value
            if value > best[index[x]]:
                best[index[x]] = value
                winner[index[x]] = k
    return True


@_jit
def _share_out(shares, lanes, m):  # type: ignore[no-untyped-def]
    """Turn scores into shares that sum to one in each lane, and return the sum of their log-sum-exp."""
    total, exponent, result = shares.total, lanes.first, lanes.second
    total[:m] = 0.0
    for k in range(shares.active.size):
        if shares.active[k]:
            score = shares.score[k]
            count = 0
            for lane in range(m):
                exponent[lane] = score[lane] - shares.best[lane]
                count += exponent[lane] >= -NEGLIGIBLE
            shares.active[k] = count > 0
            if count > 0:
                _exponential(exponent, result, lanes.bits, m)
                for lane in range(m):
                    score[lane] = result[lane] if exponent[lane] >= -NEGLIGIBLE else 0.0
                    total[lane] += score[lane]
    evidence = 0.0
    for lane in range(m):
        evidence += shares.best[lane] + math.log(total[lane])
        total[lane] = 1.0 / total[lane]
    return evidence


@_jit
def _add_narrow(deviation, w, means, shares, buffers, counts, sums, squares):  # type: ignore[no-untyped-def]
    """Add the statistics of all components at once: shares times the products of deviations, one BLAS call."""
    p, m = deviation.shape
    features = 1 + p + p * (p + 1) // 2
    products = buffers[1, : features * m].reshape(features, m)
    products[0] = 1.0
    f = 1 + p
    for i in range(p):
        products[1 + i] = deviation[i]
        for j in range(i + 1):
            for lane in range(m):
                products[f, lane] = deviation[i, lane] * deviation[j, lane]
            f += 1
    present = np.flatnonzero(shares.active)
    padded = -(-present.size // 8) * 8  # BLAS is slow at the edges of odd matrices
    phi = buffers[2, : padded * m].reshape(padded, m)
    phi[present.size :] = 0.0
    for a in range(present.size):
        for lane in range(m):
            phi[a, lane] = shares.score[present[a], lane] * shares.total[lane]
    added = np.dot(phi, products.T)  # (present, features)
    for a in range(present.size):
        k = present[a]
        counts[k] += added[a, 0]
        f = 1 + p
        # y - m_k = d + delta, delta = m_w - m_k, so that sums and squares about m_w move to m_k
        for i in range(p):
            delta = means[w, i] - means[k, i]
            shifted = added[a, 1 + i] + added[a, 0] * delta
            sums[k, i] += shifted
            for j in range(i + 1):
                squares[k, i, j] += added[a, f] + delta * added[a, 1 + j] + shifted * (means[w, j] - means[k, j])
                f += 1


@_jit
def _add_wide(deviation, w, means, shares, lanes, buffers, counts, sums, squares):  # type: ignore[no-untyped-def]
    """Add the statistics component by component, over the lanes that hold a share of it."""
    p, m = deviation.shape
    index = lanes.lanes
    for k in range(counts.size):
        if not shares.active[k]:
            continue
        held = 0
        for lane in range(m):
            if shares.score[k, lane] > 0.0:
                index[held] = lane
                held += 1
        own = buffers[1, : p * held].reshape(p, held)
        weighted = buffers[2, : p * held].reshape(p, held)
        phi = lanes.first
        for x in range(held):
            phi[x] = shares.score[k, index[x]] * shares.total[index[x]]
            counts[k] += phi[x]
        for j in range(p):
            delta = means[w, j] - means[k, j]
            total = 0.0
            for x in range(held):
                own[j, x] = deviation[j, index[x]] + delta
                weighted[j, x] = own[j, x] * phi[x]
                total += weighted[j, x]
            sums[k, j] += total
        if p > _LOOPED:
            squares[k] += np.dot(weighted, own.T)
        else:
            _add_products(weighted, own, squares[k])


@_jit
def _add_products(weighted, own, square):  # type: ignore[no-untyped-def]
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


@_jit
def mirror(squares):  # type: ignore[no-untyped-def]
    """Copy the lower triangles to the upper ones."""
    for k in range(squares.shape[0]):
        for i in range(squares.shape[1]):
            for j in range(i):
                squares[k, j, i] = squares[k, i, j]


@_jit
def _add_squares(root, delta, deviation, first, second, distance, begin, end, m):  # type: ignore[no-untyped-def]
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


@_jit
def _exponential(x, result, bits, m):  # type: ignore[no-untyped-def]
    """Store exp(x), x <= 0, to double precision: exp(x) = 2^n exp(r), |r| <= log(2) / 2, r by its Taylor series."""
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
