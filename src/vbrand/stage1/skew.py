"""Columns whose classes are skewed within, and the bent scale on which they are not: the evidence chooses.

Classes are taken column by column. Their values are sorted and the outermost ones left out: a monotone map keeps the
order, so that whatever it does to outliers it can't gain by them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from scipy.special import log_ndtr, logsumexp

from vbrand.robust.rounding import rounding_steps
from vbrand.samples import every_kth
from vbrand.stage1.jointly import bent_together
from vbrand.stage1.tuning import TUNED, Stage1Tuning
from vbrand.stage1.warp import Warp
from vbrand.types import BoolArray, FloatArray, IntArray

# the three ways to bend a scale: its low end is stretched, its high end, or both
_WAYS = ((True, False), (False, True), (True, True))
# turns of a fit of one hump, or of two; where two are cut at first; a share that is nearly none
_TURNS = 12
_CUTS = (0.15, 0.5, 0.85)
_SLIGHT = 0.02
# steps between points of the grid
_FINER = (0.5, 0.25, 0.125)
# of the range of a column: half the width of the cell of a sharp value
_SHARP = 1e-6
_TINY = 1e-12
_PARTS = ("values", "half", "weight", "place", "telling")


@dataclass(frozen=True)
class _Sorted:
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

    def total(self, terms: FloatArray) -> FloatArray:
        """Return sums over the values of each class, (J, p)."""
        return np.asarray(np.add.reduceat(terms * self.weight, self.start, axis=0))

    def of_columns(self, chosen: BoolArray) -> "_Sorted":
        """Return some of the columns."""
        return replace(self, **{part: getattr(self, part)[:, chosen] for part in _PARTS})


@dataclass(frozen=True)
class _Scale:
    """Values on some scale, bent or not."""

    values: FloatArray  # (n, p)
    noise: FloatArray  # (n, p) variance of what rounding hides
    log_slope: FloatArray  # (J, p) summed over the values of each class


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what is no number wins nothing
def learn_warp(rows: FloatArray, member: IntArray, tuning: Stage1Tuning = TUNED) -> Warp | None:
    """Return the maps of columns whose classes are skewed within, given labelled rows; None if there are none.

    Nor are there any of more columns than rows: so few can't tell how columns go together.
    """
    if rows.shape[1] >= rows.shape[0]:
        return None
    low, high = _ends(rows, member, tuning)
    steps = rounding_steps(rows)
    known = _sorted((rows - low) / (high - low), steps / (high - low), member, tuning)
    best = _best_of_each_way(known, tuning)
    gain = best.evidence - best.price - _evidence(known, _straight(known), _one_hump)  # (3, p)
    hopeful = np.asarray((gain > 0.0).any(axis=0))
    chosen = np.full(low.size, -1)
    if hopeful.any():
        chosen[hopeful] = _chosen(known.of_columns(hopeful), best.of_columns(hopeful), gain[:, hopeful])
    if (chosen < 0).all():
        return None

    bends = best.bends[:, np.maximum(chosen, 0), np.arange(low.size)]  # (3, p)
    bends[:, chosen >= 0] = _refined(known.of_columns(chosen >= 0), bends[:, chosen >= 0])
    reach, high_reach, power = bends
    reach, high_reach = np.where(chosen >= 0, (reach, high_reach), np.inf) * (high - low)
    return bent_together(rows, member, Warp(low, reach, high, high_reach, power, steps), tuning)


def _ends(rows: FloatArray, member: IntArray, tuning: Stage1Tuning) -> tuple[FloatArray, FloatArray]:
    """Return where columns end, (p,): beyond lie outermost values of classes alone."""
    ends = list[tuple[FloatArray, FloatArray]]()
    for j in range(int(member.max()) + 1):
        ordered = np.sort(rows[member == j], axis=0)  # missing cells come last
        cells = (~np.isnan(ordered)).sum(axis=0)
        cut = np.ceil(tuning.outermost * cells).astype(int)
        at = [np.clip(place, 0, ordered.shape[0] - 1)[None] for place in (cut - 1, cells - cut)]
        ends.append(tuple(np.take_along_axis(ordered, place, axis=0)[0] for place in at))
    low, high = np.nanmin([one for one, _ in ends], axis=0), np.nanmax([one for _, one in ends], axis=0)
    wide = high > low
    return np.where(wide, low, np.nanmin(rows, axis=0)), np.where(wide, high, np.nanmax(rows, axis=0))


@dataclass(frozen=True)
class _Best:
    """The best map of each way to bend each column."""

    bends: FloatArray  # (3, 3, p) reach of the low end, of the high end, and power
    evidence: FloatArray  # (3, p) with one hump per class
    price: FloatArray  # (3, p) what it must be worth

    def of_columns(self, chosen: BoolArray) -> "_Best":
        """Return those of some columns."""
        return _Best(self.bends[:, :, chosen], self.evidence[:, chosen], self.price[:, chosen])


def _sorted(values: FloatArray, step: FloatArray, member: IntArray, tuning: Stage1Tuning) -> _Sorted:
    """Return the values of all classes in order, of large ones an even sample."""
    half = np.where(step > 0.0, 0.5 * step, _half_gaps(values))
    parts = [_of_class(values[member == j], half[member == j], tuning) for j in range(int(member.max()) + 1)]
    start = np.cumsum([0, *(part[0].shape[0] for part in parts[:-1])])
    together = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _Sorted(**dict(zip(_PARTS, together, strict=True)), start=start)


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


def _best_of_each_way(known: _Sorted, tuning: Stage1Tuning) -> _Best:
    """Return the best map of each way to bend a scale, out of a grid."""
    p = known.values.shape[1]
    found = np.empty((3, 3, p)), np.empty((3, p)), np.empty((3, p))
    values = np.log(np.maximum((known.asked * known.count).sum(axis=0), 1.0))
    for way, (low, high) in enumerate(_WAYS):
        some = tuning.reaches[:: 1 + (low and high)]
        ends = (some if stretched else (np.inf,) for stretched in (low, high))
        grid = np.array(list(product(*ends, tuning.powers)))  # (g, 3)
        scores = np.stack([_evidence(known, _bent(known, np.full((p, 3), each).T), _one_hump) for each in grid])
        found[0][:, way] = grid[scores.argmax(axis=0)].T
        found[1][way] = scores.max(axis=0)
        # (3.37)  k / 2 log n, k of the two reaches being finite, and log max - log mean over three grids
        luck = scores.max(axis=0) - logsumexp(scores, axis=0) + np.log(3.0 * len(grid))
        found[2][way] = 0.5 * (low + high) * values + luck
    return _Best(*found)


def _refined(known: _Sorted, bends: FloatArray) -> FloatArray:
    """Return reaches and powers, (3, p), that are better still: a grid is coarse."""
    best = _evidence(known, _bent(known, bends), _one_hump)
    for size, row, sign in product(_FINER, range(3), (-1.0, 1.0)):
        moved = bends.copy()
        # half the way to the next point of the grid, then a quarter, then an eighth
        moved[row] = np.maximum(bends[2] + sign * size / 3.0, 0.0) if row == 2 else bends[row] * 4.0 ** (sign * size)
        score = _evidence(known, _bent(known, moved), _one_hump)
        bends, best = np.where(score > best, moved, bends), np.maximum(score, best)
    return bends


def _chosen(known: _Sorted, best: _Best, gain: FloatArray) -> IntArray:
    """Return which way each column is bent, -1 for none, where classes may have two humps each."""
    without = _evidence(known, _straight(known), _humps)
    ways = [_evidence(known, _bent(known, best.bends[:, way]), _humps) for way in range(3)]
    gain = np.minimum(np.stack(ways) - best.price - without, gain)
    return np.where(gain.max(axis=0) > 0.0, gain.argmax(axis=0), -1)


def _bent(known: _Sorted, bends: FloatArray) -> _Scale:
    """Return the values on a bent scale, given the reaches of both ends and the power, (3, p)."""
    none, one = np.zeros(bends.shape[1]), np.ones(bends.shape[1])
    warp = Warp(none, bends[0], one, bends[1], bends[2], none)
    # a value stands for its cell, whose width is bent with the scale; of a sharp value that of a thin one
    half = np.maximum(known.half, _SHARP)
    width = np.maximum(warp.inward(known.values + half) - warp.inward(known.values - half), _TINY)
    # a value that many rows share does not tell how fine the scale is there: it counts as the others do on average
    log_slope = np.add.reduceat(known.telling * np.log(width / (2.0 * half)), known.start, axis=0)
    log_slope *= known.exact / np.maximum(known.told, 1.0)
    return _Scale(warp.inward(known.values), np.square(known.half * width / half) / 12.0, log_slope)


def _straight(known: _Sorted) -> _Scale:
    """Return the values as they are."""
    return _Scale(known.values, np.square(known.half) / 3.0, np.zeros(known.count.shape))


def _evidence(known: _Sorted, scale: _Scale, of_classes: Callable[[_Sorted, _Scale], FloatArray]) -> FloatArray:
    """Return the evidence of a scale, over the classes that have a say, (p,)."""
    return np.asarray((known.asked * (of_classes(known, scale) + scale.log_slope)).sum(axis=0))


def _one_hump(known: _Sorted, scale: _Scale) -> FloatArray:
    """Return the evidence of one Gaussian hump per class, (J, p)."""
    # (3.35)  log likelihood - k / 2 log n, with k = 2 parameters of one hump and 5 of two
    return known.total(_hump(known, scale, np.ones_like(scale.values), _TURNS)) - np.log(known.count)


def _humps(known: _Sorted, scale: _Scale) -> FloatArray:
    """Return the evidence of one or two humps per class, whichever is larger, (J, p)."""
    best = _one_hump(known, scale)
    for cut in _CUTS:
        share = np.where(known.place > cut, 1.0 - _SLIGHT, _SLIGHT)
        for _ in range(_TURNS):
            first, second = (_hump(known, scale, each, 2) for each in (share, 1.0 - share))
            both = np.logaddexp(first, second)
            share = np.clip(np.exp(first - both), _TINY, 1.0 - _TINY)
        best = np.maximum(best, known.total(both) - 2.5 * np.log(known.count))
    return best


def _hump(known: _Sorted, scale: _Scale, share: FloatArray, turns: int) -> FloatArray:
    """Return the log density of values jointly with a Gaussian hump that has so large a share of them, (n, p)."""
    mass, member = known.total(share), known.member
    middle = known.total(scale.values) / known.count
    # one value more, as far out as the others of the class: no hump is thinner than rows can tell
    spread = known.total(np.square(scale.values - middle[member]) + scale.noise) / known.count + _TINY
    centre = known.total(share * scale.values) / np.maximum(mass, _TINY)
    variance = spread
    for _ in range(turns):
        expected, square = _moments(known, scale, centre, variance)
        moved = known.total(share * expected) / np.maximum(mass, _TINY)
        total = known.total(share * square) - mass * np.square(moved - centre)
        centre, variance = moved, (np.maximum(total, 0.0) + spread) / (mass + 1.0)
    constant = np.log(np.maximum(mass, _TINY) / known.count)
    deviation = (scale.values - centre[member]) / np.sqrt(variance)[member]
    score = -0.5 * (np.square(deviation) + scale.noise / variance[member] + np.log(2.0 * np.pi * variance)[member])
    score[known.start], score[known.last] = log_ndtr(deviation[known.start]), log_ndtr(-deviation[known.last])
    return np.asarray(score + constant[member])


def _moments(known: _Sorted, scale: _Scale, centre: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what values are expected to be, and their squares about a centre: of outermost ones beyond the others."""
    expected = scale.values.copy()
    square = np.square(expected - centre[known.member]) + scale.noise
    size = np.sqrt(variance)
    for rows, side in ((known.start, -1.0), (known.last, 1.0)):
        deviation = (scale.values[rows] - centre) / size
        # (3.36)  E[x | x beyond] = m +- s r,  E[(x - m)^2 | x beyond] = s^2 (1 +- d r),  r = phi(d) / Phi(+-d)
        ratio = np.exp(-0.5 * np.square(deviation) - 0.5 * np.log(2.0 * np.pi) - log_ndtr(-side * deviation))
        expected[rows] = centre + side * size * ratio
        square[rows] = variance * (1.0 + side * deviation * ratio)
    return expected, square
