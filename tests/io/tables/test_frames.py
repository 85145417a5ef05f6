"""A table in a file: cells as text or numbers, batch by batch, with errors that say where."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow
import pytest
from calls import discover, refused
from hypothesis import given
from hypothesis import strategies as st
from tables import write_grain

import vbrand
from vbrand.io.tables import frames
from vbrand.io.tables.frames import Frame, OddCells, TableError, batch_rows, batches_of, checked_names, listed


def frame_of(columns, mixed=None, single=False):
    """Return a frame of columns in memory."""
    table = pyarrow.table(columns)
    numeric = {name for name in columns if not pyarrow.types.is_string(table.schema.field(name).type)}
    batches = partial(batches_of, table)
    return Frame("t.csv", tuple(columns), table.num_rows, frozenset(numeric), single, mixed or {}, frozenset(), batches)


@pytest.fixture
def in_threes(monkeypatch):
    """Read batches of three rows."""
    monkeypatch.setattr(frames, "BATCH_ROWS", 3)


@given(st.lists(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=2), min_size=1, max_size=10), st.randoms())
def test_numbers_come_back_each_row_in_its_place(rows, random):
    rows = np.array(rows)
    frame = frame_of({"a": rows[:, 0], "b": rows[:, 1]})
    np.testing.assert_array_equal(frame.numbers(["b", "a"]), rows[:, ::-1])
    places = np.array(random.sample(range(len(rows)), len(rows)))
    np.testing.assert_array_equal(frame.numbers(["a", "b"], places)[places], rows)


@pytest.mark.parametrize(("single", "dtype"), [(True, np.float32), (False, np.float64)])
def test_numbers_of_single_precision_stay_so(in_threes, single, dtype):
    frame = frame_of({"a": np.arange(7, dtype=dtype)}, single=single)
    assert frame.numbers(["a"]).dtype == dtype
    assert frame.numbers(["a"])[:, 0].tolist() == list(range(7))


def test_texts_are_trimmed_and_empty_cells_are_none(in_threes):
    frame = frame_of({"name": pyarrow.array([" a ", "", None, "  ", "1.0"]), "x": [1.0, 2.5, None, float("nan"), -3.0]})
    assert frame.texts("name") == ["a", None, None, None, "1.0"]
    assert frame.texts("x") == ["1", "2.5", None, None, "-3"]  # whole numbers that an empty cell made floats


def test_whole_numbers_that_only_grow_are_told(in_threes):
    n = np.arange(8.0)
    columns = {"squares": n**2, "halves": n / 2, "down": -n, "stops": np.minimum(n, 6)}
    frame = frame_of(columns)
    assert frame.growing(list(columns)) == ["squares"]
    assert frame_of({"a": [0.0, 1.0]}).growing(["a"]) == []
    assert frame_of({"a": [0.0, 1.0, 2.0]}).growing([]) == []


def test_values_of_a_column_have_gaps_where_cells_are_empty(in_threes):
    frame = frame_of({"a": [1.0, None, 2.5, 4.0]})
    np.testing.assert_array_equal(frame.values("a"), [1.0, np.nan, 2.5, 4.0])
    assert frame.first_texts("a", 2) == ["1", None]


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        ("proteine", "Did you mean 'protein'?"),
        ("ASH", "Did you mean 'Ash'?"),
        ("colour", "Its columns are: 'protein', 'Ash', 'fat'."),
        ("fat,Ash", "Repeat --ignore for each column."),
    ],
)
def test_a_column_that_there_is_not_gets_a_hint(column, hint):
    frame = frame_of({"protein": [1.0], "Ash": [2.0], "fat": [3.0]})
    frame.require("Ash", "--ignore")
    with pytest.raises(TableError) as caught:
        frame.require(column, "--ignore")
    assert str(caught.value) == f"t.csv has no column '{column}' (--ignore). {hint}"


def test_an_infinite_number_is_found_in_the_row_of_the_table_and_a_missing_one_is_nan():
    frame = frame_of({"a": [1.0, 2.0, None], "b": [1.0, None, float("inf")]})
    turned = np.array([2, 1, 0])
    for places in (None, turned):
        with pytest.raises(TableError, match=r"column 'b' of t.csv .* in row 3 \(such cells in all: 1; columns with"):
            frame.numbers(["a", "b"], places)
    np.testing.assert_array_equal(frame.numbers(["a"]), [[1.0], [2.0], [np.nan]])


@pytest.mark.parametrize(("cell", "comma"), [("1,5", True), ("<5", False), ("1,5 mg", False)])
def test_text_among_numbers_is_refused_with_its_row_and_doubts_about_commas(cell, comma):
    frame = frame_of({"a": ["1", cell]}, mixed={"a": OddCells(2, (cell,))})
    with pytest.raises(TableError) as caught:
        frame.numbers(["a"], advice="do without")
    said = str(caught.value)
    assert said.startswith(f"column 'a' of t.csv holds text ({cell!r} in row 2); numbers are expected.")
    assert said.endswith("Correct it, or leave it empty, which counts as missing, or do without.")
    assert ("decimal comma" in said) == comma


def test_many_cells_of_text_are_counted_and_a_few_are_shown():
    assert str(OddCells.among(["-"], [4])) == "'-' in row 5"
    assert str(OddCells.among(["-", "-"], [4, 9])) == "'-' in row 5; 2 such cells"
    assert str(OddCells.among(["<1", "-", "<1"], [4, 5, 6])) == "'<1' in row 5, then '-'; 3 such cells"
    many = OddCells.among(["<0.05", "n.d.", "-", "#DIV/0!"] * 1_000, range(1, 4_001))
    assert str(many) == "'<0.05' in row 2, then 'n.d.', '-' and others; 4,000 such cells"
    with pytest.raises(
        TableError, match=r"Correct them, or leave them empty, which counts as missing, or do without\."
    ):
        frame_of({"a": ["1", "-"]}, mixed={"a": many}).numbers(["a"], advice="do without")


@pytest.mark.parametrize("cell", ["12.3 %", "10.123,4", "5 mg"])
def test_of_a_column_that_was_to_be_numbers_the_first_cell_is_shown(cell):
    with pytest.raises(TableError) as caught:
        frame_of({"b": [None, cell]}).numbers(["b"], advice="do without")
    assert str(caught.value) == (
        f"column 'b' of t.csv holds no numbers ('{cell}' in row 2); numbers such as 1234.5 are expected, without "
        "units, per cent signs or marks between thousands. Correct the cells, or do without."
    )
    with pytest.raises(TableError, match=r"column 'b' of t\.csv is empty; numbers are expected\. Fill it in, or do"):
        frame_of({"b": pyarrow.array([None, None], pyarrow.string())}).numbers(["b"], advice="do without")


def test_of_many_names_the_first_few_are_listed():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed([str(k) for k in range(9)], 3) == "'0', '1', '2' and 6 more"


def test_two_columns_of_one_name_are_refused():
    assert checked_names("t.csv", ["a", "A"]) == ("a", "A")
    with pytest.raises(TableError, match=r"two columns of t\.csv are called 'a'"):
        checked_names("t.csv", ["a", "b", "a"])


def test_text_among_numbers_is_found(tmp_path):
    train, test = write_grain(tmp_path)
    lines = test.read_text().splitlines()
    cells = lines[17].split(",")
    cells[1] = "<0.5"
    test.write_text("\n".join([*lines[:17], ",".join(cells), *lines[18:]]))
    said = refused(tmp_path, train, test, "--label", "variety")
    assert said.startswith("column 'protein' of test.csv holds text ('<0.5' in row 17); numbers are expected.")
    cells[1] = "inf"
    test.write_text("\n".join([*lines[:17], ",".join(cells), *lines[18:]]))
    said = refused(tmp_path, train, test, "--label", "variety")
    assert said.startswith("column 'protein' of test.csv has an infinite number in row 17 (such cells in all: 1;")
    test.write_text("\n".join([*lines[:17], ",".join(cells[:2]), *lines[18:]]))
    said = refused(tmp_path, train, test, "--label", "variety")
    assert said.startswith("row 17 of test.csv has 2 cells where the header has 4 names")


def test_a_first_batch_of_few_rows_is_not_the_table(tmp_path):
    train, test = write_grain(tmp_path)
    for path in (train, test):
        table = pd.read_csv(path)
        table.insert(0, "first", [5.0, 6.0, 7.0, *table["ash"][3:]])
        table.to_feather(path, chunksize=3)
    discover(tmp_path, train, test, "--label", "variety", "-q")
    assert "first" in vbrand.load(tmp_path / "out" / "model.vbrand").feature_names_in_


def test_many_columns_may_grow():
    frame = frame_of({f"c{j}": [1.0, 5.0, 9.0] for j in range(20_000)})
    assert len(frame.growing(frame.columns)) == 20_000


def test_a_long_cell_is_not_shown_whole():
    with pytest.raises(TableError, match=r"holds text \('1{50,60}\.\.\. in row 3\)"):
        frame_of({"a": ["1"]}, mixed={"a": OddCells(3, ("1" * 5_000 + "x",))}).numbers(["a"])


def test_batches_hold_so_many_numbers_whatever_the_columns():
    assert batch_rows(["a"]) == 65_536
    assert batch_rows(["a"] * 32) == 4_096
    assert batch_rows(["a"] * 10**6) == 1
