"""Whatever is called a table becomes rows of floats, or one sentence."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from vbrand.io.tables.validated import Columns, first_rows, is_number, more_rows


class Estimator(BaseEstimator):
    """Has the name that scikit-learn's sentences use."""


ROWS = np.arange(6.0).reshape(3, 2)


def rows_of(table, least_rows=1):
    return first_rows(Estimator(), table, least_rows)[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_floats_are_not_copied(dtype):
    table = ROWS.astype(dtype)
    rows = rows_of(table)
    assert rows.dtype == dtype
    assert np.shares_memory(rows, table)


@pytest.mark.parametrize(
    "table",
    [
        ROWS.astype(int),
        ROWS.tolist(),
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS, schema=["a", "b"]),
        ROWS.astype(str).astype(object),
    ],
)
def test_tables_of_all_kinds_are_the_same_rows(table):
    rows = rows_of(table)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, ROWS)


def test_names_of_columns_are_told_and_the_estimator_stays_as_it_is():
    estimator = Estimator()
    _, columns = first_rows(estimator, pd.DataFrame(ROWS, columns=["ash", "fat"]), 1)
    assert columns == Columns(2, ("ash", "fat"))
    assert first_rows(estimator, ROWS, 1)[1] == Columns(2, None)
    assert vars(estimator) == {}
    assert columns.called(1) == "column 'fat'"
    assert Columns(2, None).called(1) == "column 1"


def test_columns_of_another_table_are_compared_with_those_of_the_fit():
    estimator = Estimator()
    estimator.n_features_in_, estimator.feature_names_in_ = 2, np.array(["ash", "fat"], dtype=object)
    columns = Columns(2, ("ash", "fat"))
    np.testing.assert_array_equal(more_rows(estimator, pd.DataFrame(ROWS, columns=["ash", "fat"]), columns), ROWS)
    with pytest.raises(ValueError, match="feature names"):
        more_rows(estimator, pd.DataFrame(ROWS, columns=["fat", "ash"]), columns)
    with pytest.raises(ValueError, match="column 'fat' has 1 infinite values"):
        more_rows(estimator, pd.DataFrame([[1.0, np.inf]], columns=["ash", "fat"]), columns)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_an_infinite_number_is_counted_and_its_column_named(bad):
    table = pd.DataFrame(np.ones((5, 3)), columns=["ash", "fat", "salt"])
    table.loc[[1, 2], "fat"] = bad
    with pytest.raises(ValueError, match=r"column 'fat' has 2 infinite values\. Correct them"):
        rows_of(table)
    table.loc[4, "ash"] = np.inf
    with pytest.raises(ValueError, match=r"column 'fat' .*, and 1 more columns have such values too"):
        rows_of(table)


@pytest.mark.parametrize(
    "table",
    [
        np.array([[1.0, np.nan], [2.0, 3.0]]),
        [[1.0, None], [2.0, 3.0]],
        pd.DataFrame({"a": [1.0, 2.0], "b": [None, 3.0]}),
        pd.DataFrame({"a": [1, 2], "b": [pd.NA, 3]}, dtype="Int64"),
        pd.DataFrame({"a": [1.0, 2.0], "b": pd.array([pd.NA, 3.0], dtype="Float64")}),
        pd.DataFrame({"a": [1.0, 2.0], "b": [pd.NA, 3.0]}),
        pl.DataFrame({"a": [1.0, 2.0], "b": [None, 3.0]}),
        pl.DataFrame({"a": [1, 2], "b": [None, 3]}),
        np.ma.masked_equal(np.array([[1, 9], [2, 3]]), 9),
        np.ma.masked_equal(np.array([[1.0, 9.0], [2.0, 3.0]], np.float32), 9.0),
    ],
    ids=lambda table: type(table).__module__ + "." + type(table).__name__,
)
def test_missing_cells_of_every_kind_are_nan(table):
    rows, _ = first_rows(Estimator(), table, 1)
    np.testing.assert_array_equal(rows, [[1.0, np.nan], [2.0, 3.0]])


def test_infinite_numbers_are_refused_beside_missing_ones():
    table = pd.DataFrame({"ash": [1.0, np.nan], "fat": [np.inf, 2.0]})
    with pytest.raises(ValueError, match=r"column 'fat' has 1 infinite values\. Correct them"):
        first_rows(Estimator(), table, 1)


def test_numbers_whose_sum_is_infinite_are_fine():
    rows = np.full((4, 2), 1e308)
    np.testing.assert_array_equal(rows_of(rows), rows)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pd.DataFrame({"a": [1, 2], "b": ["3", "x"]}), r"column 'b' holds text \('x' in row 1\); numbers are expected"),
        ([[1.0, "low"], [2.0, "3"]], r"column 1 holds text \('low' in row 0\)"),
        ([[1.0, "low" * 999], [2.0, "3"]], r"column 1 holds text \('low.{0,100}\.\.\. in row 0\)"),
        (pd.DataFrame({"a": [1, 2], "day": pd.to_datetime(["2020", "2021"])}), "column 'day' holds dates or times"),
        (pd.DataFrame({"wait": pd.to_timedelta([1, 2], unit="s")}), "column 'wait' holds dates or times"),
        (pd.DataFrame({"week": pd.period_range("2020", periods=2)}), "column 'week' holds dates or times"),
        (pl.DataFrame({"day": [1, 2]}).with_columns(pl.col("day").cast(pl.Date)), "column 'day' holds dates or times"),
    ],
)
def test_text_and_dates_are_refused_by_the_name_of_their_column(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        rows_of(table)


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="minimum of 4"):
        rows_of(ROWS, least_rows=4)


def test_of_many_columns_the_first_few_are_named():
    assert Columns(9, None).listed(np.array([3, 5])) == "column 3, column 5"
    assert Columns(9, None).listed(np.arange(7), most=2) == "column 0, column 1 and 5 more"
    assert Columns(2, ("ash", "fat")).listed(np.array([1])) == "column 'fat'"


@given(st.floats() | st.integers())
def test_what_python_prints_of_a_number_is_one(number):
    assert is_number(str(number))


@pytest.mark.parametrize("text", ["", "a", "1,5", "1.5 mg", "--1", "1e", "0x10"])
def test_other_text_is_no_number(text):
    assert not is_number(text)


def test_cells_that_are_masked_are_not_taken_for_numbers():
    masked = np.ma.masked_less(np.array([[1.0, -1.0], [-2.0, 3.0]]), 0.0)
    np.testing.assert_array_equal(rows_of(masked), [[1.0, np.nan], [np.nan, 3.0]])
    whole = np.ma.masked_less(np.array([[1.0, 2.0], [3.0, 4.0]]), 0.0)
    np.testing.assert_array_equal(rows_of(whole), whole.data)


@pytest.mark.parametrize("table", ["known.csv", b"known.csv", Path("known.csv")])
def test_the_name_of_a_table_is_no_table(table):
    with pytest.raises(ValueError, match=r"known\.csv.*a table is expected, not its name"):
        rows_of(table)


@pytest.mark.parametrize("table", [np.arange(50.0), 5, None, np.ones((50, 2)) * 1j])
def test_what_is_no_table_gets_one_line_without_its_rows(table):
    with pytest.raises(ValueError, match=r"Expected 2D array|Complex data not supported") as caught:
        rows_of(table)
    assert "\n" not in str(caught.value)
