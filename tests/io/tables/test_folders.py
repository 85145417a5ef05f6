"""Many files are one table, in the order of their names, or one sentence says why they are not."""

import numpy as np
import pandas as pd
import pytest

from vbrand.io.tables.folders import files_of, joined, open_tables
from vbrand.io.tables.frames import OddCells, TableError

TABLE = pd.DataFrame({"a": np.arange(10.0), "b": np.arange(10), "class": ["oat", None] * 5})


@pytest.fixture
def folder(tmp_path):
    """Return a folder with parts of one row, of no row, and of several, in three formats."""
    (tmp_path / "year").mkdir()
    TABLE[:1].to_parquet(tmp_path / "1.parquet")
    TABLE[1:1].to_parquet(tmp_path / "2.parquet")
    TABLE[1:6].to_csv(tmp_path / "3.csv", index=False)
    TABLE[6:].reset_index(drop=True).to_feather(tmp_path / "year" / "4.feather")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".3.csv.crc").write_text("?")
    return tmp_path


def test_a_folder_is_all_its_files(folder):
    frame = open_tables(str(folder), {"class"})
    assert (frame.rows, frame.columns, frame.numeric) == (10, ("a", "b", "class"), {"a", "b"})
    np.testing.assert_array_equal(frame.numbers(["b", "a"]), TABLE[["b", "a"]])
    assert frame.texts("class") == ["oat", None] * 5


def test_a_pattern_is_the_files_that_match(folder):
    assert open_tables(str(folder / "*.parquet")).rows == 1
    assert open_tables(str(folder / "**" / "*.feather")).rows == 4
    assert files_of(str(folder / "3.csv")) is None
    assert open_tables(str(folder / "3.csv")).rows == 5


def test_nothing_that_matches_is_told(tmp_path):
    with pytest.raises(TableError, match="holds no tables"):
        open_tables(str(tmp_path))
    with pytest.raises(TableError, match="there is no file that matches"):
        open_tables(str(tmp_path / "*.csv"))


def test_cells_of_text_among_numbers_are_counted_over_all_files(tmp_path):
    for name, cells in (("2", ["3", "-", "<1"]), ("3", ["n.d.", "5"])):
        pd.DataFrame({"a": cells, "b": 1.0}).to_csv(tmp_path / f"{name}.csv", index=False)
    assert open_tables(str(tmp_path)).mixed == {"a": OddCells(2, ("-", "<1"), 3, 2)}


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (TABLE.drop(columns="b"), "1.parquet has a column 'b', and 5.parquet has none"),
        (TABLE.assign(c=1.0), "5.parquet has a column 'c', and 1.parquet has none"),
        (TABLE.assign(b="x"), "column 'b' holds numbers in 1.parquet and something else in 5.parquet"),
        (TABLE.assign(b=pd.Categorical(["x", "y"] * 5)), "column 'b' holds numbers in 1.parquet and something else"),
    ],
)
def test_files_that_differ_are_refused(folder, other, sentence):
    other.to_parquet(folder / "5.parquet")
    with pytest.raises(TableError, match=sentence):
        open_tables(str(folder), {"class"})


def test_files_that_change_or_vanish_half_way_are_told(folder):
    frame = open_tables(str(folder / "*.parquet"))
    TABLE[:4].to_parquet(folder / "1.parquet")
    with pytest.raises(TableError, match=r"1\.parquet was changed while it was read"):
        frame.numbers(["a"])
    (folder / "1.parquet").unlink()
    with pytest.raises(TableError, match=r"1\.parquet has vanished while it was read"):
        frame.numbers(["a"])


def test_a_file_that_changes_while_its_rows_are_read_is_told(folder):
    frame = joined("t", [folder / "3.csv"])
    batches = frame.batches(["a"])
    next(batches)
    (folder / "3.csv").write_text("a,b,class\n1,2,oat\n")
    with pytest.raises(TableError, match="was changed while it was read"):
        list(batches)
