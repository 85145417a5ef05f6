"""The compiled loops of the kernel: rows along the lanes of vector registers, blocks in cache.

Rows of a block are grouped by the component that won them in the last sweep. That component is scored first and in
full; any other is given up as soon as its partial sum of squares shows, for every row of the group, that its share
would be below double precision. Deviations are taken from the winner's mean and shifted to the others', so they are
computed once. Numba functions carry no annotations: their types are those of the arrays.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.lanes import add_products, add_squares, exponential, jit, logarithm
from vbrand.model.kernels import Gaussian, Student

# a share below exp(-53 log 2) is lost in the rounding of the largest one
NEGLIGIBLE = 36.75
# columns from which BLAS beats the loops, and rows of a factor between two looks at who is still in play
WIDE = 16
STEP = 8
# columns up to which squares are added by loops over a triangle rather than by BLAS over the whole square
_LOOPED = 64
# rows that are worked on together; not a power of two, whose multiples would share cache sets
LANES = 504
# kernels by their code: a component has one, so that no loop over rows asks which
_GAUSSIAN = Gaussian.code
_STUDENT = Student.code

Block = namedtuple("Block", ["held", "order", "first"])
Shares = namedtuple("Shares", ["score", "pull", "best", "total", "winner", "active", "reach"])
Lanes = namedtuple("Lanes", ["first", "second", "distance", "limit", "bits", "lanes", "keep", "delta"])
Workspace = namedtuple("Workspace", ["block", "shares", "lanes", "buffers"])


def workspace(components: int, p: int, block: int) -> Workspace:
    """Return the memory that one thread needs: O(block p + K lanes)."""
    features = 1 + p + p * (p + 1) // 2 if p < WIDE else p
    return Workspace(
        Block(np.empty((p, block + 8)), np.empty(block, np.int64), _apart(components + 1, np.int64)),
        Shares(
            score=np.empty((components, LANES)),
            pull=np.empty((components, LANES)),
            best=_apart(LANES),
            total=_apart(LANES),
            winner=_apart(LANES, np.int64),
            active=_apart(components, np.bool_),
            reach=_apart(components, np.int64),
        ),
        Lanes(
            first=_apart(LANES),
            second=_apart(LANES),
            distance=_apart(LANES),
            limit=_apart(LANES),
            bits=_apart(LANES, np.int64),
            lanes=_apart(LANES, np.int64),
            keep=_apart(LANES, np.int64),
            delta=_apart(p),
        ),
        np.empty((3, max(p, components + 8, features) * LANES)),
    )


def part_of(work: Workspace, components: int) -> Workspace:
    """Return the memory for fewer components than it was made for."""
    shares = work.shares
    return work._replace(
        block=work.block._replace(first=work.block.first[: components + 1]),
        shares=shares._replace(
            score=shares.score[:components],
            pull=shares.pull[:components],
            active=shares.active[:components],
            reach=shares.reach[:components],
        ),
    )


def _apart(size: int, dtype: Any = np.float64) -> NDArray[Any]:
    """Return an array with room around it: threads that write to one cache line wait for each other."""
    room = 128 // np.dtype(dtype).itemsize
    return np.empty(size + 2 * room, dtype)[room : room + size]


@jit
def load_block(rows, start, size, winners, centre, multiplier, farthest, block):  # type: ignore[no-untyped-def]
    """Store rows in working coordinates, in order of the component that won them last, and where each one's begin.

    The only place where the type and layout of the user's table matter.
    """
    held, order, first = block
    first[:] = 0
    for i in range(start, start + size):
        first[winners[i] + 1] += 1
    for k in range(first.size - 1):
        first[k + 1] += first[k]
    cursor = first[:-1].copy()
    for i in range(start, start + size):  # rows are read in their order, and dealt out
        lane = cursor[winners[i]]
        cursor[winners[i]] = lane + 1
        order[lane] = i
        for j in range(centre.size):
            value = (np.float64(rows[i, j]) - centre[j]) * multiplier[j]
            held[j, lane] = min(max(value, -farthest), farthest)


@jit
def sweep_block(work, scores, winners, statistics):  # type: ignore[no-untyped-def]
    """Add the statistics of a loaded block about the centres (lower triangles of squares) and return its evidence.

    `scores` are centres, roots, constants, kinds, tails and powers; winners are overwritten by those of now.
    """
    means = scores[0]
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
            shares.reach[:] = m
            score_group(deviation, w, scores, shares, lanes, buffers)
            evidence += _share_out(shares, lanes, m)
            for lane in range(m):
                winners[order[begin + lane]] = shares.winner[lane]
            if p < WIDE:
                add_narrow(deviation, w, means, shares, buffers, statistics)
            else:
                add_wide(deviation, w, means, shares, lanes, buffers, statistics)
    return evidence


@jit
def score_group(deviation, w, scores, shares, lanes, buffers):  # type: ignore[no-untyped-def]
    """Score a group of rows in the component w that won them last, then in all others while they are in play.

    A component is scored in the first lanes only, as far as its reach goes.
    """
    means, roots, constants, kinds, tails, powers = scores
    p, m = deviation.shape
    distance, limit = lanes.distance, lanes.limit
    lanes.delta[:] = 0.0
    distance[:m] = 0.0
    if p < WIDE:
        add_squares(roots[w], lanes.delta, deviation, lanes.first, lanes.second, distance, 0, p, m)
    else:
        unit = buffers[1, : p * m].reshape(p, m)
        np.dot(roots[w], deviation, unit)
        for i in range(p):
            for lane in range(m):
                distance[lane] += unit[i, lane] * unit[i, lane]
    _from_distance(kinds[w], constants[w], tails[w], powers[w], shares.pull[w], shares.best, lanes, m)
    for lane in range(m):
        shares.score[w, lane] = shares.best[lane]
        shares.winner[lane] = w
    shares.active[w] = True
    for k in range(constants.size):
        reach = shares.reach[k]
        if k != w and reach == 0:
            shares.active[k] = False
        elif k != w:
            lanes.delta[:] = means[k] - means[w]
            distance[:reach] = 0.0
            if p >= WIDE:
                _limits(kinds[k], constants[k], tails[k], powers[k], shares.best, limit, reach)
            shares.active[k] = _score_other(
                deviation, k, roots[k], kinds[k], constants[k], tails[k], powers[k], shares, lanes, buffers
            )


@jit
def _from_distance(kind, constant, tail, power, pull, score, lanes, m):  # type: ignore[no-untyped-def]
    """Store the scores of rows at these squared distances, and their weights (5.16) in the mean and scatter.

    constant - distance / 2 and no weights for a Gaussian, constant - power log(1 + distance / tail) for a Student t.
    """
    distance = lanes.distance
    if kind == _GAUSSIAN:
        for lane in range(m):
            score[lane] = constant - 0.5 * distance[lane]
    elif kind == _STUDENT:
        ratio, log = lanes.first, lanes.second
        for lane in range(m):
            ratio[lane] = 1.0 + distance[lane] / tail
        logarithm(ratio, log, lanes.bits, m)
        for lane in range(m):
            score[lane] = constant - power * log[lane]
            pull[lane] = 2.0 * power / (tail * ratio[lane])


@jit
def _limits(kind, constant, tail, power, best, limit, m):  # type: ignore[no-untyped-def]
    """Store the squared distance beyond which a component has no share in a row, (5.19)."""
    if kind == _GAUSSIAN:
        for lane in range(m):
            limit[lane] = 2.0 * (constant - best[lane] + NEGLIGIBLE)
    elif kind == _STUDENT:
        for lane in range(m):
            limit[lane] = tail * math.expm1(min((constant - best[lane] + NEGLIGIBLE) / power, 700.0))


@jit
def _score_other(deviation, k, root, kind, constant, tail, power, shares, lanes, buffers):  # type: ignore[no-untyped-def]
    """Score the group in component k and return True, or give it up and return False.

    After every few rows of the factor those lanes are dropped whose share is already known to be negligible.
    """
    p, m = deviation.shape[0], shares.reach[k]
    distance, limit, index, keep = lanes.distance, lanes.limit, lanes.lanes, lanes.keep
    step = p if p < WIDE else STEP
    current, playing, whole, i = deviation, m, True, 0
    while True:
        end = min(p, i + step)
        if not whole:
            for j in range(i, end):
                for x in range(playing):
                    current[j, x] = deviation[j, index[x]]
        add_squares(root, lanes.delta, current, lanes.first, lanes.second, distance, i, end, playing)
        i = end
        if p < WIDE:  # too short to give anything up
            break
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
    score, pull, best, winner = shares.score[k], shares.pull[k], shares.best, shares.winner
    if whole:
        _from_distance(kind, constant, tail, power, pull, score, lanes, m)
        for lane in range(m):
            winner[lane] = k if score[lane] > best[lane] else winner[lane]
            best[lane] = max(score[lane], best[lane])
    else:
        # scores of those in play are spread over all lanes from the last one backwards: none is overwritten unread
        _from_distance(kind, constant, tail, power, pull, score, lanes, playing)
        end = m
        for x in range(playing - 1, -1, -1):
            lane = index[x]
            value, weight = score[x], pull[x]
            score[lane + 1 : end] = -math.inf
            end = lane
            score[lane], pull[lane] = value, weight
            if value > best[lane]:
                best[lane] = value
                winner[lane] = k
        score[:end] = -math.inf
    return True


@jit
def _share_out(shares, lanes, m):  # type: ignore[no-untyped-def]
    """Turn scores into shares that sum to one in each lane, and return the sum of their log-sum-exp."""
    # (5.18)  log phi_ik = score_ik - LSE_k score_ik
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
                exponential(exponent, result, lanes.bits, m)
                for lane in range(m):
                    score[lane] = result[lane] if exponent[lane] >= -NEGLIGIBLE else 0.0
                    total[lane] += score[lane]
    evidence = 0.0
    for lane in range(m):
        evidence += shares.best[lane] + math.log(total[lane])
        total[lane] = 1.0 / total[lane]
    return evidence


@jit
def add_narrow(deviation, w, means, shares, buffers, statistics):  # type: ignore[no-untyped-def]
    """Add the statistics of all components at once: shares times the products of deviations, one BLAS call."""
    counts, weights, sums, squares, kinds = statistics
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
        k = present[a]
        for lane in range(m):
            phi[a, lane] = shares.score[k, lane] * shares.total[lane]
        if kinds[k] != _GAUSSIAN:
            total = 0.0
            for lane in range(m):
                total += phi[a, lane]
                phi[a, lane] *= shares.pull[k, lane]
            counts[k] += total
    added = np.dot(phi, products.T)  # (present, features)
    for a in range(present.size):
        k = present[a]
        weights[k] += added[a, 0]
        if kinds[k] == _GAUSSIAN:
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


@jit
def add_wide(deviation, w, means, shares, lanes, buffers, statistics):  # type: ignore[no-untyped-def]
    """Add the statistics component by component, over the lanes that hold a share of it."""
    counts, weights, sums, squares, kinds = statistics
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
        if kinds[k] != _GAUSSIAN:
            for x in range(held):
                phi[x] *= shares.pull[k, index[x]]
        for x in range(held):
            weights[k] += phi[x]
        for j in range(p):
            delta = means[w, j] - means[k, j]
            total = 0.0
            for x in range(held):
                own[j, x] = (deviation[j, x] if held == m else deviation[j, index[x]]) + delta
            for x in range(held):
                weighted[j, x] = own[j, x] * phi[x]
                total += weighted[j, x]
            sums[k, j] += total
        if p > _LOOPED:
            squares[k] += np.dot(weighted, own.T)
        else:
            add_products(weighted, own, squares[k])
