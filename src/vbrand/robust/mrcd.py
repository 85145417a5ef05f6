"""The Minimum Regularized Covariance Determinant of a table of rows.

Boudt, Rousseeuw, Vanduffel and Verdonck (2020): among all subsets H of h rows, find the one whose scatter, shrunk
towards a target, has the smallest determinant. The target makes it work with more columns than rows.

    K(H) = rho T + (1 - rho) c S_H

S_H is the covariance of the subset, c makes it consistent for Gaussian rows, T = D R D with D the diagonal of Qn
scales and R the identity or an equicorrelation matrix. All work is done in coordinates w in which T is the identity.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg, special, stats

from vbrand.robust.subsets import smallest, starting_subsets
from vbrand.types import BoolArray, FloatArray

TargetName = Literal["identity", "equicorrelation"]

# the least share of the target, also for a well-conditioned subset, as in R's rrcov
_LEAST_RHO = 1e-6
# rho may exceed this only when the typical start needs more
_MODERATE_RHO = 0.1
_MAX_STEPS = 200
# a final condition number this many times above the wanted one means that the subset is flat in some direction
_COLLAPSED = 10.0
_MAX_REPAIRS = 5
# squared spread, in Qn scales, below which a subset is one point
_ONE_POINT = 1e-20


@dataclass(frozen=True)
class RobustFit:
    """What was learned about one cloud of rows, in the units of the data."""

    centre: FloatArray  # (p,)
    scatter: FloatArray  # (p, p)
    precision: FloatArray  # (p, p)
    subset: BoolArray  # (n,)
    rho: float
    log_determinant: float  # of the scatter
    condition: float  # of the scatter, relative to its target


@dataclass(frozen=True)
class TargetCoordinates:
    """The coordinates w in which the target is the identity: x = median + scale * (w root)."""

    median: FloatArray  # (p,)
    scale: FloatArray  # (p,)
    correlation: float

    @property
    def eigenvalues(self) -> FloatArray:
        """Return the eigenvalues of the equicorrelation matrix: one for the mean, p - 1 for the contrasts."""
        p = self.scale.size
        # (3.13) 1 + (p - 1) r, and 1 - r
        values = np.full(p, 1.0 - self.correlation)
        values[0] = 1.0 + (p - 1) * self.correlation
        return values

    def inward(self, rows: FloatArray) -> FloatArray:
        """Return rows in the coordinates w."""
        standard = (rows - self.median) / self.scale
        if self.correlation == 0.0:
            return np.asarray(standard)
        return np.asarray(standard @ _contrasts(self.scale.size).T / np.sqrt(self.eigenvalues))

    def outward(self, matrix: FloatArray, power: int) -> FloatArray:
        """Return a covariance (power 1) or a precision (power -1) of w as one of x."""
        if self.correlation != 0.0:
            root = _contrasts(self.scale.size).T * np.sqrt(self.eigenvalues) ** power  # (p, p)
            matrix = root @ matrix @ root.T
        scale = self.scale**power
        return np.asarray(scale[:, None] * matrix * scale)


def fit_mrcd(
    rows: FloatArray,
    scale: FloatArray,
    *,
    support_fraction: float = 0.5,
    target: TargetName = "identity",
    rho: float | None = None,
    max_condition: float = 50.0,
    random_starts: int = 0,
    generator: np.random.Generator | None = None,
) -> RobustFit:
    """Return the MRCD of at least three rows, given the scales of their columns (see `column_scales`)."""
    size = subset_size(rows.shape[0], support_fraction)
    _check_not_one_point(rows, size)
    frame = frame_of(rows, target, scale)
    inner = frame.inward(rows)  # (n, p)
    working = _in_row_space(inner)  # (n, min(n, p))
    spare = rows.shape[1] - working.shape[1]  # directions in which all rows agree

    starts = starting_subsets(inner, size)
    given = rho is not None
    if rho is None:
        needed = np.array([rho_for(working[start], rows.shape, spare, max_condition) for start in starts])
        rho = choose_rho(needed)
        starts = [start for start, least in zip(starts, needed, strict=True) if least <= rho]

    if random_starts:
        generator = np.random.default_rng(generator)
        starts += [_random_subset(working, size, rho, spare, generator) for _ in range(random_starts)]

    fit = fit_of_subset(rows, best_subset(working, starts, rho, spare), rho, frame)

    # a column of counts can be constant in the final subset though not in the starts: then rho was too small
    for _ in range(_MAX_REPAIRS):
        if given or fit.condition <= _COLLAPSED * max_condition:
            break
        rho = rho_for(working[fit.subset], rows.shape, spare, max_condition)
        fit = fit_of_subset(rows, best_subset(working, [*starts, fit.subset], rho, spare), rho, frame)
    return fit


def subset_size(rows: int, support_fraction: float) -> int:
    """Return h = ceil(support_fraction n), at least two rows."""
    return max(2, int(np.ceil(support_fraction * rows - 1e-9)))


def frame_of(rows: FloatArray, target: TargetName, scale: FloatArray) -> TargetCoordinates:
    """Return the coordinates in which the target is the identity."""
    correlation = _common_correlation(rows) if target == "equicorrelation" else 0.0
    return TargetCoordinates(np.median(rows, axis=0), scale, correlation)


def consistency_factor(size: int, rows: int, columns: int) -> float:
    """Return c, which makes the scatter of the innermost h of n Gaussian rows unbiased for large n.

    >>> round(consistency_factor(50, 100, 10), 6)
    1.531349
    """
    share = size / rows
    # (3.7)  c = (h/n) / P(chi2_{p+2} <= q),   q the h/n quantile of chi2_p
    # with chi2_p = 2 Gamma(p / 2), in terms of the regularised incomplete gamma function
    quantile = special.gammaincinv(columns / 2.0, share)
    return float(share / special.gammainc(columns / 2.0 + 1.0, quantile))


def rho_for(subset: FloatArray, shape: tuple[int, int], spare: int, max_condition: float) -> float:
    """Return the smallest rho for which K of the subset has a condition number of at most `max_condition`."""
    factor = consistency_factor(subset.shape[0], *shape)
    values = factor * linalg.eigvalsh(_scatter(subset, subset.shape[0] - 1))
    high, low = values[-1], (0.0 if spare else max(values[0], 0.0))
    # (3.8)  (rho + (1 - rho) high) / (rho + (1 - rho) low) = kappa   <=>   rho = x / (x + kappa - 1),
    #        x = high - kappa low, both times c
    excess = max(high - max_condition * low, 0.0)
    return max(_LEAST_RHO, float(excess / (excess + max_condition - 1.0)))


def choose_rho(needed: FloatArray) -> float:
    """Return the largest rho that a start needs, of those not above max(0.1, their median)."""
    # (3.9)  rho = the largest rho_i <= max(.1, median rho_i)
    return float(needed[needed <= max(_MODERATE_RHO, float(np.median(needed)))].max())


def best_subset(working: FloatArray, starts: list[BoolArray], rho: float, spare: int = 0) -> BoolArray:
    """Return the subset of smallest determinant that concentration steps reach from the starts.

    `spare` is the number of directions beyond the working ones: all rows agree in them.
    """
    factor = consistency_factor(int(starts[0].sum()), working.shape[0], working.shape[1] + spare)
    best, lowest = starts[0], np.inf
    seen: set[bytes] = set()

    for start in starts:
        subset, determinant = start, np.inf
        for _ in range(_MAX_STEPS):
            if subset.tobytes() in seen:  # another start has gone on from here already
                break
            seen.add(subset.tobytes())
            following, determinant = _concentrate(working, subset, rho, factor)
            if determinant < lowest:
                best, lowest = subset, determinant
            subset = following
    return best


def fit_of_subset(rows: FloatArray, subset: BoolArray, rho: float, frame: TargetCoordinates) -> RobustFit:
    """Return centre and regularised scatter of a subset of the rows."""
    n, p = rows.shape
    inner = frame.inward(rows[subset])
    covariance = _scatter(inner, inner.shape[0] - 1)
    if np.trace(covariance) <= p * max(min(rho, _LEAST_RHO), _ONE_POINT):
        raise OnePointError(inner.shape[0], n)

    # (3.6)  scatter(H) = rho I + (1 - rho) c S_H, in coordinates in which the target is I
    regular = (1.0 - rho) * consistency_factor(inner.shape[0], n, p) * covariance
    regular[np.diag_indices(p)] += rho
    values, vectors = linalg.eigh(regular)
    if values[0] <= p * np.finfo(np.float64).eps * values[-1]:
        raise SingularScatterError(inner.shape[0], p)

    scatter = frame.outward(regular, 1)
    if not np.isfinite(scatter).all() or not np.diag(scatter).all():
        raise ValueError("the values are so large or so small that their squares overflow: use other units.")

    return RobustFit(
        centre=frame.median + (rows[subset] - frame.median).mean(axis=0),
        scatter=scatter,
        precision=frame.outward((vectors / values) @ vectors.T, -1),
        subset=subset,
        rho=rho,
        log_determinant=float(np.log(values).sum() + np.log(frame.eigenvalues).sum() + 2.0 * np.log(frame.scale).sum()),
        condition=float(values[-1] / values[0]),
    )


def _check_not_one_point(rows: FloatArray, size: int) -> None:
    """Refuse rows so many of which are copies of one row that the best subset would have no scatter of its own."""
    middle = np.median(rows, axis=0)
    if (rows == middle).all(axis=1).sum() >= size:
        raise OnePointError(size, rows.shape[0])


class OnePointError(ValueError):
    """The innermost rows are copies of one row."""

    def __init__(self, size: int, rows: int) -> None:
        super().__init__(
            f"the {size} of {rows} rows that lie closest together are identical, or nearly so: they have no scatter. "
            "Remove the repeated rows, or raise support_fraction until the subset holds different rows."
        )


class SingularScatterError(ValueError):
    """The scatter of the innermost rows can't be inverted."""

    def __init__(self, size: int, columns: int) -> None:
        super().__init__(
            f"the scatter of {size} rows in {columns} columns is singular: columns are copies or sums of others, half "
            "of a column's values agree, or there are too few rows. Use the MRCD, which chooses a rho above 0."
        )


