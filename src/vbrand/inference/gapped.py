"""What the sweep over rows with missing cells works with: scores, bounds of them, and memory."""

import math
from collections import namedtuple

import numpy as np

from vbrand.compiling import inner, jit
from vbrand.inference.sweeps import VECTOR, filled_roots, filled_up
from vbrand.model.kernels import narrowed
from vbrand.model.posterior import RowScores

# centre (K, p), root and precision P (K, p, p), filled up with zeros; around, P D P; kind, tail (K,); for rows of so
# many columns, (K, p + 1): constant, what it is at the most with missing cells, and power; noise (p,) and what it hides
# of any row at the most (K,); levels (K, L + 1), what categories add; (K, p) each, filled up: what a square adds to a
# distance at least, beside others and alone
GapScores = namedtuple(
    "GapScores",
    "centre root precision around kind tail constant most power noise hidden levels beside alone",
)
# of rows that are worked on together: held (p, rows); was, the component that won each; first and columns, the missing
# cells; pattern, the same number for neighbours that miss the same ones; deviation (K, p, rows) of the rows of each
# component, which are its members, count of them; and (K, rows) of those: score, pull, constant, power and loss; lanes:
# see below; and room
GapWork = namedtuple(
    "GapWork",
    "held was first columns pattern deviation member count score pull constant power loss "
    "lanes bits own right sums lower inverse square",
)
# what the rows of `lanes` hold; bits is the last one as integers
BEST, TOTAL, FIRST, SECOND, DISTANCE, ALONE, UPPER, CONSTANT, POWER, PULL, VALUE = range(11)
_LOG_2_PI = math.log(2.0 * math.pi)
# nats that a cell may add of which nothing is known
_ANY = 1e300
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
    most, (beside, alone) = constant.copy(), np.zeros((2, count, filled_up(p)))
    _bound_each(scores.root, beside, alone, most, *np.empty((2, p, p)))
    noise = np.zeros(p) if scores.noise is None else scores.noise
    return GapScores(
        centre=np.pad(scores.centre, ((0, 0), (0, filled_up(p) - p))),
        root=filled_roots(scores.root),
        precision=np.pad(precision, ((0, 0), (0, 0), (0, filled_up(p) - p))),
        around=precision * noise @ precision,
        kind=scores.kind,
        tail=scores.tail,
        constant=constant,
        most=most,
        power=power,
        noise=noise,
        hidden=np.diagonal(precision, axis1=1, axis2=2) @ noise,
        levels=np.zeros((count, 1)) if scores.levels is None else scores.levels,
        beside=beside,
        alone=alone,
    )


def gap_work(components: int, p: int) -> GapWork:
    """Return memory for rows that are worked on together."""
    side = filled_up(p)
    rows = max(VECTOR, min(_AT_ONCE, _NUMBERS // (components * side)) // VECTOR * VECTOR)
    room = rows + VECTOR  # no power of two, so that the places of columns in the cache differ
    lanes = np.zeros((VALUE + 1, room))
    return GapWork(
        held=np.zeros((side, room)),
        was=np.zeros(rows, np.int64),
        first=np.zeros(rows + 1, np.int64),
        columns=np.zeros(rows * p + 1, np.int64),
        pattern=np.zeros(rows, np.int64),
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
        own=np.zeros(side),
        right=np.zeros(side),
        sums=np.zeros(side),
        lower=np.zeros((p, p)),
        inverse=np.zeros((p, p)),
        square=np.zeros((side, side)),
    )


@jit
def _narrow(kind, constant, tail, power, constants, powers):  # type: ignore[no-untyped-def]
    """Store constant and power for rows of 0, 1, .., p columns."""
    p = constants.shape[1] - 1
    for k in range(kind.size):
        for q in range(p + 1):
            constants[k, q], _, powers[k, q] = narrowed(kind[k], constant[k], tail[k], power[k], p, q)


@jit
def _bound_each(root, beside, alone, most, inverse, scatter):  # type: ignore[no-untyped-def]
    """Store what squares add to a distance at least, and add to constants what missing cells do at the most.

    Two squares are room.
    """
    count, p, _ = root.shape
    for k in range(count):
        _invert_root(root[k], inverse, scatter)
        missed = inverse[0]
        for i in range(p):
            size, total = math.sqrt(scatter[i, i]), 0.0
            for j in range(p):
                total += abs(scatter[i, j]) / math.sqrt(scatter[j, j])
            # (5.28)  D^o >= max(sum_o e_i^2 / r_i, max_o e_i^2 / S_ii),   r_i = S_ii^1/2 sum_j |S_ij| / S_jj^1/2
            beside[k, i], alone[k, i] = 1.0 / (size * total), 1.0 / scatter[i, i]
            missed[i] = math.log(size) + 0.5 * _LOG_2_PI
            if not (beside[k, i] < math.inf and 0.0 < alone[k, i] < math.inf):
                beside[k, i], alone[k, i], missed[i] = 0.0, 0.0, _ANY  # nothing is known
        # (5.29)  -1/2 log|P_mm| <= 1/2 sum_m log S_jj, at most that of the p_m largest
        total = 0.0
        for m in range(1, p + 1):
            largest = 0
            for j in range(p):
                largest = j if missed[j] > missed[largest] else largest
            total += missed[largest]
            missed[largest] = -math.inf
            most[k, p - m] += total


@inner
def _invert_root(root, inverse, scatter):  # type: ignore[no-untyped-def]
    """Store R^-1 of a lower triangle R, and S = P^-1 = R^-1 R'^-1."""
    p = root.shape[0]
    for i in range(p):
        for j in range(i + 1):
            rest = 1.0 if i == j else 0.0
            for c in range(j, i):
                rest -= root[i, c] * inverse[c, j]
            inverse[i, j] = rest / root[i, i]
    for i in range(p):
        for j in range(i + 1):
            total = 0.0
            for c in range(j + 1):
                total += inverse[i, c] * inverse[j, c]
            scatter[i, j] = scatter[j, i] = total
