"""The sweep over rows with missing cells, whatever their patterns.

Every component is looked at by one matrix product, which ranks them; those that may have a share in a row are then
scored again, one row at a time, by sums of squares that do not cancel.
"""

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from vbrand.compiling import inner, jit
from vbrand.inference.lanes import inner as lanes_inner
from vbrand.inference.sweeps import NEGLIGIBLE
from vbrand.model.gaps import absent_cells, backward, decompose, expect, forward, hidden_loss, invert_lower
from vbrand.model.kernels import at_distance, narrowed
from vbrand.model.posterior import RowScores
from vbrand.types import FloatArray, IntArray

# centre (K, p); root, precision P (K, p, p); kind, tail (K,); constant and power for rows of so many columns,
# (K, p + 1); noise (p,) and what it hides of any row at the most (K,); levels (K, L + 1) what categories add
GapScores = namedtuple(
    "GapScores", ["centre", "root", "precision", "kind", "tail", "constant", "power", "noise", "hidden", "levels"]
)
# of one row: deviation (K, p), lower (K, p, p), score and pull (K,), and room
GapWork = namedtuple("GapWork", ["deviation", "lower", "score", "pull", "right", "inverse"])
_LOG_2_PI = math.log(2.0 * math.pi)
# nats by which the score of a matrix product may be wrong
_SLACK = 1.0
# rows that are worked on together: few enough for their deviations to stay in cache
_AT_ONCE = 512


def gap_scores(scores: RowScores) -> GapScores:
    """Return the scores as the loops over rows with missing cells want them."""
    count, p = scores.centre.shape
    precision = scores.root.transpose(0, 2, 1) @ scores.root
    constant, power = np.empty((2, count, p + 1))
    _narrow(scores.kind, scores.constant, scores.tail, scores.power, constant, power)
    noise = np.zeros(p) if scores.noise is None else scores.noise
    hidden = np.diagonal(precision, axis1=1, axis2=2) @ noise
    root = np.ascontiguousarray(scores.root)
    levels = np.zeros((count, 1)) if scores.levels is None else scores.levels
    return GapScores(scores.centre, root, precision, scores.kind, scores.tail, constant, power, noise, hidden, levels)


def gap_work(components: int, p: int) -> GapWork:
    """Return memory for one row."""
    deviation, lower = np.empty((components, p)), np.empty((components, p, p))
    return GapWork(deviation, lower, np.empty(components), np.empty(components), np.empty(p), np.empty((p, p)))


def sweep_gaps(
    rows: FloatArray,
    codes: IntArray,
    scores: GapScores,
    winners: NDArray[np.int32],
    statistics: tuple[FloatArray, ...],
    work: GapWork,
) -> float:
    """Add the statistics of rows with missing cells about the centres (lower triangles) and return their evidence.

    `codes` are levels of categories, (n, c). Each row has at least one cell. `winners` are overwritten.
    """
    evidence = 0.0
    for start in range(0, rows.shape[0], _AT_ONCE):
        some, of = rows[start : start + _AT_ONCE], codes[start : start + _AT_ONCE]
        first, columns = absent_cells(some)
        rough, high = np.empty((2, scores.kind.size, some.shape[0]))
        deviation, product = np.empty((2, *some.shape))
        for k in range(scores.kind.size):
            _deviate(some, first, columns, scores.centre[k], deviation)
            np.matmul(deviation, scores.precision[k], out=product)
            _rank(deviation, product, first, columns, of, scores, k, rough[k], high[k], work)
        own = winners[start : start + _AT_ONCE]
        evidence += _share_out(some, first, columns, of, rough, high, scores, own, statistics, work)
    return evidence


@jit
def _narrow(kind, constant, tail, power, constants, powers):  # type: ignore[no-untyped-def]
    """Store constant and power for rows of 0, 1, .., p columns."""
    p = constants.shape[1] - 1
    for k in range(kind.size):
        for q in range(p + 1):
            constants[k, q], _, powers[k, q] = narrowed(kind[k], constant[k], tail[k], power[k], p, q)


