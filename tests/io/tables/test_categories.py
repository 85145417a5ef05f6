"""Which columns are categories, and what number stands for each level."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from vbrand.io.tables.categories import Category, coded, few_levels, numbers_of, recoded, settled, texts_again, texts_of
from vbrand.io.tables.validated import Columns

FRAME = {
    "size": [1.5, 2.5, 0.5, 3.5, 1.0, 2.0],
    "colour": ["red", "blue", None, "red", "red", "blue"],
    "ripe": [True, False, True, True, False, False],
    "code": [1, 2, 1, 2, 1, 2],
    "note": ["a", "b", "c", "d", "e", "f"],
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_of_few_levels_and_booleans_are_categories_and_numbers_and_free_text_are_not(frame):
    table, found = coded(frame({name: FRAME[name] * 2 for name in ("size", "colour", "ripe", "code")}), "auto")
    assert found == (Category(1, ("blue", "red")), Category(2, ("False", "True")))
    assert np.asarray(table["colour"].to_numpy(), dtype=float)[:3].tolist()[:2] == [1.0, 0.0]
    assert np.isnan(float(table["colour"].to_numpy()[2]))
    assert list(table.columns) == ["size", "colour", "ripe", "code"]
    untouched = frame({"note": FRAME["note"]})
    assert coded(untouched, "auto")[0] is untouched


def test_types_that_say_category_are_whatever_they_hold():
    table = pd.DataFrame({"a": pd.Categorical([3, 1, 3]), "b": pd.array([True, None, False], dtype="boolean")})
    assert coded(table, "auto")[1] == (Category(0, ("1", "3")), Category(1, ("False", "True")))
    assert coded(pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Categorical}), "auto")[1] == (Category(0, ("x", "y")),)
    assert coded(table, None)[1] == ()


def test_columns_are_named_by_name_or_place():
    table = pd.DataFrame(FRAME)
    assert coded(table, ["code"])[1] == (Category(3, ("1", "2")),)
    array, found = coded(np.array([[1.0, 7.0], [2.0, 7.5], [3.0, np.nan]]), [1])
    assert found == (Category(1, ("7", "7.5")),)
    assert array[:, 1].tolist()[:2] == [0.0, 1.0]
    with pytest.raises(ValueError, match="categories names 'colur'; the table has no such column"):
        coded(table, ["colur"])


@pytest.mark.parametrize("wanted", [3, np.array("code"), np.eye(2), np.array([["code"]]), {"code": 1}, b"code"])
def test_categories_are_a_list(wanted):
    with pytest.raises(ValueError, match="give 'auto', None, or a list of names or places of columns") as error:
        coded(pd.DataFrame(FRAME), wanted)
    assert "\n" not in str(error.value)
    assert coded(pd.DataFrame(FRAME), {"code"})[1] == coded(pd.DataFrame(FRAME), np.array(["code"]))[1]


def test_fifty_thousand_levels_are_an_id():
    table = pd.DataFrame({"name": [f"plant {i}" for i in range(50_000)]})
    with pytest.raises(ValueError, match="column 'name' has 50,000 levels in 50,000 rows: an id or free text, not a"):
        coded(table, ["name"])
    assert coded(table, "auto")[1] == ()


def test_levels_are_those_of_labelled_rows_the_commonest_first():
    rows = np.array([[0.0], [1.0], [2.0], [2.0], [0.0], [np.nan], [3.0]])
    labelled = np.array([True, True, True, True, False, True, False])
    settled_rows, found = settled(rows, (Category(0, ("a", "b", "c", "d")),), labelled)
    assert found == (Category(0, ("c", "a", "b")),)
    assert settled_rows[[0, 1, 2, 3, 4, 6], 0].tolist() == [1.0, 2.0, 0.0, 0.0, 1.0, 3.0]
    assert np.isnan(settled_rows[5, 0])
    assert rows[0, 0] == 0.0


@pytest.mark.parametrize("numbers", [0, 1])
def test_the_numbers_of_levels_that_are_equally_common_do_not_follow_from_their_names(numbers):
    generator = np.random.default_rng(numbers)
    rows = np.column_stack([generator.normal(size=(60, numbers)), generator.permutation(np.arange(60) % 4)])
    rows = np.column_stack([rows, generator.integers(0, 4, 60), generator.integers(0, 4, 60)]).astype(float)
    other = rows.copy()
    other[:, numbers] = np.array([2.0, 0.0, 3.0, 1.0])[rows[:, numbers].astype(int)]
    categories = tuple(Category(numbers + j, ("a", "b", "c", "d")) for j in range(3))
    one, two = (settled(table, categories, np.arange(60) < 40)[0] for table in (rows, other))
    np.testing.assert_array_equal(one, two)


def test_another_table_has_the_same_numbers_and_other_levels_share_the_last_one():
    known, columns = (Category(1, ("red", "blue")),), Columns(2, ("size", "colour"))
    table = recoded(pd.DataFrame({"size": [1, 2, 3, 4], "colour": ["blue", "green", None, "red"]}), known, columns)
    assert table["colour"].tolist()[:2] == [1.0, 2.0]
    assert np.isnan(table["colour"][2])
    assert texts_again(np.array([1.0, 2.0, np.nan, 0.0]), ("red", "blue")) == ["blue", "another level", None, "red"]
    narrow = pd.DataFrame({"size": [1]})
    assert recoded(narrow, known, columns) is narrow


def test_cells_say_the_same_whatever_type_they_have():
    assert texts_of([1, 1.0, "1", True, None, float("nan"), pd.NA, " ", 2.5]) == [
        "1",
        "1",
        "1",
        "True",
        None,
        None,
        None,
        None,
        "2.5",
    ]
    assert numbers_of(["b", "z", "a"], ("a", "b")).tolist() == [1.0, 2.0, 0.0]


def test_few_levels_are_repeated_and_mostly_no_numbers():
    assert few_levels(["red", "blue"] * 3)
    assert few_levels(["red"] * 3)
    assert not few_levels(["red", "blue"])
    assert not few_levels(["1", "2", "x"] * 3)
    assert not few_levels([None] * 9)
    assert not few_levels([f"name {i}" for i in range(51)] * 9)
