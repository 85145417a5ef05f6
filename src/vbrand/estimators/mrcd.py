"""MRCD as an estimator: robust centre and covariance of any table, also with more columns than rows."""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vbrand.checks import check_choice, check_number, check_seed, check_whole
from vbrand.estimators.columns import ColumnsOfFit
from vbrand.io.tables.validated import first_rows, more_rows
from vbrand.robust.columns import column_scales, constant_columns, stand_in_scale
from vbrand.robust.mrcd import TargetName, fit_mrcd
from vbrand.stage1.gaps import fit_with_gaps, observed_distances
from vbrand.types import FloatArray


class MRCD(ColumnsOfFit, EmpiricalCovariance):  # type: ignore[misc]
    """Minimum Regularized Covariance Determinant: a robust location and covariance.

    Finds the `support_fraction` of the rows that lie closest together, in a metric that is shrunk towards a target so
    that it exists for any number of columns, and returns their mean and covariance (Boudt, Rousseeuw, Vanduffel and
    Verdonck 2020). Deterministic; up to half of the rows may be outliers of any kind. Multiplying a column by a
    positive constant or shifting it changes the answer by just that.

    Parameters
    ----------
    support_fraction : float in [0.5, 1], default 0.5
        Share of the rows that the estimate rests on. 0.5 survives the most outliers, 0.75 is more efficient.
    target : "identity" or "equicorrelation", default "identity"
        What the covariance is shrunk to, in units of robust scales: uncorrelated columns, or all equally correlated.
    rho : float in [0, 1], optional
        Weight of the target. By default the least that keeps the condition number near `max_condition` for the
        starting subsets: 1e-6 for ordinary tables, more for collinear columns or few rows.
    max_condition : float, default 50
        The condition number, relative to the target, that `rho` is chosen for.
    n_random_starts : int, default 0
        Random starting subsets beyond the six deterministic ones.
    random_state : int, RandomState or None, default None
        Seed of the random starts; without them it is not used.

    Attributes
    ----------
    location_, covariance_, precision_ : arrays of shape (p,), (p, p), (p, p)
    support_ : boolean array of shape (n,), the rows that the estimate rests on
    rho_ : float, the weight of the target
    condition_ : float, condition number of the covariance relative to the target
    log_determinant_ : float, of the covariance: what the method minimises

    Notes
    -----
    At least three rows are needed. A column in which half of the values agree has no robust scale; the unit of its
    target is then the spread of the others. Constant columns are refused by name, and so is a table in which half of
    the rows are identical. Duplicated columns are fine (`rho_` then exceeds 1e-6).
    Missing cells (NaN) are taken for what centre and covariance lead to expect of them, in turns with the fit; their
    conditional covariance, averaged over the subset, is added to the covariance.
    For Gaussian rows the covariance is consistent in scale; its determinant is too small in small samples, as in R.

    Examples
    --------
    >>> import numpy as np
    >>> from vbrand import MRCD
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[:60] += 10  # 30 % of outliers
    >>> fit = MRCD().fit(rows)
    >>> bool(fit.support_[:60].any()), bool(abs(fit.location_).max() < 0.5)
    (False, True)
    """

    location_: FloatArray
    covariance_: FloatArray
    precision_: FloatArray

    def __init__(
        self,
        *,
        support_fraction: float = 0.5,
        target: TargetName = "identity",
        rho: float | None = None,
        max_condition: float = 50.0,
        n_random_starts: int = 0,
        random_state: Any = None,
    ) -> None:
        self.support_fraction = support_fraction
        self.target = target
        self.rho = rho
        self.max_condition = max_condition
        self.n_random_starts = n_random_starts
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate location and covariance of the rows.

        Parameters
        ----------
        X : table of shape (n, p)
            At least three rows; cells may be missing.
        y : ignored
            For scikit-learn's tools.

        Returns
        -------
        self
            With `location_`, `covariance_` and what else stands under Attributes.

        Examples
        --------
        >>> MRCD().fit([[0.0, 1.0], [1.0, 0.5], [0.5, 0.2], [0.2, 0.8], [90.0, -90.0]]).support_
        array([ True, False,  True,  True, False])
        """
        self._check_parameters()
        given, columns = first_rows(self, X, 3)
        rows = given.astype(np.float64)
        if np.isnan(rows).all(axis=1).any():
            empty = int(np.flatnonzero(np.isnan(rows).all(axis=1))[0])
            raise ValueError(f"row {empty} has no value at all. Leave such rows out.")
        constant = np.flatnonzero(constant_columns(rows))
        if constant.size:
            raise ValueError(f"all values agree in {columns.listed(constant)}: no scale can be had. Drop them.")

        generator = None
        if self.n_random_starts:
            generator = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        scale = column_scales(rows, stand_in=stand_in_scale(rows))
        robust = partial(
            fit_mrcd,
            scale=scale,
            support_fraction=self.support_fraction,
            target=self.target,
            rho=None if self.rho is None else float(self.rho),
            max_condition=self.max_condition,
            random_starts=self.n_random_starts,
            generator=generator,
        )
        fit = fit_with_gaps(rows, scale, robust) if np.isnan(rows).any() else robust(rows)

        self._columns = columns
        self.location_ = fit.centre
        self.covariance_ = fit.scatter
        self.precision_ = fit.precision
        self.support_ = fit.subset
        self.rho_ = fit.rho
        self.condition_ = fit.condition
        self.log_determinant_ = fit.log_determinant
        return self

    def get_precision(self) -> FloatArray:
        """Return the inverse of the covariance.

        Returns
        -------
        array of shape (p, p)
            `precision_`.

        Examples
        --------
        >>> fit = MRCD().fit(np.random.default_rng(0).normal(size=(50, 2)))
        >>> (fit.get_precision() @ fit.covariance_).round(6) + 0.0
        array([[1., 0.],
               [0., 1.]])
        """
        return self.precision_

    def mahalanobis(self, X: Any) -> FloatArray:
        """Return the squared Mahalanobis distance of each row to the location, in the columns that it has.

        Parameters
        ----------
        X : table of shape (n, p)
            Rows with the columns of `fit`.

        Returns
        -------
        array of shape (n,)
            Squared distances.

        Examples
        --------
        >>> fit = MRCD().fit(np.random.default_rng(0).normal(size=(50, 2)))
        >>> fit.mahalanobis([[0.0, 0.0], [30.0, 30.0]]) > 100
        array([False,  True])
        """
        check_is_fitted(self)
        rows = more_rows(self, X, self._fitted_columns)
        if np.isnan(rows).any():
            return observed_distances(rows.astype(np.float64), self.location_, self.precision_)[0]
        difference = rows - self.location_
        return np.asarray(np.einsum("ij,jk,ik->i", difference, self.precision_, difference, optimize=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        check_number("support_fraction", self.support_fraction, 0.5, 1.0)
        if self.rho is not None:
            check_number("rho", self.rho, 0.0, 1.0)
        check_number("max_condition", self.max_condition, 1.0, open_low=True)
        check_choice("target", self.target, ("identity", "equicorrelation"))
        check_whole("n_random_starts", self.n_random_starts, 0)
        check_seed(self.random_state)
