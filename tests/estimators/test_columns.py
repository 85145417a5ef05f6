"""Columns come and go with what `fit` stored."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from vbrand.estimators.columns import ColumnsOfFit
from vbrand.io.tables.validated import Columns


def test_columns_are_derived_from_the_fit():
    estimator = ColumnsOfFit()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = estimator.n_features_in_
    estimator._columns = Columns(2, ("ash", "fat"))
    assert estimator.n_features_in_ == 2
    assert estimator.feature_names_in_.dtype == np.dtype(object)
    assert estimator.feature_names_in_.tolist() == ["ash", "fat"]
    estimator._columns = Columns(3, None)
    assert estimator.n_features_in_ == 3
    assert not hasattr(estimator, "feature_names_in_")
