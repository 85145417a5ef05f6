"""Classes as one Gaussian hump, or as two, column by column: how likely that makes their values, on any scale.

Values are sorted within classes, and the outermost ones left out: only that they lie beyond the others counts.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vbrand.compiling import plain
from vbrand.samples import every_kth
from vbrand.stage1.fitted import fit_humps
from vbrand.stage1.tuning import Stage1Tuning
from vbrand.types import BoolArray, FloatArray, IntArray

# where two humps are cut at first
_CUTS, _NO_CUTS = np.array([0.15, 0.5, 0.85]), np.empty(0)
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
    """Return the evidence of one Gaussian hump per class that has a say, (..., J, p); 0 for the others."""
    return _evidence(known, scale, _NO_CUTS)


def humps(known: Sorted, scale: Scale) -> FloatArray:
    """Return the same of one or two humps per class, whichever is larger."""
    return _evidence(known, scale, _CUTS)


def _evidence(known: Sorted, scale: Scale, cuts: FloatArray) -> FloatArray:
    n, p = known.values.shape
    values, noise = (plain(part.reshape(-1, n, p)) for part in (scale.values, scale.noise))
    found = np.empty((values.shape[0], known.start.size, p))
    weight, place, start = plain(known.weight), plain(known.place), np.append(known.start, n)
    fit_humps(values, noise, weight, place, start, plain(known.asked), cuts, np.empty((4, n)), found)
    return found.reshape(*scale.values.shape[:-2], *found.shape[1:])
