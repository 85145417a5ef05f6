"""Columns whose classes are skewed within, and the bent scale on which they are not: the evidence chooses.

Classes are taken column by column. A monotone map keeps the order of their values, so that whatever it does to
outermost ones, which count by their order alone, it can't gain by them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import logsumexp

from vbrand.robust.rounding import rounding_steps
from vbrand.stage1.humps import Scale, Sorted, humps, one_hump, sorted_values, straight
from vbrand.stage1.jointly import bent_together
from vbrand.stage1.tuning import TUNED, Stage1Tuning
from vbrand.stage1.warp import Warp, risen, sizes_of
from vbrand.types import FloatArray, IntArray

# the three ways to bend a scale: its low end is stretched, its high end, or both
_WAYS = ((True, False), (False, True), (True, True))
# steps between points of the grid
_FINER = (0.5, 0.25, 0.125)
# of the range of a column: half the width of the cell of a sharp value
_SHARP = 1e-6
_TINY = 1e-12
# values that are mapped in all ways of a grid at once: no more than a processor keeps at hand
_AT_ONCE = 2_048


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what is no number wins nothing
def learn_warp(rows: FloatArray, member: IntArray, tuning: Stage1Tuning = TUNED) -> Warp | None:
    """Return the maps of columns whose classes are skewed within, given labelled rows; None if there are none.

    Nor are there any of more columns than rows: so few can't tell how columns go together.
    """
    if rows.shape[1] >= rows.shape[0]:
        return None
    low, high = _ends(rows, member, tuning)
    steps = rounding_steps(rows)
    known = sorted_values((rows - low) / (high - low), steps / (high - low), member, tuning)
    best = _best_of_each_way(known, tuning)
    gain = best.evidence - best.price - _evidence(known, straight(known), one_hump)  # (3, p)
    chosen = np.full(low.size, -1)
    for some in _at_once(known, np.flatnonzero((gain > 0.0).any(axis=0))):
        chosen[some] = _chosen(known.of_columns(some), best.of_columns(some), gain[:, some])
    if (chosen < 0).all():
        return None

    bends = best.bends[:, np.maximum(chosen, 0), np.arange(low.size)]  # (3, p)
    at = np.flatnonzero(chosen >= 0)
    bends[:, at] = _refined(known.of_columns(at), bends[:, at])
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

    def of_columns(self, chosen: IntArray) -> "_Best":
        """Return those of some columns."""
        return _Best(self.bends[:, :, chosen], self.evidence[:, chosen], self.price[:, chosen])


def _at_once(known: Sorted, columns: IntArray) -> list[IntArray]:
    """Return the columns, few at a time: what is tried of each takes many times its memory."""
    step = max(1, _AT_ONCE // known.values.shape[0])
    return [columns[at : at + step] for at in range(0, columns.size, step)]


def _best_of_each_way(known: Sorted, tuning: Stage1Tuning) -> _Best:
    """Return the best map of each way to bend a scale, out of a grid."""
    columns = np.arange(known.values.shape[1])
    parts = [_best_of_some(known.of_columns(some), tuning) for some in _at_once(known, columns)]
    return _Best(*(np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in _Best.__annotations__))


def _best_of_some(known: Sorted, tuning: Stage1Tuning) -> _Best:
    p = known.values.shape[1]
    found = np.empty((3, 3, p)), np.empty((3, p)), np.empty((3, p))
    values = np.log(np.maximum((known.asked * known.count).sum(axis=0), 1.0))
    low_end, high_end = (_stretched(known, end, tuning) for end in (0.0, 1.0))  # (reaches, powers, 3, n, p)
    for way, (low, high) in enumerate(_WAYS):
        every = 1 + (low and high)
        some = tuning.reaches[::every]
        ends = (some if stretched else (np.inf,) for stretched in (low, high))
        grid = np.array(list(product(*ends, tuning.powers)))  # (g, 3)
        # the terms of (3.33) are those of the ends by themselves
        near = low_end[::every, None] if low else np.zeros(1)
        far = high_end[None, ::every] if high else np.zeros(1)
        mapped = (near + far).reshape(-1, *low_end.shape[2:])  # (g, 3, n, p)
        scores = _evidence(known, _scale(known, mapped), one_hump)  # (g, p)
        found[0][:, way] = grid[scores.argmax(axis=0)].T
        found[1][way] = scores.max(axis=0)
        # (3.37)  k / 2 log n, k of the two reaches being finite, and log max - log mean over three grids
        luck = scores.max(axis=0) - logsumexp(scores, axis=0) + np.log(3.0 * len(grid))
        found[2][way] = 0.5 * (low + high) * values + luck
    return _Best(*found)


def _stretched(known: Sorted, end: float, tuning: Stage1Tuning) -> FloatArray:
    """Return where cells and values are if one end of a scale is stretched, for all reaches and powers of the grid."""
    away = _cells(known) - end
    found = np.empty((len(tuning.reaches), len(tuning.powers), *away.shape))
    for to, reach in zip(found, tuning.reaches, strict=True):
        size, side = sizes_of(away / reach), np.sign(away)
        for one, power in zip(to, tuning.powers, strict=True):
            np.multiply(side, risen(size, power), out=one)
    return found


def _refined(known: Sorted, bends: FloatArray) -> FloatArray:
    """Return reaches and powers, (3, p), that are better still: a grid is coarse."""
    best, p = _evidence(known, _bent(known, bends), one_hump), bends.shape[1]
    twice = known.of_columns(np.tile(np.arange(p), 2))
    for size, row in product(_FINER, range(3)):
        # half the way to the next point of the grid, then a quarter, then an eighth, downwards and upwards
        down, up = bends.copy(), bends.copy()
        for moved, sign in ((down, -1.0), (up, 1.0)):
            further = np.maximum(bends[2] + sign * size / 3.0, 0.0) if row == 2 else bends[row] * 4.0 ** (sign * size)
            moved[row] = further
        scores = _evidence(twice, _bent(twice, np.hstack([down, up])), one_hump).reshape(2, p)
        for moved, score in ((up, scores[1]), (down, scores[0])):
            bends, best = np.where(score > best, moved, bends), np.maximum(score, best)
    return bends


def _chosen(known: Sorted, best: _Best, gain: FloatArray) -> IntArray:
    """Return which way each column is bent, -1 for none, where classes may have two humps each.

    A way gains no more than it does with one hump per class, so that few ways have to be tried: the best one first.
    """
    without = _evidence(known, straight(known), humps)
    chosen, most = np.full(gain.shape[1], -1), np.zeros(gain.shape[1])
    for ways in np.argsort(-gain, axis=0, kind="stable"):
        open_to = np.flatnonzero(gain[ways, np.arange(ways.size)] > most)
        if open_to.size == 0:
            break
        way, own = ways[open_to], known.of_columns(open_to)
        with_it = _evidence(own, _bent(own, best.bends[:, way, open_to]), humps)
        gained = np.minimum(with_it - best.price[way, open_to] - without[open_to], gain[way, open_to])
        better = gained > most[open_to]
        chosen[open_to[better]], most[open_to[better]] = way[better], gained[better]
    return chosen


def _bent(known: Sorted, bends: FloatArray) -> Scale:
    """Return the values on a bent scale, given the reaches of both ends and the power, (3, p)."""
    none, one = np.zeros(bends.shape[1]), np.ones(bends.shape[1])
    return _scale(known, Warp(none, bends[0], one, bends[1], bends[2], none).inward(_cells(known)))


def _cells(known: Sorted) -> FloatArray:
    """Return where the cell of each value ends and begins, and the value, (3, n, p); of a sharp one a thin cell."""
    half = np.maximum(known.half, _SHARP)
    return np.stack([known.values + half, known.values - half, known.values])


def _scale(known: Sorted, mapped: FloatArray) -> Scale:
    """Return the values on a scale on which their cells, (..., 3, n, p), are these."""
    # a value stands for its cell, whose width is bent with the scale
    half = np.maximum(known.half, _SHARP)
    width = np.maximum(mapped[..., 0, :, :] - mapped[..., 1, :, :], _TINY)
    # a value that many rows share does not tell how fine the scale is there: it counts as the others do on average
    log_slope = known.sum(known.telling * np.log(width / (2.0 * half)))
    log_slope *= known.exact / np.maximum(known.told, 1.0)
    return Scale(mapped[..., 2, :, :], np.square(known.half * width / half) / 12.0, log_slope)


def _evidence(known: Sorted, scale: Scale, of_classes: Callable[[Sorted, Scale], FloatArray]) -> FloatArray:
    """Return the evidence of a scale, over the classes that have a say, (..., p)."""
    return np.asarray((known.asked * (of_classes(known, scale) + scale.log_slope)).sum(axis=-2))
