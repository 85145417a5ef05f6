"""Frames out are like the tables that came in."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from vbrand.io.tables.likeness import Given, Likeness

COLUMNS = {"label": np.array(["oat", "rye"]), "rows": np.array([3, 4]), "doubtful": np.array([True, False])}


@pytest.mark.parametrize("table", [pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "y"]), pl.DataFrame({"a": [1.0, 2.0]})])
def test_a_frame_is_of_the_package_that_the_table_was_of(table):
    frame = Likeness.of(table).frame(COLUMNS)
    assert type(frame) is type(table)
    assert list(frame.columns) == ["label", "rows", "doubtful"]
    assert frame["label"].to_list() == ["oat", "rye"]
    assert frame["doubtful"].to_list() == [True, False]


def test_the_index_of_pandas_is_kept_and_names_the_rows():
    likeness = Likeness.of(pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[7, 0, 5]))
    assert likeness.names == ["7", "0", "5"]
    some = likeness.of_rows(np.array([True, False, True]))
    assert some.frame(COLUMNS).index.tolist() == [7, 5]
    assert some.without_index().frame(COLUMNS).index.tolist() == [0, 1]


@pytest.mark.parametrize("table", [np.zeros((2, 1)), [[0.0], [1.0]]])
def test_of_an_array_there_is_a_pandas_frame(table):
    likeness = Likeness.of(table)
    assert likeness.names is None
    assert likeness.of_rows(np.array([True, False])) is likeness
    assert isinstance(likeness.frame(COLUMNS), pd.DataFrame)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_truths_that_nobody_knows_are_missing(package):
    frame = Likeness(package).frame({"rows": np.array([1, 2]), "doubtful": None})
    assert str(frame["doubtful"].dtype).lower() == "boolean"
    assert all(each is None or each is pd.NA for each in frame["doubtful"].to_list())


def test_without_pandas_frames_are_of_polars_and_without_both_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(Likeness().frame(COLUMNS), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert Likeness.of(Given(np.zeros((1, 1)), Likeness())).package is None
    with pytest.raises(ImportError, match="needs the package pandas or polars: pip install"):
        Likeness().frame(COLUMNS)
