"""Robust fits of rows with missing cells: expectations between fits.

Missing cells start at the median of their column. Then, in turns: the fit of the filled rows; its scatter gets what it
lacks, the average covariance of the missing cells in its subset; and missing cells move to what centre and scatter lead
to expect of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from vbrand.model.gaps import completed, expected
from vbrand.robust.columns import medians
from vbrand.robust.mrcd import RobustFit
from vbrand.stage1.tuning import Stage1Tuning
from vbrand.types import BoolArray, FloatArray, IntArray

# turns at the most, and the way of an expectation, in scales of columns, that ends them
_TURNS = 20
_SMALL = 1e-3


@dataclass(frozen=True)
class White:
    """Coordinates in which modes are found: white ones; of rows with missing cells, which can't turn, the working ones.

    The model does not care which: where coordinates are not white, what it believes of scatters is.
    """

    root: FloatArray  # (p, p) from here to working coordinates
    inverse: FloatArray  # (p, p) and back
    sphere: FloatArray  # (p, p) the average scatter within classes
    turned: bool

    @classmethod
    def by(cls, root: FloatArray, inverse: FloatArray, turned: bool) -> "White":
        """Return the coordinates, given a root of the scatter within classes and its inverse."""
        unit = np.eye(root.shape[0])
        return cls(root, inverse, unit, turned) if turned else cls(unit, unit, root @ root.T, turned)

    def inward(self, rows: FloatArray) -> FloatArray:
        """Return rows of working coordinates here."""
        return np.asarray(rows @ self.inverse.T) if self.turned else rows

    def outward(self, rows: FloatArray) -> FloatArray:
        """Return rows from here in working coordinates."""
        return np.asarray(rows @ self.root.T) if self.turned else rows


def fit_with_gaps(rows: FloatArray, scale: FloatArray, fit: Callable[[FloatArray], RobustFit]) -> RobustFit:
    """Return the fit of rows, some cells of which are missing (NaN); `scale` is that of columns.

    A column without any value is one about 0 that has its scale, and no part in any other.
    """
    absent = np.isnan(rows)
    none = np.asarray(absent.all(axis=0))
    filled, spread = np.where(absent, medians(rows), rows), np.zeros((scale.size, scale.size))
    for _ in range(_TURNS):
        found = _widened(fit(filled), spread, none, scale)
        # (3.28)  x_m = E[x_m | x_o, centre, scatter]
        moved, cells = completed(rows, found.centre, found.precision)
        way = np.abs((moved - filled) / scale).max(initial=0.0)
        filled = moved
        # (3.27)  scatter + the mean of Cov[x_m | x_o] over the subset
        inside = found.subset[cells.row]
        total = np.bincount(cells.cell[inside], cells.value[inside], scale.size**2).reshape(spread.shape)
        spread = total / max(int(found.subset.sum()), 1)
        if way <= _SMALL:
            break
    return found


def _widened(fit: RobustFit, spread: FloatArray, none: BoolArray, scale: FloatArray) -> RobustFit:
    """Return a fit with a scatter that is larger by this."""
    scatter = fit.scatter + spread
    scatter[none] = 0.0
    scatter[:, none] = 0.0
    scatter[none, none] = np.square(scale[none])
    size = np.outer(scale, scale)
    precision, log_determinant = np.linalg.inv(scatter / size) / size, np.linalg.slogdet(scatter / size)[1]
    log_determinant = float(log_determinant + 2.0 * np.log(scale).sum())
    return replace(fit, scatter=scatter, precision=precision, log_determinant=log_determinant)


def observed_distances(rows: FloatArray, centre: FloatArray, precision: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return squared distances of rows in those of their columns that they have, and how many these are, (n,) each."""
    deviation = expected(rows, centre, precision)[0] - centre
    return np.einsum("ij,jk,ik->i", deviation, precision, deviation), (~np.isnan(rows)).sum(axis=1)


def near(distance: FloatArray, cells: IntArray, tuning: Stage1Tuning) -> BoolArray:
    """Return which rows do not lie far out, by the columns that they have: (3.15) with their number for p."""
    count = np.maximum(cells, 1)
    ratio = distance / stats.chi2.median(count)
    typical = max(float(np.median(ratio[cells > 0])), np.finfo(float).tiny)
    return np.asarray(distance <= count * stats.f.ppf(tuning.outlying, count, tuning.outlier_dof) * typical)
