"""Centre and scatter without regularisation: the reweighted MCD, and the plain mean and covariance."""

import numpy as np
from scipy import stats

from vbrand.robust.columns import column_scales
from vbrand.robust.mrcd import (
    RobustFit,
    SingularScatterError,
    TargetCoordinates,
    best_subset,
    fit_of_subset,
    frame_of,
    subset_size,
)
from vbrand.robust.subsets import starting_subsets
from vbrand.types import BoolArray, FloatArray

# rows beyond this chi-squared quantile of the raw fit get no weight in the second one
_REWEIGHTING_QUANTILE = 0.975
# a condition beyond this leaves the least direction fewer than six digits of double precision: bounds would fall
_WORST_CONDITION = 1e10


def fit_mcd(rows: FloatArray, *, support_fraction: float = 0.5) -> RobustFit:
    """Return the Minimum Covariance Determinant of the rows, reweighted once (Rousseeuw and Van Driessen 1999).

    It has the same six deterministic starts and concentration steps as the MRCD, and no target. As in R, the second
    fit is made consistent as if the rows that it leaves out were the outermost Gaussian ones.
    """
    n, p = rows.shape
    size = subset_size(n, support_fraction)
    scale = column_scales(rows, np.zeros(p))
    if size <= p or not scale.all():
        raise SingularScatterError(size, p)

    frame = frame_of(rows, "identity", scale)
    inner = frame.inward(rows)
    raw = fit_of_subset(rows, best_subset(inner, starting_subsets(inner, size), 0.0), 0.0, frame)

    # (3.14) (x - centre)' scatter^-1 (x - centre) <= the .975 quantile of chi2_p
    difference = rows - raw.centre
    distance = np.einsum("ij,jk,ik->i", difference, raw.precision, difference)
    kept = distance <= stats.chi2.ppf(_REWEIGHTING_QUANTILE, p)
    return _fit(rows, kept, frame)


def fit_empirical(rows: FloatArray) -> RobustFit:
    """Return mean and covariance of all rows."""
    n, p = rows.shape
    deviation = rows.std(axis=0, ddof=1)
    if n <= p or not (deviation > 0).all():
        raise SingularScatterError(n, p)
    frame = TargetCoordinates(rows.mean(axis=0), deviation, 0.0)
    return _fit(rows, np.ones(n, dtype=bool), frame)


def _fit(rows: FloatArray, subset: BoolArray, frame: TargetCoordinates) -> RobustFit:
    """Return centre and scatter of a subset; refuse a scatter that only rounding keeps from being singular."""
    fit = fit_of_subset(rows, subset, 0.0, frame)
    if fit.condition > _WORST_CONDITION:
        raise SingularScatterError(int(subset.sum()), rows.shape[1])
    return fit
