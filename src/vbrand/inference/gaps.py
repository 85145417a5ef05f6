"""The sweep over rows with missing cells or categories, whatever their patterns.

A row is scored first in the component that won it last; any other is left out if a bound that costs one square per cell
shows that its share would be below double precision. What a component expects in the missing cells of the rows that
are left to it is found row by row, of the missing columns alone; then the rows lie along the lanes of vector registers
as complete ones do, and their squares are summed by the same loops.
"""

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from vbrand.compiling import jit
from vbrand.inference.lanes import add_squares, exponential, logarithm, products
from vbrand.inference.lanes import inner as lanes_inner
from vbrand.inference.lanes import jit as lanes_jit
from vbrand.inference.sweeps import NEGLIGIBLE, VECTOR, filled_roots, filled_up
from vbrand.model.gaps import absent_cells, add_hidden, backward, decompose, forward, hidden_loss, invert_lower
from vbrand.model.kernels import Gaussian, narrowed
from vbrand.model.posterior import RowScores
from vbrand.types import FloatArray, IntArray

# centre (K, p); root, filled up with zeros; precision P and P D P, (K, p, p); kind, tail (K,); constant and power for
# rows of so many columns, (K, p + 1); noise (p,) and what it hides of any row at the most (K,); levels (K, L + 1) what
# categories add; (K, p) each: what a square adds to a distance at least, beside others and alone, and what a missing
# cell adds to a score at the most
GapScores = namedtuple(
    "GapScores",
    "centre root precision around kind tail constant power noise hidden levels beside alone missed",
)
# of rows that are worked on together: held (p, rows) and here, 1 or 0, which cells there are; was, the component that
# won each; size, how many cells each has; deviation (K, p, rows) of the rows of each component, which are its members,
# count of them; and (K, rows) of those: score, pull, constant, power, loss; lanes: see below; and room
GapWork = namedtuple(
    "GapWork",
    "held here was size deviation member count score pull constant power loss "
    "lanes bits own right sums lower inverse square",
)
# what the rows of `lanes` hold; bits is the last one as integers
BEST, TOTAL, FIRST, SECOND, DISTANCE, ALONE, UPPER, CONSTANT, POWER, PULL, SHIFT, VALUE = range(12)
_LOG_2_PI = math.log(2.0 * math.pi)
_GAUSSIAN = Gaussian.code
# rows that are worked on together: many enough for what is done once per component, few enough to stay in cache; and
# numbers that their deviations hold at the most
_AT_ONCE = 512
_NUMBERS = 2_000_000


def gap_scores(scores: RowScores) -> GapScores:
    """Return the scores as the loops over rows with missing cells want them."""
    count, p = scores.centre.shape
    precision = scores.root.transpose(0, 2, 1) @ scores.root
    constant, power = np.empty((2, count, p + 1))
    _narrow(scores.kind, scores.constant, scores.tail, scores.power, constant, power)
    noise = np.zeros(p) if scores.noise is None else scores.noise
    return GapScores(
        centre=scores.centre,
        root=filled_roots(scores.root),
        precision=precision,
        around=precision * noise @ precision,
        kind=scores.kind,
        tail=scores.tail,
        constant=constant,
        power=power,
        noise=noise,
        hidden=np.diagonal(precision, axis1=1, axis2=2) @ noise,
        levels=np.zeros((count, 1)) if scores.levels is None else scores.levels,
        **_at_least(scores.root),
    )


def _at_least(root: FloatArray) -> dict[str, FloatArray]:
    """Return `beside`, `alone` and `missed` of components with these factors of their precision, (K, p) each."""
    beside, alone, missed = np.empty((3, *root.shape[:2]))
    _bound_each(root, beside, alone, missed, *np.empty((2, *root.shape[1:])))
    return {"beside": beside, "alone": alone, "missed": missed}


