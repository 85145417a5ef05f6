"""Columns of categories: a Dirichlet over the levels of each column, for each component, independent of its numbers.

Levels of all columns stand one after the other; a component's Dirichlets are one row of numbers. A cell that is missing
has no level and no part in anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, psi

from vbrand.types import BoolArray, FloatArray, IntArray

# levels that guesses by distance look at
_AXES = 20


@dataclass(frozen=True)
class Levels:
    """Dirichlets (2.10) of K components over the levels of c columns, prior or posterior."""

    counts: FloatArray  # (K, L) a; of components that are known exactly the probabilities themselves
    sizes: tuple[int, ...]  # (c,) numbers of levels, which sum to L
    fixed: BoolArray  # (K,) which components are known exactly

    @property
    def totals(self) -> FloatArray:
        """Return the sum over the levels of its own column, for each level, (K, L)."""
        return self.by_column(self.counts)[:, self.column]

    @property
    def column(self) -> IntArray:
        """Return the column that each level is of, (L,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def by_column(self, values: FloatArray) -> FloatArray:
        """Return sums over the levels of each column, (.., c), of numbers per level, (.., L)."""
        return np.asarray(np.add.reduceat(values, starts_of(self.sizes), axis=-1))

    def reordered(self, order: IntArray) -> "Levels":
        """Return the same with components in another order."""
        return replace(self, counts=self.counts[order], fixed=self.fixed[order])


def starts_of(sizes: Sequence[int]) -> IntArray:
    """Return where the levels of each column begin, (c,)."""
    return np.append(0, np.cumsum(sizes)[:-1]).astype(np.int64)


def stacked_levels(first: Levels | None, second: Levels | None) -> Levels | None:
    """Return those of the components of both."""
    if first is None or second is None:
        return None
    both = np.concatenate([first.counts, second.counts]), np.concatenate([first.fixed, second.fixed])
    return Levels(both[0], first.sizes, both[1])


def levels_from(prior: Levels | None, seen: FloatArray | None) -> Levels | None:
    """Return the best Dirichlets for rows with so many of each level, (K, L); what is known exactly stays."""
    if prior is None or seen is None:
        return prior
    # (5.27)  a = a0 + n
    return replace(prior, counts=np.where(prior.fixed[:, None], prior.counts, prior.counts + seen))


def level_scores(levels: Levels) -> FloatArray:
    """Return what each level adds to the score of a row in each component, (K, L + 1); the last, no level, is 0."""
    # (5.26)  E log theta = psi(a) - psi(sum a);  log theta where it is known
    with np.errstate(divide="ignore"):
        exact = np.log(levels.counts)
    scores = np.where(levels.fixed[:, None], exact, psi(levels.counts) - psi(levels.totals))
    return np.column_stack([scores, np.zeros(scores.shape[0])])


def log_level_densities(levels: Levels, codes: IntArray) -> FloatArray:
    """Return the log probability of the levels of rows, (n, c), before they are seen, in each component, (n, K)."""
    # (8.12)  sum over columns of log a - log sum a
    logs = np.log(levels.counts) - np.log(levels.totals)
    return added_up(np.column_stack([logs, np.zeros(logs.shape[0])]), codes)


def added_up(table: FloatArray, codes: IntArray) -> FloatArray:
    """Return sums over columns of numbers per component and level, (K, L + 1), for rows with these levels, (n, K)."""
    total, by_level = np.zeros((codes.shape[0], table.shape[0])), np.ascontiguousarray(table.T)
    for column in codes.T:
        total += by_level[column]
    return total


def codes_of(columns: FloatArray, sizes: Sequence[int]) -> IntArray:
    """Return the levels of rows, counted over all columns, (n, c), given those within columns, -1 for a missing one.

    >>> codes_of(np.array([[1.0, 0.0], [-1.0, 2.0]]), (2, 3))
    array([[1, 2],
           [5, 4]])
    """
    own = columns.astype(np.int64)
    return np.where(own < 0, sum(sizes), own + starts_of(sizes))


def tally_levels(codes: IntArray, labels: IntArray, pieces: int, levels: int) -> FloatArray:
    """Return how often each piece of rows, which have one label each, has each level, (pieces, L)."""
    at = (labels[:, None] * (levels + 1) + codes).ravel()
    return np.bincount(at, minlength=pieces * (levels + 1)).reshape(pieces, -1)[:, :levels].astype(np.float64)


def diverge_levels(posterior: Levels, prior: Levels) -> FloatArray:
    """Return KL(posterior || prior) of each component, (K,); 0 where levels are known exactly."""
    a, b = posterior.counts, prior.counts
    # (6.10)  sum over columns of lnG(sum a) - lnG(sum b) + sum over levels of lnG(b) - lnG(a) + (a - b) E log theta
    totals = gammaln(posterior.by_column(a)) - gammaln(posterior.by_column(b))
    each = gammaln(b) - gammaln(a) + (a - b) * (psi(a) - psi(posterior.totals))
    return np.asarray(np.where(prior.fixed, 0.0, totals.sum(axis=1) + each.sum(axis=1)))


def level_evidence(prior: Levels, seen: FloatArray, of: IntArray) -> FloatArray:
    """Return what levels add to the bound at their optimum, given how often each was seen, (m, L), (m,).

    `of` says which component of the prior each one has.
    """
    own = prior.reordered(of)
    a = own.counts
    # (7.8)  sum over columns of lnG(sum a) - lnG(sum a + n) + sum over levels of lnG(a + n) - lnG(a)
    totals = gammaln(own.by_column(a)) - gammaln(own.by_column(a + seen))
    free = totals.sum(axis=1) + (gammaln(a + seen) - gammaln(a)).sum(axis=1)
    # of what is known exactly: sum n log theta
    exact = (seen * np.log(np.maximum(a, np.finfo(np.float64).tiny))).sum(axis=1)
    return np.asarray(np.where(own.fixed, exact, free))


def one_hot(codes: IntArray, levels: int) -> FloatArray:
    """Return rows as points, (n, L): 1 on the axes of their levels, 0 on the others."""
    points = np.zeros((codes.shape[0], levels + 1))
    np.put_along_axis(points, codes, 1.0, axis=1)
    return points[:, :levels]


def spread_levels(codes: IntArray, levels: int) -> FloatArray:
    """Return rows as points for guesses by distance, an axis for each of the commonest levels.

    A column of L levels puts two rows as far apart, on average, as L - 1 columns of Gaussian numbers do.
    """
    points = one_hot(codes, levels)
    common = np.argsort(-points.sum(axis=0), kind="stable")[:_AXES]
    share = np.maximum(points[:, common].mean(axis=0), 1.0 / max(codes.shape[0], 1))
    return np.asarray(points[:, common] / np.sqrt(share))