@jit
def _deviate(rows, first, columns, centre, deviation):  # type: ignore[no-untyped-def]
    """Store deviations from a centre, zero where cells are missing."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            deviation[i, j] = rows[i, j] - centre[j]
        for at in range(first[i], first[i + 1]):
            deviation[i, columns[at]] = 0.0


@jit
def _rank(deviation, product, first, columns, codes, scores, k, rough, high, work):  # type: ignore[no-untyped-def]
    """Store the scores of rows in component k but for rounding, and what they are at the most with what it hides."""
    p, right, lower, precision = deviation.shape[1], work.right, work.lower[k], scores.precision
    kind, tail, hidden, constants, powers = (
        scores.kind[k],
        scores.tail[k],
        scores.hidden[k],
        scores.constant,
        scores.power,
    )
    for i in range(deviation.shape[0]):
        begin, m = first[i], first[i + 1] - first[i]
        distance = 0.0
        for j in range(p):
            distance += deviation[i, j] * product[i, j]
        log_determinant = decompose(precision, k, columns, begin, m, lower)
        for a in range(m):
            right[a] = product[i, columns[begin + a]]
        distance -= forward(lower, m, right)
        distance = distance if distance > 0.0 else 0.0
        # (5.22)  + p_m / 2 log 2 pi - 1/2 log|P_mm|
        constant = constants[k, p - m] + 0.5 * (m * _LOG_2_PI - log_determinant)
        constant += _of_levels(scores.levels, k, codes, i)
        rough[i], _ = at_distance(kind, constant, tail, powers[k, p - m], distance)
        high[i] = rough[i]
        if hidden > 0.0:
            high[i], _ = at_distance(kind, constant, tail, powers[k, p - m], distance - hidden)


@jit
def _share_out(rows, first, columns, codes, rough, high, scores, winners, statistics, work):  # type: ignore[no-untyped-def]
    """Share each row out among the components that may have a share in it, add its statistics and return evidence."""
    centre, root, precision, kind, tail, constants, powers, noise, hidden, levels = scores
    deviations, lowers, share, pull, right, inverse = work
    evidence, (count, p) = 0.0, centre.shape
    for i in range(rows.shape[0]):
        begin, m, least, best = first[i], first[i + 1] - first[i], -math.inf, -math.inf
        for k in range(count):
            least = rough[k, i] if rough[k, i] > least else least
        for k in range(count):
            share[k] = -math.inf
            if high[k, i] < least - NEGLIGIBLE - _SLACK:
                continue
            deviation, lower = deviations[k], lowers[k]
            for j in range(p):
                deviation[j] = rows[i, j] - centre[k, j]
            for a in range(m):
                deviation[columns[begin + a]] = 0.0
            log_determinant = decompose(precision, k, columns, begin, m, lower)
            expect(precision, k, columns, begin, m, deviation, lower, right)
            distance = _square(root, k, deviation)
            if hidden[k] > 0.0:
                distance -= hidden_loss(precision, k, columns, begin, m, lower, noise, right)
            constant = constants[k, p - m] + 0.5 * (m * _LOG_2_PI - log_determinant)
            constant += _of_levels(levels, k, codes, i)
            share[k], pull[k] = at_distance(kind[k], constant, tail[k], powers[k, p - m], distance)
            if share[k] > best:
                best = share[k]
                winners[i] = k
        total = 0.0
        for k in range(count):
            # (5.18)  log phi_ik = score_ik - LSE_k score_ik
            apart = share[k] - best
            share[k] = math.exp(apart) if apart >= -NEGLIGIBLE else 0.0
            total += share[k]
        evidence += best + math.log(total)
        for k in range(count):
            if share[k] > 0.0:
                own = share[k] / total
                _add(k, own, own * pull[k], deviations[k], statistics)
                for j in range(codes.shape[1]):
                    statistics[4][k, codes[i, j]] += own
                # (5.24)  C = P_mm^-1: tau cancels
                invert_lower(lowers[k], m, inverse)
                for a in range(m):
                    for b in range(a + 1):
                        statistics[3][k, columns[begin + a], columns[begin + b]] += own * inverse[a, b]
                if hidden[k] > 0.0:
                    weight, square = own * pull[k], statistics[3][k]
                    _add_hidden(precision, k, columns, begin, m, lowers[k], noise, weight, square, right)
    return evidence


@inner
def _of_levels(levels, k, codes, i):  # type: ignore[no-untyped-def]
    """Return what the levels of a row add to its score in component k: (5.26), summed over columns."""
    total = 0.0
    for j in range(codes.shape[1]):
        total += levels[k, codes[i, j]]
    return total


@lanes_inner
def _square(root, k, deviation):  # type: ignore[no-untyped-def]
    """Return |root e|^2."""
    distance = 0.0
    for a in range(deviation.size):
        step = 0.0
        for j in range(a + 1):
            step += root[k, a, j] * deviation[j]
        distance += step * step
    return distance


@lanes_inner
def _add(k, share, weight, deviation, statistics):  # type: ignore[no-untyped-def]
    """Add what a row adds to component k: its share times E[tau] e e'."""
    counts, weights, sums, squares, _ = statistics
    counts[k] += share
    weights[k] += weight
    for i in range(deviation.size):
        size = weight * deviation[i]
        sums[k, i] += size
        for j in range(i + 1):
            squares[k, i, j] += size * deviation[j]


@inner
def _add_hidden(precision, k, columns, begin, m, lower, noise, weight, square, right):  # type: ignore[no-untyped-def]
    """Add what rounding hides of a row less what it hides of a complete one, G D_oo G' - D (lower triangle)."""
    at = 0
    for j in range(noise.size):
        if at < m and columns[begin + at] == j:
            square[j, j] -= weight * noise[j]
            at += 1
            continue
        if noise[j] == 0.0:
            continue
        for a in range(m):
            right[a] = precision[k, j, columns[begin + a]]
        forward(lower, m, right)
        backward(lower, m, right)
        size = weight * noise[j]
        # (5.25)  the missing deviations move with that of column j by -P_mm^-1 P_mj
        for a in range(m):
            i = columns[begin + a]
            square[max(i, j), min(i, j)] -= size * right[a]
            for b in range(a + 1):
                square[i, columns[begin + b]] += size * right[a] * right[b]