def gap_work(components: int, p: int) -> GapWork:
    """Return memory for rows that are worked on together."""
    side = filled_up(p)
    rows = max(VECTOR, min(_AT_ONCE, _NUMBERS // (components * side)) // VECTOR * VECTOR)
    room = rows + VECTOR  # no power of two, so that the places of columns in the cache differ
    lanes = np.zeros((VALUE + 1, room))
    return GapWork(
        held=np.zeros((p, room)),
        here=np.zeros((p, room)),
        was=np.zeros(rows, np.int64),
        size=np.zeros(rows, np.int64),
        deviation=np.zeros((components, side, room)),
        member=np.zeros((components, room), np.int64),
        count=np.zeros(components, np.int64),
        score=np.zeros((components, room)),
        pull=np.ones((components, room)),
        constant=np.zeros((components, room)),
        power=np.zeros((components, room)),
        loss=np.zeros((components, room)),
        lanes=lanes,
        bits=lanes[VALUE].view(np.int64),
        own=np.zeros(p),
        right=np.zeros(side),
        sums=np.zeros(side),
        lower=np.zeros((p, p)),
        inverse=np.zeros((p, p)),
        square=np.zeros((side, side)),
    )


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
    evidence, weighted = 0.0, np.zeros_like(scores.precision)
    for start in range(0, rows.shape[0], work.was.size):
        part = slice(start, start + work.was.size)
        absent = absent_cells(rows[part])
        _score_all(rows[part], *absent, codes[part], scores, winners[part], work)
        evidence += _share_out(rows[part].shape[0], work)
        _add_all(*absent, codes[part], scores, statistics, weighted, work)
    if scores.noise.any():
        # (5.25)  C P D and its transpose: what is missing moves with the rounding of what is not
        mixed = (weighted + np.tril(weighted, -1).transpose(0, 2, 1)) @ (scores.precision * scores.noise)
        statistics[3][:] -= np.tril(mixed + mixed.transpose(0, 2, 1))
    return evidence


@jit
def _narrow(kind, constant, tail, power, constants, powers):  # type: ignore[no-untyped-def]
    """Store constant and power for rows of 0, 1, .., p columns."""
    p = constants.shape[1] - 1
    for k in range(kind.size):
        for q in range(p + 1):
            constants[k, q], _, powers[k, q] = narrowed(kind[k], constant[k], tail[k], power[k], p, q)


@jit
def _bound_each(root, beside, alone, missed, inverse, scatter):  # type: ignore[no-untyped-def]
    """Store what squares add to a distance at least, and missing cells to a score at the most; two squares are room."""
    count, p = beside.shape
    for k in range(count):
        # S = P^-1 = R^-1 R'^-1
        for i in range(p):
            for j in range(i + 1):
                rest = 1.0 if i == j else 0.0
                for c in range(j, i):
                    rest -= root[k, i, c] * inverse[c, j]
                inverse[i, j] = rest / root[k, i, i]
        for i in range(p):
            for j in range(i + 1):
                total = 0.0
                for c in range(j + 1):
                    total += inverse[i, c] * inverse[j, c]
                scatter[i, j] = scatter[j, i] = total
        for i in range(p):
            size, total = math.sqrt(scatter[i, i]), 0.0
            for j in range(p):
                total += abs(scatter[i, j]) / math.sqrt(scatter[j, j])
            # (5.28)  D^o >= max(sum_o e_i^2 / r_i, max_o e_i^2 / S_ii),   r_i = S_ii^1/2 sum_j |S_ij| / S_jj^1/2
            beside[k, i], alone[k, i] = 1.0 / (size * total), 1.0 / scatter[i, i]
            # (5.29)  -1/2 log|P_mm| <= 1/2 sum_m log S_jj
            missed[k, i] = math.log(size) + 0.5 * _LOG_2_PI
            if not (beside[k, i] < math.inf and 0.0 < alone[k, i] < math.inf):
                beside[k, i], alone[k, i], missed[k, i] = 0.0, 0.0, 1e300  # nothing is known


@lanes_jit
def _score_all(rows, first, columns, codes, scores, winners, work):  # type: ignore[no-untyped-def]
    """Score each row in the component that won it last, then in all others that may have a share in it."""
    n, best, upper = rows.shape[0], work.lanes[BEST], work.lanes[UPPER]
    _load(rows, first, columns, winners, work)
    for turn in range(2):
        for k in range(work.count.size):
            before = work.count[k] if turn > 0 else 0
            if turn > 0:
                _bound(n, k, codes, scores, work)
            at = before
            for i in range(n):
                mine = work.was[i] == k
                if mine if turn == 0 else (not mine and upper[i] >= best[i] - NEGLIGIBLE):
                    _complete(rows, i, k, at, first, columns, codes, scores, work)
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


@lanes_inner
def _load(rows, first, columns, winners, work):  # type: ignore[no-untyped-def]
    """Store rows column by column, zero where cells are missing, and who won them."""
    n, p = rows.shape
    for i in range(n):
        work.was[i], work.size[i] = winners[i], p - (first[i + 1] - first[i])
        for j in range(p):
            work.held[j, i] = rows[i, j]
            work.here[j, i] = 1.0
        for at in range(first[i], first[i + 1]):
            work.held[columns[at], i] = 0.0
            work.here[columns[at], i] = 0.0


@lanes_inner
def _bound(n, k, codes, scores, work):  # type: ignore[no-untyped-def]
    """Store what the scores of rows in component k are at the most, (5.28) and (5.29)."""
    lanes, p = work.lanes, scores.centre.shape[1]
    distance, alone, shift, constant, power = lanes[DISTANCE], lanes[ALONE], lanes[SHIFT], lanes[CONSTANT], lanes[POWER]
    padded = (n + VECTOR - 1) & -VECTOR
    for lane in range(padded):
        distance[lane] = 0.0
        alone[lane] = 0.0
        shift[lane] = 0.0
    for j in range(p):
        centre, beside, least = scores.centre[k, j], scores.beside[k, j], scores.alone[k, j]
        missed, held, here = scores.missed[k, j], work.held[j], work.here[j]
        for lane in range(padded):
            step = (held[lane] - centre) * here[lane]
            square = step * step
            distance[lane] += beside * square
            only = least * square
            alone[lane] = only if only > alone[lane] else alone[lane]
            shift[lane] += missed * (1.0 - here[lane])

    hidden = scores.hidden[k]
    for lane in range(padded):
        distance[lane] = (distance[lane] if distance[lane] > alone[lane] else alone[lane]) - hidden
    for i in range(n):
        constant[i] = scores.constant[k, work.size[i]] + shift[i] + _of_levels(scores.levels, k, codes, i)
        power[i] = scores.power[k, work.size[i]]
    _at_distances(scores.kind[k], scores.tail[k], constant, power, lanes[UPPER], lanes[PULL], lanes, work.bits, padded)


@lanes_inner
def _complete(rows, i, k, lane, first, columns, codes, scores, work):  # type: ignore[no-untyped-def]
    """Store the deviations of a row from component k, with what it expects in the missing cells, and its constants."""
    own, right, lower, begin, m = work.own, work.right, work.lower, first[i], first[i + 1] - first[i]
    p, deviation = own.size, work.deviation[k]
    for j in range(p):
        own[j] = rows[i, j] - scores.centre[k, j]
    loss, log_determinant = 0.0, 0.0
    if m > 0:
        for a in range(m):
            own[columns[begin + a]] = 0.0
        log_determinant = decompose(scores.precision, k, columns, begin, m, lower)
        if scores.hidden[k] > 0.0:
            invert_lower(lower, m, work.inverse)
            loss = hidden_loss(scores.around, k, columns, begin, m, work.inverse)
        # (5.21)  e_m = -P_mm^-1 P_mo e_o
        for a in range(m):
            line, pull = scores.precision[k, columns[begin + a]], 0.0
            for j in range(p):
                pull -= line[j] * own[j]
            right[a] = pull
        forward(lower, m, right)
        backward(lower, m, right)
        for a in range(m):
            own[columns[begin + a]] = right[a]
    for j in range(p):
        deviation[j, lane] = own[j]
    work.member[k, lane], work.power[k, lane], work.loss[k, lane] = i, scores.power[k, p - m], loss
    # (5.22)  + p_m / 2 log 2 pi - 1/2 log|P_mm|
    constant = scores.constant[k, p - m] + 0.5 * (m * _LOG_2_PI - log_determinant)
    work.constant[k, lane] = constant + _of_levels(scores.levels, k, codes, i)


@lanes_inner
def _score(k, scores, work):  # type: ignore[no-untyped-def]
    """Score the rows of component k by the squares of their completed deviations."""
    lanes, p = work.lanes, scores.centre.shape[1]
    distance, padded = lanes[DISTANCE], (work.count[k] + VECTOR - 1) & -VECTOR
    for lane in range(padded):
        distance[lane] = 0.0
    for j in range(work.sums.size):
        work.sums[j] = 0.0
    add_squares(scores.root[k], work.sums, work.deviation[k], lanes[FIRST], lanes[SECOND], distance, 0, p, padded)
    loss = work.loss[k]
    for lane in range(padded):
        distance[lane] -= loss[lane]
    constant, power = work.constant[k], work.power[k]
    _at_distances(
        scores.kind[k], scores.tail[k], constant, power, work.score[k], work.pull[k], lanes, work.bits, padded
    )


@lanes_inner
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


@lanes_inner
def _of_levels(levels, k, codes, i):  # type: ignore[no-untyped-def]
    """Return what the levels of a row add to its score in component k: (5.26), summed over columns."""
    total = 0.0
    for j in range(codes.shape[1]):
        total += levels[k, codes[i, j]]
    return total


@lanes_jit
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


@lanes_jit
def _add_all(first, columns, codes, scores, statistics, weighted, work):  # type: ignore[no-untyped-def]
    """Add the statistics of rows to those of the components that have a share in them."""
    counts, weights, sums, squares, seen = statistics
    added, square, p = work.sums, work.square, scores.centre.shape[1]
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
        products(weight, work.deviation[k], work.lanes[FIRST], work.lanes[SECOND], added, square, p, padded)
        for i in range(p):
            sums[k, i] += added[i]
            for j in range(i + 1):
                squares[k, i, j] += square[i, j]

        for lane in range(count):
            if share[lane] > 0.0:
                i = work.member[k, lane]
                for j in range(codes.shape[1]):
                    seen[k, codes[i, j]] += share[lane]
                if first[i + 1] > first[i]:
                    _add_spread(
                        k,
                        share[lane],
                        weight[lane],
                        first[i],
                        first[i + 1],
                        columns,
                        scores,
                        squares[k],
                        weighted[k],
                        work,
                    )


@lanes_inner
def _add_spread(k, share, weight, begin, end, columns, scores, squares, weighted, work):  # type: ignore[no-untyped-def]
    """Add what is not known of the missing cells of a row, (5.24), and its part of (5.25)."""
    m, inverse = end - begin, work.inverse
    decompose(scores.precision, k, columns, begin, m, work.lower)
    invert_lower(work.lower, m, inverse)
    # (5.24)  C = P_mm^-1: tau cancels
    for a in range(m):
        for b in range(a + 1):
            squares[columns[begin + a], columns[begin + b]] += share * inverse[a, b]
    if scores.hidden[k] > 0.0:
        for a in range(m):
            for b in range(a + 1):
                weighted[columns[begin + a], columns[begin + b]] += weight * inverse[a, b]
        add_hidden(scores.around, k, columns, begin, m, inverse, weight, squares, work.right)
