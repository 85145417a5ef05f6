"""Columns of files are categories by their type, by few levels, or because the user says so."""

import pandas as pd
import pytest

from vbrand.io.sources.levels import choice_in, levels_by_name, named_levels, placed
from vbrand.io.tables.categories import Category
from vbrand.io.tables.folders import open_tables
from vbrand.io.tables.frames import TableError


def frame_of(folder, **columns):
    own = {"ash": [0.5, 1.5, 2.5] * 3, "colour": ["red", "blue", None] * 3, "name": [f"n{i}" for i in range(9)]}
    table = pd.DataFrame(own | columns)
    table.to_parquet(folder / "t.parquet")
    return open_tables(str(folder / "t.parquet"))


def test_text_of_few_levels_booleans_and_typed_columns_are_categories(tmp_path):
    frame = frame_of(tmp_path, wet=[True, False, None] * 3, site=pd.Categorical([*"abcdefghi"]))
    names, categories, notes = choice_in(frame, set(), "auto")
    assert names == ["ash", "colour", "wet", "site"]
    assert levels_by_name(names, categories) == {
        "colour": ("blue", "red"),
        "wet": ("False", "True"),
        "site": tuple("abcdefghi"),
    }
    assert notes == ["columns that were not measured, because text: 'name'."]


def test_no_column_is_a_category_where_none_is_wanted_or_another_is_named(tmp_path):
    frame = frame_of(tmp_path, grade=[1, 2, 3] * 3)
    assert choice_in(frame, set(), None)[:2] == (["ash", "grade"], ())
    assert choice_in(frame, set(), ["grade"])[:2] == (["ash", "grade"], (Category(1, ("1", "2", "3")),))
    with pytest.raises(ValueError, match="categories names 'hue'"):
        choice_in(frame, set(), ["hue"])
    with pytest.raises(TableError, match="no column of numbers"):
        choice_in(frame, {"ash", "grade"}, None)


def test_names_of_rows_are_no_categories_whatever_the_user_says(tmp_path):
    frame = frame_of(tmp_path)
    assert named_levels(frame, ["colour"]) == {"colour": ("blue", "red")}
    assert placed(["ash", "colour"], {"colour": ("blue", "red")}) == (Category(1, ("blue", "red")),)
    pd.DataFrame({"name": [f"row {i}" for i in range(1_500)]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"column 'name' of t.parquet has 1,500 levels in 1,500 rows: an id"):
        named_levels(open_tables(str(tmp_path / "t.parquet")), ["name"])
