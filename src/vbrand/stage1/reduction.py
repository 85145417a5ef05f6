"""Wide tables: more columns than the rows of a class can speak for are reduced to principal components.

What the components leave over is not lost: its size is one more column (the Q residual of chemometrics), so that a
novelty in directions that no labelled row has is still seen.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from vbrand.inference.rows import FARTHEST
from vbrand.robust.columns import checked_scales, medians
from vbrand.samples import cell_lots
from vbrand.stage1.classes import KnownClasses, pooled_scales, stand_in_scales
from vbrand.stage1.tuning import TUNED, Stage1Tuning
from vbrand.types import BoolArray, FloatArray, IntArray

_BLOCK = 4_096
# share of the variance of a score; less would divide by rounding
_NO_NOISE = 1e-9


@dataclass(frozen=True)
class Reduction:
    """Principal axes of labelled rows in units of the scatter within classes."""

    centre: FloatArray  # (p,)
    unit: FloatArray  # (p,)
    axes: FloatArray  # (q, p) orthonormal, of rows (y - centre) / unit
    floor: float  # the log size of what is left over counts as at least this: less of it is nothing new
    rounding: float = TUNED.rounding  # share of the size of a row that counts as left over by rounding
    # (c + 1,) of the scores of c <= q axes by which missing cells are expected, and of a column of the rest
    variances: FloatArray | None = None

    def inward(self, table: NDArray[Any]) -> FloatArray:
        """Return q scores, and the logarithm of what is left over, (n, q + 1)."""
        parts = list[FloatArray]()
        for first in range(0, table.shape[0], _BLOCK):
            standard = (table[first : first + _BLOCK].astype(np.float64) - self.centre) / self.unit
            standard = np.clip(standard, -FARTHEST, FARTHEST)
            scores = _scores(_with_expected(standard, self.axes, self.variances), self.axes, self.rounding)
            parts.append(_all_cells(scores, standard))
        reduced = np.concatenate(parts)
        reduced[:, -1] = np.maximum(reduced[:, -1], self.floor)
        reduced[np.isnan(table).all(axis=1)] = np.nan  # of no cell nothing is known
        return reduced

    def outward(self, points: FloatArray) -> FloatArray:
        """Return the rows with these scores and nothing left over."""
        return np.asarray(self.centre + (points[:, :-1] @ self.axes) * self.unit)

    def classes_outward(self, known: KnownClasses) -> KnownClasses:
        """Return known classes in the table's units, as far as the components show them."""
        turn = self.axes * self.unit  # (q, p)
        return replace(
            known,
            centres=self.outward(known.centres),
            scatters=turn.T @ known.scatters[:, :-1, :-1] @ turn,
            average=turn.T @ known.average[:-1, :-1] @ turn,
        )

    def contributions(self, row: FloatArray, pull: FloatArray) -> FloatArray:
        """Return how much each column adds to a linear function of the scores, for a deviation in the table's units."""
        return np.asarray(np.nan_to_num(row / self.unit) * (pull[:-1] @ self.axes))

    def rest_by_column(self, row: FloatArray) -> FloatArray:
        """Return the share of each column in the square of what the components leave over of a row."""
        standard = np.nan_to_num((row - self.centre) / self.unit)
        rest = np.square(standard - (standard @ self.axes.T) @ self.axes)
        return np.asarray(rest / max(float(rest.sum()), np.finfo(np.float64).tiny))


def columns_wanted(rows: int, classes: int, tuning: Stage1Tuning = TUNED) -> int:
    """Return how many columns so many labelled rows can speak for."""
    # (3.23)  max(5, floor(.5 rows / classes))
    return max(tuning.fewest_columns, int(tuning.columns_per_row * rows / classes))


