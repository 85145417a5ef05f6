"""The sweep over rows with missing cells or categories, whatever their patterns.

A row is scored first in the component that won it last; any other is left out if a bound that costs one square per cell
shows that its share would be below double precision. What a component expects in the missing cells of the rows that
are left to it is found row by row, of the missing columns alone; then the rows lie along the lanes of vector registers
as complete ones do, and their squares are summed by the same loops.
"""

import math

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.gapped import (
    ALONG,
    BEST,
    CONSTANT,
    DISTANCE,
    FIRST,
    LOAD,
    POWER,
    PULL,
    SECOND,
    TOTAL,
    UPPER,
    VALUE,
    GapScores,
    GapWork,
)
from vbrand.inference.lanes import add_squares, exponential, inner, jit, logarithm, products
from vbrand.inference.sweeps import NEGLIGIBLE, VECTOR
from vbrand.model.gaps import add_hidden, decompose, hidden_loss, invert_lower
from vbrand.model.kernels import Gaussian
from vbrand.types import FloatArray, IntArray

_LOG_2_PI = math.log(2.0 * math.pi)
_GAUSSIAN = Gaussian.code


def sweep_gaps(
    rows: FloatArray,
    codes: IntArray,
    scores: GapScores,
    winners: NDArray[np.int32],
    statistics: tuple[FloatArray, ...],
    work: GapWork,
) -> float:
    """Add the statistics of rows with missing cells about the centres (lower triangles) and return their evidence.

    `codes` are levels of categories, (n, c). Each row has at least one cell. `winners`, of an earlier sweep, are
    overwritten.
    """
    evidence, weighted = 0.0, np.zeros(statistics[3].shape)
    for start in range(0, rows.shape[0], work.was.size):
        part = slice(start, start + work.was.size)
        _score_all(rows[part], codes[part], scores, winners[part], work)
        evidence += _share_out(rows[part].shape[0], work)
        _add_all(codes[part], scores, statistics, weighted, work)
    if scores.noise.any():
        # (5.25)  C P D and its transpose: what is missing moves with the rounding of what is not
        whole = weighted + np.tril(weighted, -1).transpose(0, 2, 1)
        mixed = whole @ (scores.precision[:, :, : scores.noise.size] * scores.noise)
        statistics[3][:] -= np.tril(mixed + mixed.transpose(0, 2, 1))
    return evidence


@jit
def _score_all(rows, codes, scores, winners, work):  # type: ignore[no-untyped-def]
    """Score each row in the component that won it last, then in all others that may have a share in it."""
    n, best, upper = rows.shape[0], work.lanes[BEST], work.lanes[UPPER]
    _load(rows, winners, work)
    for turn in range(2):
        for k in range(work.count.size):
            before = work.count[k] if turn > 0 else 0
            if turn > 0:
                _bound(n, k, codes, scores, work)
            at, pattern, log_determinant = before, -1, 0.0
            for i in range(n):
                mine = work.was[i] == k
                if mine if turn == 0 else (not mine and upper[i] >= best[i] - NEGLIGIBLE):
                    if work.pattern[i] != pattern:
                        pattern = work.pattern[i]
                        log_determinant = _invert(k, i, scores, work)
                    _complete(rows, i, k, at, log_determinant, codes, scores, work)
                    at += 1
            work.count[k] = at
            if at == before:
                continue
            _score(k, scores, work)
            for lane in range(before, at):
                i = work.member[k, lane]
                if turn == 0 or work.score[k, lane] > best[i]:
                    best[i] = work.score[k, lane]
                    winners[i] = k


@inner
def _load(rows, winners, work):  # type: ignore[no-untyped-def]
    """Store rows column by column, who won them, and which cells they miss."""
    n, p = rows.shape
    first, columns, at, pattern = work.first, work.columns, 0, 0
    for i in range(n):
        work.was[i], first[i] = winners[i], at
        for j in range(p):
            work.held[j, i] = rows[i, j]
            columns[at] = j  # taken back if there is one more cell
            at += rows[i, j] != rows[i, j]
        m = at - first[i]
        same = i > 0 and m == first[i] - first[i - 1]
        if same:
            for a in range(m):
                same = same and columns[first[i] + a] == columns[first[i - 1] + a]
        pattern += not same
        work.pattern[i] = pattern
    first[n] = at


