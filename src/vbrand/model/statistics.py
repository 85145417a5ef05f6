"""Additive sufficient statistics of rows shared out among K components.

The statistics of two blocks of rows are the sum of theirs, so batches, streams and partitions are the same code.
Deviations are taken from an origin per component (its current mean), not from zero: squares of large numbers would
cancel.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

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
        )
