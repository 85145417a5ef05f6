"""Additive sufficient statistics of rows shared out among K components.

The statistics of two blocks of rows are the sum of theirs, so batches, streams and partitions are the same code.
Deviations are taken from an origin per component (its current mean), not from zero: squares of large numbers would
cancel.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from vbrand.compiling import plain
from vbrand.model.wishart import Sums, extrapolate
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Statistics:
    """What a posterior needs to know about the rows. phi is the share of a row that a component takes."""

    counts: FloatArray  # (K,) sum phi
    weights: FloatArray  # (K,) sum phi E[tau]: equal to the counts unless tails are heavy
    origin: FloatArray  # (K, p) what deviations are taken from
    sums: FloatArray  # (K, p) sum of weighted deviations
    squares: FloatArray  # (K, p, p) sum of weighted outer products of deviations
    evidence: float  # sum over rows of log sum over components of exp(score)
    levels: FloatArray | None = None  # (K, L) sum phi of rows with each level of a category; None: no level was seen

    def __add__(self, other: Self) -> "Statistics":
        if self.origin is not other.origin and not np.array_equal(self.origin, other.origin):
            raise ValueError("statistics about different origins can't be added")
        return Statistics(
            counts=self.counts + other.counts,
            weights=self.weights + other.weights,
            origin=self.origin,
            sums=self.sums + other.sums,
            squares=self.squares + other.squares,
            evidence=self.evidence + other.evidence,
            levels=_both(self.levels, other.levels),
        )

    def about(self, origin: FloatArray) -> "Statistics":
        """Return the same statistics, deviations taken from another origin, (K, p)."""
        # (5.5)  h = o - o_new:  s + R h,  Q + s h' + h s' + R h h'
        moved = self.origin - origin
        cross = self.sums[:, :, None] * moved[:, None, :]
        own = self.weights[:, None, None] * moved[:, :, None] * moved[:, None, :]
        return Statistics(
            counts=self.counts,
            weights=self.weights,
            origin=origin,
            sums=self.sums + self.weights[:, None] * moved,
            squares=self.squares + cross + cross.transpose(0, 2, 1) + own,
            evidence=self.evidence,
            levels=self.levels,
        )

    def scaled(self, factor: float) -> "Statistics":
        """Return the statistics of so many times the rows."""
        return Statistics(
            counts=factor * self.counts,
            weights=factor * self.weights,
            origin=self.origin,
            sums=factor * self.sums,
            squares=factor * self.squares,
            evidence=factor * self.evidence,
            levels=None if self.levels is None else factor * self.levels,
        )

    def reordered(self, order: IntArray) -> "Statistics":
        """Return the statistics with components in another order."""
        return Statistics(
            counts=self.counts[order],
            weights=self.weights[order],
            origin=self.origin[order],
            sums=self.sums[order],
            squares=self.squares[order],
            evidence=self.evidence,
            levels=None if self.levels is None else self.levels[order],
        )


def _both(first: FloatArray | None, second: FloatArray | None) -> FloatArray | None:
    """Return the sum of how often levels are seen; None is never."""
    if first is None or second is None:
        return second if first is None else first
    return first + second


def nothing_about(origin: FloatArray) -> Statistics:
    """Return the statistics of no rows about an origin, (K, p)."""
    count, p = origin.shape
    return Statistics(np.zeros(count), np.zeros(count), origin, np.zeros((count, p)), np.zeros((count, p, p)), 0.0)


def joined(parts: Sequence[Statistics]) -> Statistics:
    """Return the statistics of the components of all parts; evidence, a matter of all rows, is not."""
    width = max(0 if part.levels is None else part.levels.shape[1] for part in parts)
    seen = [np.zeros((part.counts.size, width)) if part.levels is None else part.levels for part in parts]
    return Statistics(
        counts=np.concatenate([part.counts for part in parts]),
        weights=np.concatenate([part.weights for part in parts]),
        origin=np.concatenate([part.origin for part in parts]),
        sums=np.concatenate([part.sums for part in parts]),
        squares=np.concatenate([part.squares for part in parts]),
        evidence=0.0,
        levels=np.concatenate(seen) if width else None,
    )


def extrapolated(now: Statistics, before: Statistics, step: float) -> Statistics:
    """Return the statistics that lie so many times the way from earlier ones to these beyond these."""
    sums = Sums(*(part.copy() for part in sums_of(now)))
    extrapolate(sums, sums_of(before), step)
    return Statistics(
        counts=sums.counts,
        weights=sums.weights,
        origin=sums.origin,
        sums=sums.sums,
        squares=sums.squares,
        evidence=now.evidence,
        levels=_further(now, before, sums.counts),
    )


def _further(now: Statistics, before: Statistics, counts: FloatArray) -> FloatArray | None:
    """Return how often levels are seen as far beyond as these numbers of rows; none loses more than half."""
    if now.levels is None or before.levels is None:
        return None
    way = now.counts - before.counts
    largest = int(np.abs(way).argmax())
    step = (counts[largest] - now.counts[largest]) / way[largest] if way[largest] else 0.0
    return np.maximum(now.levels + step * (now.levels - before.levels), 0.5 * now.levels)


def sums_of(statistics: Statistics) -> Sums:
    """Return the statistics as compiled formulas take them that only read them."""
    return Sums(
        plain(statistics.counts),
        plain(statistics.weights),
        plain(statistics.origin),
        plain(statistics.sums),
        plain(statistics.squares),
    )


def room_for_sums(components: int, p: int) -> tuple[FloatArray, Sums]:
    """Return room for the statistics of so many components: one array, and its parts, origins first."""
    shape, size = (components, p), components * p
    store = np.zeros(size * (p + 2) + 2 * components)
    after = size + 2 * components
    origin, counts, weights = store[:size], store[size : size + components], store[size + components : after]
    sums, squares = store[after : after + size], store[after + size :]
    return store, Sums(counts, weights, origin.reshape(shape), sums.reshape(shape), squares.reshape(*shape, p))


def store_sums(statistics: Statistics, sums: Sums) -> None:
    """Store statistics where compiled formulas find them."""
    sums.counts[...], sums.weights[...], sums.origin[...] = statistics.counts, statistics.weights, statistics.origin
    sums.sums[...], sums.squares[...] = statistics.sums, statistics.squares