@inner
def _bound(n, k, codes, scores, work):  # type: ignore[no-untyped-def]
    """Store what the scores of rows in component k are at the most, (5.28) and (5.29)."""
    lanes, p = work.lanes, scores.noise.size
    distance, along, load, constant, power = lanes[DISTANCE], lanes[ALONG], lanes[LOAD], lanes[CONSTANT], lanes[POWER]
    padded = (n + VECTOR - 1) & -VECTOR
    for lane in range(padded):
        distance[lane] = 0.0
        along[lane] = 0.0
        load[lane] = 1.0
    for j in range(0, work.held.shape[0], 2):
        c0, c1 = scores.centre[k, j], scores.centre[k, j + 1]
        w0, w1 = scores.weight[k, j], scores.weight[k, j + 1]
        a0, a1 = w0 * scores.load[k, j], w1 * scores.load[k, j + 1]
        b0, b1 = a0 * scores.load[k, j], a1 * scores.load[k, j + 1]
        h0, h1 = work.held[j], work.held[j + 1]
        for lane in range(padded):
            e0, e1 = h0[lane] - c0, h1[lane] - c1
            # a missing cell is not equal to itself
            load[lane] += (b0 if e0 == e0 else 0.0) + (b1 if e1 == e1 else 0.0)
            e0, e1 = e0 if e0 == e0 else 0.0, e1 if e1 == e1 else 0.0
            distance[lane] += w0 * e0 * e0 + w1 * e1 * e1
            along[lane] += a0 * e0 + a1 * e1

    # (5.28)  D^o >= sum_o e^2 / r - (sum_o a e / r)^2 / (1 + sum_o a^2 / r)
    hidden = scores.hidden[k]
    for lane in range(padded):
        least = distance[lane] - along[lane] * along[lane] / load[lane]
        distance[lane] = (least if least > 0.0 else 0.0) - hidden
    most, powers = scores.most[k], scores.power[k]
    for i in range(n):
        size = p - (work.first[i + 1] - work.first[i])
        constant[i], power[i] = most[size] + _of_levels(scores.levels, k, codes, i), powers[size]
    _at_distances(scores.kind[k], scores.tail[k], constant, power, lanes[UPPER], lanes[PULL], lanes, work.bits, padded)


@inner
def _invert(k, i, scores, work):  # type: ignore[no-untyped-def]
    """Store P_mm^-1 of component k for the missing columns of a row, and return log |P_mm|."""
    begin, m = work.first[i], work.first[i + 1] - work.first[i]
    log_determinant = decompose(scores.precision, k, work.columns, begin, m, work.lower)
    invert_lower(work.lower, m, work.inverse)
    for a in range(m):
        for b in range(a):
            work.inverse[b, a] = work.inverse[a, b]
    return log_determinant


@inner
def _complete(rows, i, k, lane, log_determinant, codes, scores, work):  # type: ignore[no-untyped-def]
    """Store the deviations of a row from component k, with what it expects in the missing cells, and its constants."""
    own, right, inverse, columns = work.own, work.right, work.inverse, work.columns
    begin, m = work.first[i], work.first[i + 1] - work.first[i]
    p, deviation = rows.shape[1], work.deviation[k]
    for j in range(p):
        own[j] = rows[i, j] - scores.centre[k, j]
    for a in range(m):
        own[columns[begin + a]] = 0.0
    for a in range(m):
        line, pull = scores.precision[k, columns[begin + a]], 0.0
        for j in range(own.size):
            pull -= line[j] * own[j]
        right[a] = pull
    # (5.21)  e_m = -P_mm^-1 P_mo e_o
    for a in range(m):
        total = 0.0
        for b in range(m):
            total += inverse[a, b] * right[b]
        own[columns[begin + a]] = total
    for j in range(p):
        deviation[j, lane] = own[j]
    work.member[k, lane], work.power[k, lane], work.loss[k, lane] = i, scores.power[k, p - m], 0.0
    if scores.hidden[k] > 0.0:
        work.loss[k, lane] = hidden_loss(scores.around, k, columns, begin, m, inverse)
    # (5.22)  + p_m / 2 log 2 pi - 1/2 log|P_mm|
    constant = scores.constant[k, p - m] + 0.5 * (m * _LOG_2_PI - log_determinant)
    work.constant[k, lane] = constant + _of_levels(scores.levels, k, codes, i)


@inner
def _score(k, scores, work):  # type: ignore[no-untyped-def]
    """Score the rows of component k by the squares of their completed deviations."""
    lanes, p = work.lanes, scores.noise.size
    distance, padded = lanes[DISTANCE], (work.count[k] + VECTOR - 1) & -VECTOR
    for lane in range(padded):
        distance[lane] = 0.0
    for j in range(work.sums.size):
        work.sums[j] = 0.0
    add_squares(scores.root[k], work.sums, work.deviation[k], distance, 0, p, 0, padded)
    loss = work.loss[k]
    for lane in range(padded):
        distance[lane] -= loss[lane]
    constant, power = work.constant[k], work.power[k]
    _at_distances(
        scores.kind[k], scores.tail[k], constant, power, work.score[k], work.pull[k], lanes, work.bits, padded
    )


