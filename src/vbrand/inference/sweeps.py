"""The compiled loops of the kernel: rows along the lanes of vector registers, groups of them in the first cache.

Rows of a block are grouped by the component that won them in the last sweep. That component is scored first and in
full; any other is given up as soon as its partial sum of squares shows, for every row of the group, that its share
would be below double precision. Deviations are taken from the winner's mean, and what is summed is moved to the others'
means, so they are computed once; again only for rows that went so far that the move would cancel their digits. Numba
functions carry no annotations: their types are those of the arrays.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.compiling import once
from vbrand.inference.lanes import add_squares, exponential, inner, jit_both_ways, logarithm, products
from vbrand.inference.tiles import MOST_LANES
from vbrand.model.kernels import Gaussian, Student
from vbrand.types import FloatArray

# a share below exp(-53 log 2) is lost in the rounding of the largest one
NEGLIGIBLE = 36.75
# columns from which it pays to look who is still in play, lanes that are looked at together, and after how many rows of
# a factor first; then after twice as many each time
_WIDE = 16
_LOOKED_AT = MOST_LANES
_STEP = 8
# rows that are worked on together: few enough for their deviations to stay in cache, and for a component to be given up
# by all of them; many enough for what is done once per group. Of 96, 160, 256 and 400 the best over p = 36, 64, 128
_LANES = 256
# squares that are below this share of what they moved by are summed again: too few of their digits are left
_CANCELLED = 1e-6
# lanes that a vector loop takes at a time
VECTOR = 16
# kernels by their code: a component has one, so that no loop over rows asks which
_GAUSSIAN = Gaussian.code
_STUDENT = Student.code
# what the rows of `lanes` hold
BEST, TOTAL, FIRST, SECOND, DISTANCE, LIMIT, VALUE = range(7)

# held: rows of a block, (p, rows); order: which they are; first: where those of each component begin
Block = namedtuple("Block", ["held", "order", "first"])
# deviation: the group's from the mean of its component, then zeros; moved: from the mean of another one; weighted: four
# of their rows times shares; score: of components, then shares; pull: E[tau]; lanes: see above, of which bits is the
# last row as integers; shift: from the group's mean to another one; start: what that adds to rows of a factor
Group = namedtuple(
    "Group",
    ["deviation", "moved", "weighted", "score", "pull", "lanes", "bits", "winner", "reach", "shift", "start", "square"],
)


def filled_up(columns: int) -> int:
    """Return the rows that deviations have, and the rows and columns of factors: a multiple of four."""
    return -(-columns // 4) * 4


def block_memory(components: int, p: int, rows: int) -> Block:
    """Return the memory of a block."""
    return Block(np.empty((p, rows + 8)), np.empty(rows, np.int64), _apart(components + 1, np.int64))


def group_memory(components: int, p: int) -> Group:
    """Return the memory of a group of rows: O((p + K) lanes)."""
    lanes = _apart((7, _LANES))
    stride = _LANES + 8  # no power of two, so that the rows of a tile do not meet in one place of the cache
    return Group(
        deviation=_apart((filled_up(p), stride)),
        moved=_apart((filled_up(p), stride)),
        weighted=_apart((4, stride)),
        score=_apart((components, _LANES)),
        pull=_apart((components, _LANES)),
        lanes=lanes,
        bits=lanes[VALUE].view(np.int64),
        winner=_apart(_LANES, np.int64),
        reach=_apart(components, np.int64),
        shift=_apart(filled_up(p)),
        start=_apart(filled_up(p)),
        square=_apart((filled_up(p), filled_up(p))),
    )


def part_of(block: Block, group: Group, components: int) -> tuple[Block, Group]:
    """Return the memory for fewer components than it was made for."""
    reach, score, pull = group.reach[:components], group.score[:components], group.pull[:components]
    return block._replace(first=block.first[: components + 1]), group._replace(reach=reach, score=score, pull=pull)


def filled_roots(root: FloatArray) -> FloatArray:
    """Return factors (K, p, p) with zeros to the right and below, as the loops want them."""
    components, p, _ = root.shape
    filled = np.zeros((components, filled_up(p), filled_up(p)))
    filled[:, :p, :p] = root
    return filled


def _apart(shape: int | tuple[int, int], dtype: Any = np.float64) -> NDArray[Any]:
    """Return zeros that begin where a line of the cache does, with room around them.

    Threads that write to one line wait for each other, and a vector that lies in two is read twice.
    """
    room = 128 // np.dtype(dtype).itemsize
    size = int(np.prod(shape))
    whole = np.zeros(size + 2 * room, dtype)
    first = room - whole.ctypes.data % 128 // whole.itemsize
    return whole[first : first + size].reshape(shape)


@jit_both_ways
def load_block(rows, start, size, winners, centre, multiplier, farthest, held, order, first):  # type: ignore[no-untyped-def]
    """Store rows in working coordinates, in order of the component that won them last, and where each one's begin.

    The only place where the type and layout of the user's table matter.
    """
    for k in range(first.size):
        first[k] = 0
    for i in range(start, start + size):
        first[winners[i]] += 1

    end = 0
    for k in range(first.size):
        end += first[k]
        first[k] = end

    # rows are read in their order from the last one on, and dealt out from the end of each component's places
    for i in range(start + size - 1, start - 1, -1):
        lane = first[winners[i]] - 1
        first[winners[i]] = lane
        order[lane] = i
        for j in range(centre.size):
            value = (np.float64(rows[i, j]) - centre[j]) * multiplier[j]
            value = value if value > -farthest else -farthest
            held[j, lane] = value if value < farthest else farthest


@jit_both_ways
def sweep_block(block, group, scores, winners, statistics):  # type: ignore[no-untyped-def]
    """Add the statistics of a loaded block about the centres (lower triangles of squares) and return its evidence.

    `scores` are centres, roots, constants, kinds, tails and powers; winners are overwritten by those of now.
    """
    means = scores[0]
    lanes = group.lanes
    evidence = 0.0

    for w in range(means.shape[0]):
        for begin in range(block.first[w], block.first[w + 1], lanes.shape[1]):
            m = block.first[w + 1] - begin
            m = m if m < lanes.shape[1] else lanes.shape[1]
            load_group(block.held, begin, m, means[w], group.deviation)
            for k in range(means.shape[0]):
                group.reach[k] = m

            score_group(w, m, group, scores)
            evidence += _share_out(group, m)
            for lane in range(m):
                winners[block.order[begin + lane]] = group.winner[lane]
            add_group(w, m, means, group, statistics)
    return evidence


@inner
def load_group(held, begin, m, mean, deviation):  # type: ignore[no-untyped-def]
    """Store the deviations of a group from a mean."""
    for j in range(mean.size):
        for lane in range(m):
            deviation[j, lane] = held[j, begin + lane] - mean[j]


@inner
def score_group(w, m, group, scores):  # type: ignore[no-untyped-def]
    """Score a group of rows in the component w that won them last, then in all others while they are in play.

    A component is scored in the first lanes only, as far as its reach goes; which it loses when it is given up.
    """
    means, roots, constants, kinds, tails, powers = scores
    lanes, winner = group.lanes, group.winner
    best, p = lanes[BEST], means.shape[1]

    for turn in range(-1, constants.size):
        k = w if turn < 0 else turn
        if (turn == w) or group.reach[k] == 0:
            continue
        reach = group.reach[k]
        padded = (reach + VECTOR - 1) & -VECTOR
        for j in range(p):
            group.shift[j] = means[k, j] - means[w, j]
        limited = turn >= 0 and p >= _WIDE
        if limited:
            _limits(kinds[k], constants[k], tails[k], powers[k], lanes, group.bits, padded)
        if _measure(roots[k], group, p, reach, limited) == 0:
            group.reach[k] = 0
            continue

        score = group.score[k]
        _from_distance(kinds[k], constants[k], tails[k], powers[k], group.pull[k], score, lanes, group.bits, padded)
        if turn < 0:
            for lane in range(padded):
                best[lane] = score[lane]
                winner[lane] = k
        else:
            for lane in range(reach):
                winner[lane] = k if score[lane] > best[lane] else winner[lane]
                best[lane] = score[lane] if score[lane] > best[lane] else best[lane]


@once
def _measure(root, group, p, reach, limited):  # type: ignore[no-untyped-def]
    """Store squared distances from a component, and return in how many lanes it is in play.

    Where limited, lanes that are looked at together are left as soon as all are beyond their limits: what is stored
    there is less than the distance, and beyond the limit.
    """
    distance, limit, start = group.lanes[DISTANCE], group.lanes[LIMIT], group.start
    for lane in range((reach + VECTOR - 1) & -VECTOR):
        distance[lane] = 0.0
    width, ready, left = _LOOKED_AT if limited else reach, 0, 0
    for lane in range(0, reach, width):
        to = lane + width if lane + width < reach else reach
        begin: Any = np.int64(0)  # a plain 0 has a type of its own, for which loops would be compiled again
        end, inside = _STEP if limited and p > _STEP else p, to - lane
        while begin < end and inside > 0:
            for i in range(ready, end):
                # R (d - shift) = R d + start
                moved = 0.0
                for j in range(i + 1):
                    moved -= root[i, j] * group.shift[j]
                start[i] = moved
            ready = end if end > ready else ready
            add_squares(root, start, group.deviation, distance, begin, end, lane, to)
            if limited:
                inside = 0
                for each in range(lane, to):
                    inside += distance[each] <= limit[each]
            begin, end = end, end + 2 * _STEP if end + 2 * _STEP < p else p
        left += inside
    return left


@inner
def _from_distance(kind, constant, tail, power, pull, score, lanes, bits, m):  # type: ignore[no-untyped-def]
    """Store the scores of rows at these squared distances, and their weights (5.16) in the mean and scatter.

    constant - distance / 2 and no weights for a Gaussian, constant - power log(1 + distance / tail) for a Student t.
    """
    distance = lanes[DISTANCE]
    if kind == _GAUSSIAN:
        for lane in range(m):
            score[lane] = constant - 0.5 * distance[lane]
    elif kind == _STUDENT:
        ratio, log = lanes[FIRST], lanes[SECOND]
        for lane in range(m):
            ratio[lane] = 1.0 + distance[lane] / tail
        logarithm(ratio, log, lanes[VALUE], bits, m)
        for lane in range(m):
            score[lane] = constant - power * log[lane]
            pull[lane] = 2.0 * power / (tail * ratio[lane])


@inner
def _limits(kind, constant, tail, power, lanes, bits, m):  # type: ignore[no-untyped-def]
    """Store the squared distance beyond which a component has no share in a row, (5.19)."""
    best, limit, exponent = lanes[BEST], lanes[LIMIT], lanes[FIRST]
    if kind == _GAUSSIAN:
        for lane in range(m):
            limit[lane] = 2.0 * (constant - best[lane] + NEGLIGIBLE)
    elif kind == _STUDENT:
        for lane in range(m):
            ratio = (constant - best[lane] + NEGLIGIBLE) / power
            exponent[lane] = ratio if ratio < 700.0 else 700.0
        exponential(exponent, limit, lanes[VALUE], bits, m)
        for lane in range(m):
            limit[lane] = tail * (limit[lane] - 1.0)


@inner
def _share_out(group, m):  # type: ignore[no-untyped-def]
    """Turn scores into shares that sum to one in each lane, and return the sum of their log-sum-exp."""
    lanes = group.lanes
    best, total, exponent, result = lanes[BEST], lanes[TOTAL], lanes[FIRST], lanes[SECOND]
    padded = (m + VECTOR - 1) & -VECTOR
    for lane in range(padded):
        total[lane] = 0.0

    for k in range(group.reach.size):
        if group.reach[k] > 0:
            # (5.18)  log phi_ik = score_ik - LSE_k score_ik
            score = group.score[k]
            count = 0
            for lane in range(padded):
                exponent[lane] = score[lane] - best[lane]
            for lane in range(m):
                count += exponent[lane] >= -NEGLIGIBLE
            group.reach[k] = count
            if count > 0:
                exponential(exponent, result, lanes[VALUE], group.bits, padded)
                for lane in range(padded):
                    score[lane] = result[lane] if exponent[lane] >= -NEGLIGIBLE else 0.0
                    total[lane] += score[lane]

    evidence, product = 0.0, 1.0
    for lane in range(m):
        evidence += best[lane]
        product *= total[lane]
        if product > 1e200:  # one logarithm for many
            evidence += math.log(product)
            product = 1.0
    evidence += math.log(product)
    for lane in range(padded):
        total[lane] = 1.0 / total[lane]
    return evidence


@inner
def add_group(w, m, means, group, statistics):  # type: ignore[no-untyped-def]
    """Add the statistics of a group: its shares times the products of deviations, for each component that has any."""
    counts, weights, sums, squares, kinds = statistics
    lanes, square, p = group.lanes, group.square, means.shape[1]
    total, phi, added = lanes[TOTAL], lanes[DISTANCE], group.shift
    padded = (m + VECTOR - 1) & -VECTOR
    for k in range(counts.size):
        if group.reach[k] == 0:
            continue

        score, pull = group.score[k], group.pull[k]
        for lane in range(m):
            phi[lane] = score[lane] * total[lane]
        for lane in range(m, padded):
            phi[lane] = 0.0
        weight = 0.0
        for lane in range(m):
            weight += phi[lane]
        counts[k] += weight
        if kinds[k] != _GAUSSIAN:
            weight = 0.0
            for lane in range(m):
                phi[lane] *= pull[lane]
                weight += phi[lane]
        weights[k] += weight
        origin = _summed(w, k, padded, weight, means, group)

        # y - m_k = d + delta, delta = m_w - m_k, so that sums and squares about m_w move to m_k
        for i in range(p):
            delta = means[origin, i] - means[k, i]
            shifted = added[i] + weight * delta
            sums[k, i] += shifted
            for j in range(i + 1):
                squares[k, i, j] += square[i, j] + delta * added[j] + shifted * (means[origin, j] - means[k, j])


@once
def _summed(w, k, m, weight, means, group):  # type: ignore[no-untyped-def]
    """Store sums and squares of deviations from the mean of w, or of k where those would cancel, and return which."""
    phi, deviation, origin = group.lanes[DISTANCE], group.deviation, w
    for _ in range(2):
        products(phi, deviation, group.weighted, group.shift, group.square, means.shape[1], m)
        if origin == k or not _cancels(means[w], means[k], weight, group.shift, group.square):
            break
        _move(group, means[w], means[k], m)
        deviation, origin = group.moved, k
    return origin


@once
def _cancels(mean, other, weight, sums, square):  # type: ignore[no-untyped-def]
    """Return whether sums of squares about a mean would lose their digits on the way to another one."""
    way, left = 0.0, 0.0
    for i in range(mean.size):
        delta = mean[i] - other[i]
        way += weight * delta * delta
        left += square[i, i] + 2.0 * delta * sums[i] + weight * delta * delta
    return left < _CANCELLED * way


@once
def _move(group, mean, other, m):  # type: ignore[no-untyped-def]
    """Store the deviations of a group from another mean."""
    for j in range(mean.size):
        delta = mean[j] - other[j]
        for lane in range(m):
            group.moved[j, lane] = group.deviation[j, lane] + delta