def _concentrate(working: FloatArray, subset: BoolArray, rho: float, factor: float) -> tuple[BoolArray, float]:
    """Return the h rows closest to a subset in the metric of its K, and log det K."""
    inner = working[subset]
    p = working.shape[1]
    regular = (1.0 - rho) * factor * _scatter(inner, inner.shape[0])
    regular[np.diag_indices(p)] += rho
    # LAPACK itself: what scipy looks at beforehand takes longer for few columns
    root, failed = linalg.lapack.dpotrf(regular, lower=True, clean=True)
    if failed:
        raise SingularScatterError(inner.shape[0], p)
    unit, _ = linalg.lapack.dtrtrs(root, np.eye(p), lower=True)  # L^-1
    # (3.10) H <- the h rows of least (x - mean_H)' scatter(H)^-1 (x - mean_H)
    distance = np.square((working - inner.mean(axis=0)) @ unit.T).sum(axis=1)
    return smallest(distance, inner.shape[0]), 2.0 * float(np.log(np.diag(root)).sum())


def _random_subset(working: FloatArray, size: int, rho: float, spare: int, generator: np.random.Generator) -> BoolArray:
    """Return the rows closest to a handful of random ones."""
    n, p = working.shape
    seed = np.zeros(n, dtype=bool)
    seed[generator.choice(n, size=min(size, p + spare + 1), replace=False)] = True
    inner = working[seed]
    regular = (1.0 - rho) * _scatter(inner, inner.shape[0]) + max(rho, _LEAST_RHO) * np.eye(p)
    factor = linalg.cholesky(regular, lower=True)
    difference = linalg.solve_triangular(factor, (working - inner.mean(axis=0)).T, lower=True)
    return smallest(np.square(difference).sum(axis=0), size)