def reduce_columns(
    rows: FloatArray, member: IntArray, columns: int, tuning: Stage1Tuning = TUNED
) -> tuple[Reduction, FloatArray]:
    """Return the reduction to so many components, and the labelled rows in it.

    What is left over of a labelled row is measured with axes of other rows: its own would leave too little.
    """
    n = rows.shape[0]
    middles = np.stack([medians(rows[member == j]) for j in range(int(member.max()) + 1)])
    unit = checked_scales(pooled_scales(rows, member, stand_in_scales(rows, member)))
    centre = np.average(middles, axis=0, weights=np.bincount(member))
    # outliers should not choose the axes
    within = np.clip((rows - middles[member]) / unit, -tuning.farthest_for_axes, tuning.farthest_for_axes)
    standard = (middles[member] - centre) / unit + within  # what tells classes apart may be as large as it is
    between = (middles[member] - centre) / unit
    expecting = _expecting(standard, between, columns, tuning)
    filled, spread = _filled(standard, between, expecting, tuning)
    centre, middle = centre + filled.mean(axis=0) * unit, filled.mean(axis=0)
    standard, filled, between = standard - middle, filled - middle, between - middle

    left = np.empty(n)
    fold = _folds(member, tuning.folds)
    for one in range(tuning.folds):
        inside, outside = fold == one, fold != one
        others, doubt = _filled(standard[outside], between[outside], expecting, tuning)
        middle = others.mean(axis=0)
        axes, sizes = _components(others - middle, doubt, columns, tuning.rounding)
        variances = _first(sizes, expecting, axes)
        own = standard[inside] - middle
        scores = _scores(_with_expected(own, axes, variances), axes, tuning.rounding)
        left[inside] = _all_cells(scores, own)[:, -1]

    floor = float(np.quantile(left, tuning.little))
    axes, sizes = _components(filled, spread, columns, tuning.rounding)
    reduction = Reduction(centre, unit, axes, floor, tuning.rounding, _first(sizes, expecting, axes))
    reduced = reduction.inward(rows)
    reduced[:, -1] = np.maximum(left, floor)
    return reduction, reduced


