"""What the sweep over rows with missing cells works with: scores, bounds of them, and memory."""

import math
from collections import namedtuple

import numpy as np

from vbrand.compiling import jit
from vbrand.inference.sweeps import VECTOR, filled_roots, filled_up
from vbrand.model.kernels import narrowed
from vbrand.model.posterior import RowScores
from vbrand.types import FloatArray

# centre (K, p), root and precision P (K, p, p), filled up with zeros; around, P D P; kind, tail (K,); for rows of so
# many columns, (K, p + 1): constant, what it is at the most with missing cells, and power; noise (p,) and what it hides
# of any row at the most (K,); levels (K, L + 1), what categories add; (K, p) each, filled up: weight and load of each
# column in the bound of a distance
GapScores = namedtuple(
    "GapScores",
    "centre root precision around kind tail constant most power noise hidden levels weight load",
)
# of rows that are worked on together: held (p, rows); was, the component that won each; first and columns, the missing
# cells; pattern, the same number for neighbours that miss the same ones; deviation (K, p, rows) of the rows of each
# component, which are its members, count of them; and (K, rows) of those: score, pull, constant, power and loss; lanes:
# see below; and room
GapWork = namedtuple(
    "GapWork",
    "held was first columns pattern deviation weighted member count score pull constant power loss "
    "lanes bits own right sums lower inverse square",
)
# what the rows of `lanes` hold; bits is the last one as integers
BEST, TOTAL, FIRST, SECOND, DISTANCE, ALONG, LOAD, UPPER, CONSTANT, POWER, PULL, VALUE = range(12)
_LOG_2_PI = math.log(2.0 * math.pi)
# turns in which the longest axis of a scatter is found, well enough; share of a column that rounding may take; and nats
# that a cell may add of which nothing is known
_TURNS = 8
_DIGITS = 1e-10
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
    weight, load, missed = bounds(scores.root)
    noise = np.zeros(p) if scores.noise is None else scores.noise
    return GapScores(
        centre=_filled(scores.centre),
        root=filled_roots(scores.root),
        precision=_filled(precision),
        around=precision * noise @ precision,
        kind=scores.kind,
        tail=scores.tail,
        constant=constant,
        most=constant + missed,
        power=power,
        noise=noise,
        hidden=np.diagonal(precision, axis1=1, axis2=2) @ noise,
        levels=np.zeros((count, 1)) if scores.levels is None else scores.levels,
        weight=_filled(weight),
        load=_filled(load),
    )


def bounds(root: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what bounds the scores of components with these roots: weight and load of columns, (K, p) each.

    The last is what missing cells add to a score at the most, for rows of 0, 1, .., p columns, (K, p + 1).
    """
    count, p, _ = root.shape
    scatter = np.empty(root.shape)
    _scatters(np.ascontiguousarray(root), np.empty((p, p)), scatter)
    variance = np.diagonal(scatter, axis1=1, axis2=2)
    sound = np.asarray(np.isfinite(scatter).all(axis=(1, 2)) & (variance > 0.0).all(axis=1))
    size = np.sqrt(np.where(sound[:, None], variance, 1.0))
    alike = np.where(sound[:, None, None], scatter, np.eye(p)) / size[:, :, None] / size[:, None, :]

    axis = alike[np.arange(count), np.square(alike).sum(axis=2).argmax(axis=1)]  # (K, p), on its way to the longest
    for _ in range(_TURNS):
        axis = (alike @ axis[:, :, None])[:, :, 0]
        length = np.linalg.norm(axis, axis=1, keepdims=True)
        axis /= length
    # (5.28)  a = (length - mean of the others)^1/2 axis,  r = sum_j |S - a a'|_ij:  S is at most diag(r) + a a'
    load = axis * np.sqrt(np.maximum(length - (p - length) / max(p - 1, 1), 0.0)) * (p > 1)
    rest = np.abs(alike - load[:, :, None] * load[:, None, :]).sum(axis=2)
    weight = 1.0 / (np.maximum(rest, _DIGITS) * size * size)
    # (5.29)  -1/2 log|P_mm| <= 1/2 sum_m log S_jj, at most that of the p_m largest
    missed = -np.sort(-np.log(size) - 0.5 * _LOG_2_PI, axis=1).cumsum(axis=1)
    missed = np.pad(missed[:, ::-1], ((0, 0), (0, 1)))
    return np.where(sound[:, None], weight, 0.0), load * size, np.where(sound[:, None], missed, _ANY)


def _filled(values: FloatArray) -> FloatArray:
    """Return numbers per column, (K, .., p), with zeros behind them."""
    none = [(0, 0)] * (values.ndim - 1)
    return np.pad(values, [*none, (0, filled_up(values.shape[-1]) - values.shape[-1])])


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
        weighted=np.zeros((4, room)),
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
def _scatters(root, inverse, scatter):  # type: ignore[no-untyped-def]
    """Store S = P^-1 = R^-1 R'^-1 of each component, with R^-1 of the last one beside them."""
    count, p, _ = root.shape
    for k in range(count):
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
                scatter[k, i, j] = scatter[k, j, i] = total