def _scatter(rows: FloatArray, divisor: int) -> FloatArray:
    centred = rows - rows.mean(axis=0)
    return np.asarray(centred.T @ centred / divisor)


def _in_row_space(rows: FloatArray) -> FloatArray:
    """Return rows rotated into the directions that they span, if there are more columns than rows."""
    n, p = rows.shape
    if p <= n:
        return rows
    left, singular, _ = linalg.svd(rows, full_matrices=False)
    return np.asarray(left * singular)


def _contrasts(columns: int) -> FloatArray:
    """Return the orthogonal matrix whose first row is the mean and whose others are Helmert contrasts."""
    return np.vstack([np.full(columns, columns**-0.5), linalg.helmert(columns)])


def _common_correlation(rows: FloatArray) -> float:
    """Return the mean over pairs of sin(pi / 2 Spearman), kept where the equicorrelation matrix is well conditioned."""
    p = rows.shape[1]
    if p == 1:
        return 0.0
    ranks = stats.rankdata(rows, axis=0)
    centred = ranks - ranks.mean(axis=0)
    length = np.sqrt(np.square(centred).sum(axis=0))
    unit = centred / np.where(length > 0, length, 1.0)
    spearman = np.clip(unit.T @ unit, -1.0, 1.0)  # (p, p)
    # (3.13) r = mean over pairs of sin(pi/2 Spearman)
    pairs = np.sin(0.5 * np.pi * spearman)
    mean = float((pairs.sum() - np.trace(pairs)) / (p * (p - 1)))
    return float(np.clip(mean, -0.9 / (p - 1), 0.99))
