"""Classes as one Gaussian hump, or as two, column by column: how likely that makes their values, on any scale.

Values are sorted within classes, and the outermost ones left out: only that they lie beyond the others counts.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr

from vbrand.samples import every_kth
from vbrand.stage1.tuning import Stage1Tuning
from vbrand.types import BoolArray, FloatArray, IntArray

# turns of a fit of one hump, or of two, and of one of the two within each; where two are cut at first; a share that is
# nearly none
_TURNS, _INNER_TURNS = 12, 2
_CUTS = np.array([0.15, 0.5, 0.85])
_SLIGHT = 0.02
_TINY = 1e-12
# of a hump: the low side and the high one
_SIDES = np.array([-1.0, 1.0])[:, None, None]
_PARTS = ("values", "half", "weight", "place", "telling")


@dataclass(frozen=True)
class Sorted:
    """Values of each column, sorted within classes, one class after the other.

    The outermost ones of a class are two rows, its first and its last: only that they lie beyond the others counts.
    """

    values: FloatArray  # (n, p) in units of the column's range
    half: FloatArray  # (n, p) half the width of the cell that a value may have been rounded from
    weight: FloatArray  # (n, p) how many values a row stands for: 1, or 0 for missing ones; of the outermost ones more
    place: FloatArray  # (n, p) the share of the values of the class that are smaller
    telling: FloatArray  # (n, p) 1 for values that tell how fine the scale is where they are, else 0
    start: IntArray  # (J,) where each class begins

    @cached_property
    def member(self) -> IntArray:
        """Return the class of each row, (n,)."""
        return np.repeat(np.arange(self.start.size), np.diff(np.append(self.start, self.values.shape[0])))

    @cached_property
    def last(self) -> IntArray:
        """Return where each class ends, (J,)."""
        return np.append(self.start[1:], self.values.shape[0]) - 1

    @cached_property
    def exact(self) -> FloatArray:
        """Return the number of values of each class that are not outermost, (J, p)."""
        return self.count - self.weight[self.start] - self.weight[self.last]

    @cached_property
    def told(self) -> FloatArray:
        """Return how many of them tell how fine the scale is, (J, p)."""
        return np.asarray(np.add.reduceat(self.telling, self.start, axis=0))

    @cached_property
    def asked(self) -> BoolArray:
        """Return the classes that have a say, (J, p): most of their values tell."""
        return np.asarray(2.0 * self.told > self.exact)

    @cached_property
    def count(self) -> FloatArray:
        """Return the number of values of each class, (J, p)."""
        return np.maximum(self.total(np.ones_like(self.values)), 1.0)

    @cached_property
    def edges(self) -> IntArray:
        """Return the rows that are outermost values, (2, J): low ones and high ones."""
        return np.stack([self.start, self.last])

    def total(self, terms: FloatArray) -> FloatArray:
        """Return sums over the values of each class, (..., J, p)."""
        return self.sum(terms * self.weight)

    def sum(self, terms: FloatArray) -> FloatArray:
        """Return sums over the rows of each class, (..., J, p)."""
        return np.asarray(np.add.reduceat(terms, self.start, axis=-2))

    def of_columns(self, chosen: IntArray) -> "Sorted":
        """Return some of the columns."""
        return replace(self, **{part: getattr(self, part)[:, chosen] for part in _PARTS})


@dataclass(frozen=True)
class Scale:
    """Values on some scale, bent or not, or on several."""

    values: FloatArray  # (..., n, p)
    noise: FloatArray  # (..., n, p) variance of what rounding hides
    log_slope: FloatArray  # (..., J, p) summed over the values of each class


@dataclass(frozen=True)
class _Centred:
    """Values about the means of their classes."""

    away: FloatArray  # (..., n, p)
    square: FloatArray  # (..., n, p) with what rounding hides
    ends: FloatArray  # (..., 2, J, p) where the outermost values begin
    spread: FloatArray  # (..., J, p) variance of each class


@dataclass(frozen=True)
class _Sums:
    """All that a hump asks of the values that are its share: sums over each class, (..., J, p)."""

    mass: FloatArray  # of all values
    at_ends: FloatArray  # (..., 2, J, p) of the outermost ones
    inner: FloatArray  # of the others
    first: FloatArray  # of these, away from the mean of the class
    second: FloatArray  # of their squares

    def about(self, centre: FloatArray) -> FloatArray:
        """Return the sums of squares about a centre of the values that are not outermost."""
        return np.asarray(self.second - 2.0 * centre * self.first + np.square(centre) * self.inner)


def sorted_values(values: FloatArray, step: FloatArray, member: IntArray, tuning: Stage1Tuning) -> Sorted:
    """Return the values of all classes in order, of large ones an even sample."""
    half = np.where(step > 0.0, 0.5 * step, _half_gaps(values))
    parts = [_of_class(values[member == j], half[member == j], tuning) for j in range(int(member.max()) + 1)]
    start = np.cumsum([0, *(part[0].shape[0] for part in parts[:-1])])
    together = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Sorted(**dict(zip(_PARTS, together, strict=True)), start=start)


def _of_class(values: FloatArray, half: FloatArray, tuning: Stage1Tuning) -> tuple[FloatArray, ...]:
    """Return values of a class in order, their cells, their weights and places."""
    order = np.argsort(values, axis=0, kind="stable")  # missing cells come last
    values, half = (np.take_along_axis(part, order, axis=0) for part in (values, half))
    values, half = (part[every_kth(part.shape[0], tuning.rows_for_skew)] for part in (values, half))
    cells = (~np.isnan(values)).sum(axis=0)
    cut = np.minimum(np.ceil(tuning.outermost * cells).astype(int), (cells - 1) // 2).clip(0)
    rank = np.arange(values.shape[0])[:, None]
    inside = (rank >= cut) & (rank < cells - cut)
    often = np.stack([_times(column) for column in values.T], axis=1) > np.maximum(tuning.atom * cells, 1.0)
    place = (rank + 0.5) / np.maximum(cells, 1)
    ends = [np.take_along_axis(values, at[None], axis=0) for at in (cut, np.maximum(cells - 1 - cut, 0))]
    none, most = np.zeros((1, cells.size)), 1.0 * cut[None]
    return (
        np.nan_to_num(np.concatenate([ends[0], values, ends[1]])),
        np.concatenate([none, half, none]),
        np.concatenate([most, 1.0 * inside, most]),
        np.concatenate([none, place, none + 1.0]),
        np.concatenate([none, 1.0 * (inside & ~often), none]),
    )


def _times(column: FloatArray) -> IntArray:
    """Return how many values of a column are equal to each."""
    _, level, times = np.unique(column, return_inverse=True, return_counts=True)
    return np.asarray(times[level])


def _half_gaps(values: FloatArray) -> FloatArray:
    """Return half the gap to the nearest other value of the column where several rows share a value, else 0."""
    half = np.zeros_like(values)
    for j, column in enumerate(values.T):
        levels, level, times = np.unique(column, return_inverse=True, return_counts=True)
        if (times > 1).any() and levels.size > 1:
            gaps = np.diff(levels)
            near = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps))
            half[:, j] = np.where(times > 1, 0.5 * near, 0.0)[level]
    return np.nan_to_num(half)


def straight(known: Sorted) -> Scale:
    """Return the values as they are."""
    return Scale(known.values, np.square(known.half) / 3.0, np.zeros(known.count.shape))


def one_hump(known: Sorted, scale: Scale) -> FloatArray:
    """Return the evidence of one Gaussian hump per class, (..., J, p)."""
    centred = _centred(known, scale)
    sums = _sums(known, centred, known.weight)
    centre, variance = _settled(centred, sums, _TURNS)
    outer = (sums.at_ends * _log_beyond(centred, centre, variance)).sum(axis=-3)
    inner = sums.about(centre) / variance + sums.inner * np.log(2.0 * np.pi * variance)
    # (3.35)  log likelihood - k / 2 log n, with k = 2 parameters of one hump and 5 of two
    return np.asarray(outer - 0.5 * inner - np.log(known.count))


def humps(known: Sorted, scale: Scale) -> FloatArray:
    """Return the evidence of one or two humps per class, whichever is larger, (..., J, p)."""
    several = (..., None, None, slice(None), slice(None))  # cuts and humps
    centred = _centred(known, Scale(scale.values[several], scale.noise[several], scale.log_slope))
    lower = np.where(known.place > _CUTS[:, None, None], 1.0 - _SLIGHT, _SLIGHT)  # (cuts, n, p)
    share = np.stack([lower, 1.0 - lower], axis=-3)
    score = _joint(known, centred, share)  # (..., cuts, 2, n, p)
    for _ in range(_TURNS - 1):
        lower = np.clip(1.0 / (1.0 + np.exp(score[..., 1, :, :] - score[..., 0, :, :])), _TINY, 1.0 - _TINY)
        score = _joint(known, centred, np.stack([lower, 1.0 - lower], axis=-3))
    both = np.logaddexp(score[..., 0, :, :], score[..., 1, :, :])
    two = known.total(both).max(axis=-3) - 2.5 * np.log(known.count)
    return np.asarray(np.maximum(one_hump(known, scale), two))


def _joint(known: Sorted, centred: _Centred, share: FloatArray) -> FloatArray:
    """Return the log density of values jointly with humps that have such shares of them, (..., n, p)."""
    sums, member = _sums(known, centred, share * known.weight), known.member
    centre, variance = _settled(centred, sums, _INNER_TURNS)
    # -1/2 ((x - m)^2 + noise) / s^2 - 1/2 log 2 pi s^2 + log share of the hump, as a x^2 + b x + c
    square = -0.5 / variance
    constant = np.log(np.maximum(sums.mass, _TINY) / known.count)
    level = square * np.square(centre) - 0.5 * np.log(2.0 * np.pi * variance) + constant
    score = centred.square * square[..., member, :]
    score += centred.away * (-2.0 * square * centre)[..., member, :]
    score += level[..., member, :]
    score[..., known.edges, :] = _log_beyond(centred, centre, variance) + constant[..., None, :, :]
    return score


def _centred(known: Sorted, scale: Scale) -> _Centred:
    middle = known.total(scale.values) / known.count
    away = scale.values - middle[..., known.member, :]
    square = np.square(away) + scale.noise
    return _Centred(away, square, away[..., known.edges, :], known.total(square) / known.count + _TINY)


def _sums(known: Sorted, centred: _Centred, weight: FloatArray) -> _Sums:
    """Return the sums of values that weigh so much, (..., n, p)."""
    between = weight.copy()
    between[..., known.edges, :] = 0.0
    at_ends, inner = weight[..., known.edges, :], known.sum(between)
    first, second = known.sum(between * centred.away), known.sum(between * centred.square)
    return _Sums(inner + at_ends.sum(axis=-3), at_ends, inner, first, second)


def _settled(centred: _Centred, sums: _Sums, turns: int) -> tuple[FloatArray, FloatArray]:
    """Return centre and variance of a hump after some turns of expectation and maximisation, (..., J, p)."""
    mass = np.maximum(sums.mass, _TINY)
    centre = (sums.first + (sums.at_ends * centred.ends).sum(axis=-3)) / mass
    variance = centred.spread
    for _ in range(turns):
        expected, square = _beyond(centred.ends, centre, variance)
        moved = (sums.first + (sums.at_ends * expected).sum(axis=-3)) / mass
        total = sums.about(centre) + (sums.at_ends * square).sum(axis=-3) - sums.mass * np.square(moved - centre)
        # one value more, as far out as the others of the class: no hump is thinner than rows can tell
        centre, variance = moved, (np.maximum(total, 0.0) + centred.spread) / (sums.mass + 1.0)
    return centre, variance


def _beyond(ends: FloatArray, centre: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what values beyond the ends, (..., 2, J, p), are expected to be, and their squares about a centre."""
    size, side = np.sqrt(variance)[..., None, :, :], _SIDES
    deviation = (ends - centre[..., None, :, :]) / size
    # (3.36)  E[x | x beyond] = m +- s r,  E[(x - m)^2 | x beyond] = s^2 (1 +- d r),  r = phi(d) / Phi(+-d)
    ratio = side * np.exp(-0.5 * np.square(deviation) - 0.5 * np.log(2.0 * np.pi) - log_ndtr(-side * deviation))
    return centre[..., None, :, :] + size * ratio, np.square(size) * (1.0 + deviation * ratio)


def _log_beyond(centred: _Centred, centre: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the log probability that a value is beyond each end, (..., 2, J, p)."""
    deviation = (centred.ends - centre[..., None, :, :]) / np.sqrt(variance)[..., None, :, :]
    return np.asarray(log_ndtr(-_SIDES * deviation))
