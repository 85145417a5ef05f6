"""The columns that an estimator was fitted with, as scikit-learn asks for them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from vbrand.io.tables.validated import Columns


class ColumnsOfFit:
    """Derives `n_features_in_` and `feature_names_in_` from what `fit` stored, so that they come and go with it."""

    _columns: Columns | None = None

    @property
    def n_features_in_(self) -> int:
        """Return the number of columns."""
        return self._fitted_columns.count

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Return the names of the columns; there is no such attribute where they have none."""
        if self._fitted_columns.names is None:
            raise AttributeError(f"{type(self).__name__} was fitted to a table whose columns have no names.")
        return np.array(self._fitted_columns.names, dtype=object)

    @property
    def _fitted_columns(self) -> Columns:
        if self._columns is None:
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call `fit` first.")
        return self._columns
