"""The MRCD estimator: scikit-learn's manners, sentences for errors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.estimator_checks import check_estimator

from vbrand import MRCD


@pytest.fixture
def rows():
    table = np.random.default_rng(0).normal(size=(100, 3)) * [1.0, 1e-6, 1e6]
    table[:25] += [9.0, 9e-6, 9e6]
    return table


def test_scikit_learn_accepts_it():
    check_estimator(MRCD())


def test_it_behaves_like_a_covariance_estimator(rows):
    fit = MRCD().fit(rows)
    assert not fit.support_[:25].any()
    assert fit.support_.sum() == 50
    units = np.outer([1.0, 1e-6, 1e6], [1.0, 1e-6, 1e6])
    np.testing.assert_allclose((fit.covariance_ / units) @ (fit.precision_ * units), np.eye(3), atol=1e-12)
    difference = rows - fit.location_
    expected = [row @ np.linalg.solve(fit.covariance_, row) for row in difference]
    np.testing.assert_allclose(fit.mahalanobis(rows), expected, rtol=1e-8)
    assert fit.score(rows[25:]) > EmpiricalCovariance().fit(rows).score(rows[25:])
    assert fit.error_norm(fit.covariance_) == 0.0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_columns_are_kept_and_compared(rows, frame):
    table = frame({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2]})
    fit = MRCD().fit(table)
    assert list(fit.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(fit.location_, MRCD().fit(rows).location_)
    with pytest.raises(ValueError, match="feature names"):
        fit.mahalanobis(table[["b", "a", "c"]])


def test_random_starts_are_repeatable(rows):
    first, second = (MRCD(n_random_starts=5, random_state=3).fit(rows) for _ in range(2))
    np.testing.assert_array_equal(first.covariance_, second.covariance_)


def test_a_column_half_of_whose_values_agree_has_an_answer():
    rows = np.random.default_rng(0).normal(size=(80, 3))
    rows[:60, 1] = 0.0
    fit = MRCD().fit(rows)
    assert np.isfinite(fit.precision_).all()


def test_a_nearly_constant_column_is_like_any_other():
    rows = np.random.default_rng(0).normal(size=(80, 2))
    plain = MRCD().fit(rows)
    flat = MRCD().fit(rows * [1.0, 1e-6] + [0.0, 7.0])
    np.testing.assert_allclose(flat.covariance_, plain.covariance_ * [[1.0, 1e-6], [1e-6, 1e-12]], rtol=1e-8)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda x: x.assign(width=3.0), "all values agree in column 'width'"),
        (lambda x: x.assign(width=[np.inf] * 2 + [1.0] * 98), "column 'width' has 2 infinite values"),
        (lambda x: x.assign(width=np.nan), "all values agree in column 'width'"),
        (lambda x: x.assign(**{name: x[name].where(x.index != 4) for name in x}), "row 4 has no value at all"),
        (lambda x: x.iloc[:2], "minimum of 3"),
        (lambda x: pd.concat([x.iloc[:1]] * 60 + [x.iloc[60:]]), "rows that lie closest together are identical"),
    ],
)
def test_bad_tables_get_a_sentence(rows, change, sentence):
    table = pd.DataFrame(rows, columns=["height", "width", "depth"])
    with pytest.raises(ValueError, match=sentence):
        MRCD().fit(change(table))


@pytest.mark.parametrize(
    "parameters",
    [{"support_fraction": 0.4}, {"rho": 1.5}, {"target": "sphere"}, {"max_condition": 0.5}, {"n_random_starts": -1}],
)
def test_bad_parameters_get_a_sentence(rows, parameters):
    with pytest.raises(ValueError, match="must be"):
        MRCD(**parameters).fit(rows)