@inner
def _at_distances(kind, tail, constant, power, score, pull, lanes, bits, m):  # type: ignore[no-untyped-def]
    """Store the scores of rows at their squared distances, and E[tau] (5.16), each with a constant of its own."""
    distance, ratio, log = lanes[DISTANCE], lanes[FIRST], lanes[SECOND]
    if kind == _GAUSSIAN:
        for lane in range(m):
            score[lane] = constant[lane] - 0.5 * distance[lane]
        return
    for lane in range(m):
        ratio[lane] = 1.0 + distance[lane] / tail
    logarithm(ratio, log, lanes[VALUE], bits, m)
    for lane in range(m):
        score[lane] = constant[lane] - power[lane] * log[lane]
        pull[lane] = 2.0 * power[lane] / (tail * ratio[lane])


@inner
def _of_levels(levels, k, codes, i):  # type: ignore[no-untyped-def]
    """Return what the levels of a row add to its score in component k: (5.26), summed over columns."""
    total = 0.0
    for j in range(codes.shape[1]):
        total += levels[k, codes[i, j]]
    return total


@jit
def _share_out(n, work):  # type: ignore[no-untyped-def]
    """Turn the scores of n rows into shares that sum to one, and return the sum of their log-sum-exp."""
    lanes, best, total = work.lanes, work.lanes[BEST], work.lanes[TOTAL]
    exponent, result = lanes[FIRST], lanes[SECOND]
    for i in range(n):
        total[i] = 0.0
    for k in range(work.count.size):
        score, member, count = work.score[k], work.member[k], work.count[k]
        # (5.18)  log phi_ik = score_ik - LSE_k score_ik
        for lane in range(count):
            exponent[lane] = score[lane] - best[member[lane]]
        padded = (count + VECTOR - 1) & -VECTOR
        for lane in range(count, padded):
            exponent[lane] = -math.inf
        exponential(exponent, result, lanes[VALUE], work.bits, padded)
        for lane in range(padded):
            score[lane] = result[lane] if exponent[lane] >= -NEGLIGIBLE else 0.0
        for lane in range(count):
            total[member[lane]] += score[lane]

    evidence = 0.0
    for i in range(n):
        evidence += best[i] + math.log(total[i])
        total[i] = 1.0 / total[i]
    for k in range(work.count.size):
        for lane in range(work.count[k]):
            work.score[k, lane] *= total[work.member[k, lane]]
    return evidence


@jit
def _add_all(codes, scores, statistics, weighted, work):  # type: ignore[no-untyped-def]
    """Add the statistics of rows to those of the components that have a share in them."""
    counts, weights, sums, squares, seen = statistics
    added, square, p = work.sums, work.square, scores.noise.size
    for k in range(counts.size):
        share, pull, weight, count = work.score[k], work.pull[k], work.lanes[DISTANCE], work.count[k]
        if count == 0:
            continue
        padded = (count + VECTOR - 1) & -VECTOR
        total, phi = 0.0, 0.0
        for lane in range(padded):
            weight[lane] = share[lane] * pull[lane]
            phi += share[lane]
            total += weight[lane]
        counts[k] += phi
        weights[k] += total
        products(weight, work.deviation[k], work.weighted, added, square, p, padded)
        for i in range(p):
            sums[k, i] += added[i]
            for j in range(i + 1):
                squares[k, i, j] += square[i, j]

        for lane in range(count):
            for j in range(codes.shape[1]):
                seen[k, codes[work.member[k, lane], j]] += share[lane]
        _add_spread(k, share, weight, scores, squares[k], weighted[k], work)


@inner
def _add_spread(k, share, weight, scores, squares, weighted, work):  # type: ignore[no-untyped-def]
    """Add what is not known of the missing cells of rows, (5.24), and parts of (5.25), once for neighbours alike."""
    count, member, pattern, inverse = work.count[k], work.member[k], work.pattern, work.inverse
    shares, pulls = 0.0, 0.0
    for lane in range(count):
        i = member[lane]
        shares += share[lane]
        pulls += weight[lane]
        if lane + 1 < count and pattern[member[lane + 1]] == pattern[i]:
            continue
        begin, m = work.first[i], work.first[i + 1] - work.first[i]
        if m > 0 and shares > 0.0:
            _invert(k, i, scores, work)
            # (5.24)  C = P_mm^-1: tau cancels
            for a in range(m):
                line, to = work.columns[begin + a], squares[work.columns[begin + a]]
                for b in range(a + 1):
                    to[work.columns[begin + b]] += shares * inverse[a, b]
                    weighted[line, work.columns[begin + b]] += pulls * inverse[a, b]
            if scores.hidden[k] > 0.0:
                add_hidden(scores.around, k, work.columns, begin, m, inverse, pulls, squares, work.right)
        shares, pulls = 0.0, 0.0