def _expecting(standard: FloatArray, start: FloatArray, columns: int, tuning: Stage1Tuning) -> int:
    """Return by how many axes missing cells are expected best: cells that are there, hidden, tell it.

    As many as there are of complete rows: of what is never missing nothing has to be expected.
    """
    if not np.isnan(standard).any():
        return columns
    hidden = (cell_lots(standard) % np.uint64(tuning.hidden_cells) == 0) & ~np.isnan(standard)
    shown = np.where(hidden, np.nan, standard)
    filled, spread = np.where(np.isnan(shown), start, shown), None
    best, least, axes = 1, np.inf, 1
    while axes <= columns:
        for _ in range(tuning.turns_of_axes):
            filled, spread = _turned(shown, filled, spread, axes, tuning.rounding)
        # (3.29)  c = argmin of the mean of (x - E[x | x_o, c axes])^2 over hidden cells
        error = float(np.square(filled - standard)[hidden].sum())
        if error >= least:
            break
        best, least, axes = axes, error, max(axes + 1, 3 * axes // 2)
    return best


def _filled(
    standard: FloatArray, start: FloatArray, columns: int, tuning: Stage1Tuning
) -> tuple[FloatArray, FloatArray | None]:
    """Return rows with what so many principal components lead to expect in missing cells, in turns with the axes.

    Axes come one after the other: what a first guess gets wrong must not become one. Beside the rows is the sum of the
    covariances of what is expected, (p, p); None where no cell is missing.
    """
    absent = np.isnan(standard)
    if not absent.any():
        return standard, None
    filled, spread = np.where(absent, start, standard), None
    for turn in range(columns + tuning.turns_for_axes):
        filled, spread = _turned(standard, filled, spread, min(turn + 1, columns), tuning.rounding)
    return filled, spread


def _turned(
    standard: FloatArray, filled: FloatArray, spread: FloatArray | None, columns: int, rounding: float
) -> tuple[FloatArray, FloatArray]:
    """Return rows with what the components of their filled form lead to expect, and the sum of its covariances."""
    absent, middle = np.isnan(standard), filled.mean(axis=0)
    axes, variances = _components(filled - middle, spread, columns, rounding)
    expected = _with_expected(standard - middle, axes, variances) + middle
    return np.where(absent, expected, standard), _spread(absent, axes, variances)


def _first(variances: FloatArray, count: int, axes: FloatArray) -> FloatArray:
    """Return the variances of the first scores, and of a column of what they leave over: the others are in it."""
    rest = variances[-1] + variances[count:-1].sum() / axes.shape[1]
    return np.append(variances[: min(count, axes.shape[0])], rest)


def _components(
    rows: FloatArray, spread: FloatArray | None, columns: int, rounding: float
) -> tuple[FloatArray, FloatArray]:
    """Return the first principal axes of rows, and the variances of scores and of a column of the rest.

    `spread` is the sum of the covariances of cells that were missing: without it axes would follow what was filled in.
    """
    if spread is None:
        axes = _axes(rows, columns, rounding)
        return axes, _variances(rows, axes)
    square = (rows.T @ rows + spread) / rows.shape[0]
    most, p = min(columns, *rows.shape), rows.shape[1]
    size, turned = eigh(square, subset_by_index=[p - most, p - 1])
    size, turned = np.maximum(size[::-1], 0.0), turned[:, ::-1].T
    kept = int((size > np.square(rounding) * size[0]).sum())
    rest = (float(np.trace(square)) - float(size[:kept].sum())) / p
    return np.ascontiguousarray(turned[:kept]), _at_least(np.append(size[:kept], rest))


def _spread(absent: BoolArray, axes: FloatArray, variances: FloatArray) -> FloatArray:
    """Return the sum of the covariances of missing cells given the others, over rows."""
    total = np.zeros((axes.shape[1], axes.shape[1]))
    noise = np.maximum(variances[-1] / variances[:-1], _NO_NOISE)  # a row may have fewer cells than there are axes
    for missing in absent[absent.any(axis=1)]:
        own = axes[:, missing]
        square = np.eye(axes.shape[0]) - own @ own.T + np.diag(noise)
        # (3.29)  Cov[x_m | x_o] = left (I + E_m' (E_o E_o' + diag(left / var))^-1 E_m)
        inside = own.T @ np.linalg.solve(square, own)
        total[np.ix_(missing, missing)] += variances[-1] * (np.eye(own.shape[1]) + inside)
    return total


def _variances(rows: FloatArray, axes: FloatArray) -> FloatArray:
    """Return the variances of scores, and that of a column of what they leave over, (q + 1,)."""
    scores = rows @ axes.T
    left = np.square(rows - scores @ axes).mean()
    return _at_least(np.append(np.square(scores).mean(axis=0), left))


def _at_least(sizes: FloatArray) -> FloatArray:
    """Return variances that can be divided by."""
    least = np.finfo(np.float64).eps * float(sizes.max()) + np.finfo(np.float64).tiny
    return np.asarray(np.maximum(sizes, least))


def _with_expected(rows: FloatArray, axes: FloatArray, variances: FloatArray | None) -> FloatArray:
    """Return standardised rows with what their components lead to expect in missing cells."""
    absent = np.isnan(rows)
    if not absent.any():
        return rows
    filled = np.where(absent, 0.0, rows)
    axes = axes if variances is None else axes[: variances.size - 1]
    noise = np.zeros(axes.shape[0]) if variances is None else variances[-1] / variances[:-1]
    for i in np.flatnonzero(absent.any(axis=1)).tolist():
        own = axes[:, absent[i]]
        # (3.29)  scores = (E_o E_o' + diag(left / size))^-1 E_o x_o,  x_m = E_m' scores
        square = np.eye(axes.shape[0]) - own @ own.T + np.diag(noise)
        filled[i, absent[i]] = own.T @ np.linalg.lstsq(square, axes @ filled[i], rcond=None)[0]
    return filled


def _all_cells(scores: FloatArray, rows: FloatArray) -> FloatArray:
    """Return scores whose last column, the log size of the rest, is that of as many cells as a complete row has."""
    absent = np.isnan(rows)
    if absent.any():
        scores = scores.copy()
        scores[:, -1] += 0.5 * np.log(rows.shape[1] / np.maximum((~absent).sum(axis=1), 1))
    return scores


def _folds(member: IntArray, folds: int) -> IntArray:
    """Return the fold of each row: those of one class after the other are dealt out, in the order of their first rows.

    So neither names of classes nor, where rows come by content, their order matters.
    """
    first = np.unique(member, return_index=True)[1]  # (J,)
    fold = np.empty(member.size, dtype=np.int64)
    fold[np.argsort(first[member], kind="stable")] = np.arange(member.size) % folds
    return fold


def _axes(rows: FloatArray, columns: int, rounding: float) -> FloatArray:
    """Return the first principal axes, without those that are only rounding."""
    _, size, axes = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(axes[:columns][size[:columns] > rounding * size[0]])


def _scores(rows: FloatArray, axes: FloatArray, rounding: float) -> FloatArray:
    # (3.24)  scores = E x,  rest = 1/2 log(|x - E'E x|^2 + rounding)
    scores = rows @ axes.T
    left = np.square(rows - scores @ axes).sum(axis=1)
    least = np.square(rounding) * np.square(rows).sum(axis=1) + np.finfo(np.float64).tiny
    return np.column_stack([scores, 0.5 * np.log(left + least)])
