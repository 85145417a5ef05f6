"""Known and unknown rows from tables: labels, ids, truth; and one array of them, never a second."""

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from calls import discover, found_teff, labels_of, refused
from tables import COLUMNS as GRAIN_COLUMNS
from tables import as_csv, grain_rows, write_grain

from vbrand.commands.analysis import analyse, write_labels
from vbrand.commands.terminal import stages
from vbrand.facts.maps import MOST_POINTS, TELLING
from vbrand.io.tables.frames import TableError
from vbrand.io.tables.material import Roles, RowNumbers, Unknown, control_labels, read_material, read_unknown

ROWS, COLUMNS = 250_000, 10


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a table of 250,000 rows, of which some are labelled, as one Parquet file and as two."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, ROWS)
    values = np.array([0.0, 8.0, -8.0])[truth][:, None] + rng.normal(size=(ROWS, COLUMNS))
    columns = {f"x{j}": values[:, j] for j in range(COLUMNS)}
    labels = np.where((truth < 2) & (np.arange(ROWS) % 100 == 0), np.array(["oat", "rye", ""])[truth], None)
    table = pyarrow.table({**columns, "variety": pyarrow.array(labels, pyarrow.string())})
    pyarrow.parquet.write_table(table, folder / "one.parquet")
    known = table.filter(pyarrow.compute.is_valid(table["variety"]))
    pyarrow.parquet.write_table(known, folder / "known.parquet")
    pyarrow.parquet.write_table(table.drop_columns(["variety"]), folder / "unknown.parquet")
    return folder, values, truth, np.array([label is not None for label in labels])


def test_two_tables_are_read_without_a_second_copy(large):
    folder, values, _, _ = large
    size = values.nbytes
    tracemalloc.start()
    pool = pyarrow.default_memory_pool()
    before = pool.max_memory()
    material = read_material(str(folder / "known.parquet"), str(folder / "unknown.parquet"), Roles("variety"))
    ours, readers = tracemalloc.get_traced_memory()[1], pool.max_memory() - before
    tracemalloc.stop()
    assert ours < 1.1 * size
    assert readers < 0.7 * size  # a row group that is being read; nothing of it stays
    assert pool.bytes_allocated() < 0.1 * size
    assert np.array_equal(material.unknown.rows, values)


def test_one_table_is_read_without_a_second_copy(large):
    folder, values, _, given = large
    tracemalloc.start()
    material = read_material(str(folder / "one.parquet"), None, Roles("variety"))
    ours = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ours < 1.95 * values.nbytes  # the array, labels as text, and where each row goes
    assert np.array_equal(material.unknown.rows, values[~given])
    assert np.array_equal(material.rows, values[given])
    assert material.rows.base is material.unknown.rows.base  # parts of one array
    assert material.unknown.names[0] == str(np.flatnonzero(~given)[0] + 1)


def test_from_file_to_labels_without_a_second_copy(large, tmp_path):
    folder, _, truth, given = large
    truth = truth[~given]
    # one table, so that no unlabelled row is the copy of a labelled one: those that count would be a copy
    material = read_material(str(folder / "one.parquet"), None, Roles("variety"))
    taken = {}
    # one worker: how much two of them hold at the same moment is a matter of chance. The first run, with the check,
    # loads what is compiled; what the check holds, whatever the number of rows, would hide a copy
    for some, check in ((10_000, 3), (20_000, 0), (70_000, 0)):  # the first rows of the array, as they are
        unknown = replace(material.unknown, rows=material.unknown.rows[:some], carried={"row": RowNumbers(range(some))})
        if not check:
            tracemalloc.start()
        analysis = analyse(replace(material, unknown=unknown), {"n_jobs": 1, "check": check}, stages(quiet=True))
        with (tmp_path / "labels.csv").open("wb") as file:
            write_labels(file, analysis.detector, unknown, analysis.facts)
        taken[some] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.shares_memory(analysis.found.context.table, material.unknown.rows)
        assert np.shares_memory(analysis.found._rows.table, material.unknown.rows)
    # labels, clusters, scores and probabilities are about as large as the ten columns; a copy would be more
    assert taken[70_000] - taken[20_000] < 1.6 * 50_000 * COLUMNS * 8
    with (tmp_path / "labels.csv").open() as file:
        found = np.array([line.split(",")[1] for line in file][1:])
    assert (found == np.array(["oat", "rye", "novel"])[truth[:70_000]]).mean() > 0.999
    assert len(analysis.facts.points.names) <= MOST_POINTS + 2 * TELLING


def test_no_table_at_all(tmp_path):
    with pytest.raises(TableError, match="there is no file"):
        read_material(str(tmp_path / "no.csv"), None, Roles("variety"))


def written(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def test_numbers_of_rows_count_from_one_and_are_made_when_asked_for():
    numbers = RowNumbers(range(5, 10**9))
    assert (numbers[0], numbers[-1], len(numbers)) == ("6", "1000000000", 10**9 - 5)
    assert numbers[1:4] == ["7", "8", "9"]
    assert RowNumbers([3, 0])[:] == ["4", "1"]


def test_columns_with_a_role_are_not_measured():
    assert Roles("a", "b", None, ("c", "d")).all == {"a", "b", "c", "d"}
    assert Roles().all == set()


ONE = "id,y,x,t\na,1,0.5,1\nb,,1.5,3\nc,2,2.5,2\nd,-1,3.5,1\n"


def test_rows_without_a_label_are_the_unknown_ones(tmp_path):
    material = read_material(written(tmp_path, "one.csv", ONE), None, Roles("y", "id", "t"))
    assert material.labels.tolist() == [1, 2]
    assert material.rows.tolist() == [[0.5], [2.5]]
    assert material.unknown.rows.tolist() == [[1.5], [3.5]]  # -1 is no label where labels are numbers
    assert list(material.unknown.names) == ["b", "d"]
    assert material.unknown.truth.tolist() == [3, 1]
    assert material.unknown.columns == ("x",)


def test_one_label_that_is_text_makes_text_of_all_and_of_the_truth(tmp_path):
    material = read_material(written(tmp_path, "one.csv", ONE.replace("c,2,", "c,oat,")), None, Roles("y", "id", "t"))
    assert material.labels.tolist() == ["1", "oat", "-1"]
    assert material.unknown.truth.tolist() == ["3"]


def test_labels_with_leading_zeros_stay_text(tmp_path):
    table = written(tmp_path, "one.csv", "y,x\n01,0.5\n02,1.5\n02,4.5\n01,3.5\n,2.5\n")
    assert read_material(table, None, Roles("y")).labels.tolist() == ["01", "02", "02", "01"]


def test_unknown_rows_have_the_columns_of_the_model_in_its_order(tmp_path):
    table = written(tmp_path, "new.csv", "word,b,extra,a\nx,1,2,3\ny,4,5,6\n")
    unknown = read_unknown(table, ("a", "b"), 2, Roles())
    assert unknown.rows.tolist() == [[3.0, 1.0], [6.0, 4.0]]
    assert {name: list(cells) for name, cells in unknown.carried.items()} == {"row": ["1", "2"], "word": ["x", "y"]}
    assert read_unknown(table, None, 3, Roles()).rows.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_a_truth_with_gaps_is_refused(tmp_path):
    table = written(tmp_path, "one.csv", ONE.replace("3.5,1", "3.5,"))
    with pytest.raises(TableError, match=r"column 't' of one\.csv is empty in row 2 of the unknown rows"):
        read_material(table, None, Roles("y", "id", "t"))


def test_one_table_with_empty_labels(tmp_path):
    known, labels, new, _ = grain_rows()
    rows = [[*row, name] for row, name in zip(known.tolist(), labels, strict=True)]
    rows += [[*row, empty] for row, empty in zip(new.tolist(), ["", "NA", " "] * 20, strict=True)]
    order = np.random.default_rng(0).permutation(len(rows))
    table = tmp_path / "all.csv"
    table.write_text(as_csv([*GRAIN_COLUMNS, "variety"], [rows[i] for i in order]))
    discover(tmp_path, table, "--label", "variety")
    lines = labels_of(tmp_path)
    assert len(lines) == 60
    for line in lines:  # numbers of rows are those of the table
        assert (line["label"] == "novel") == (order[int(line["row"]) - 1] >= 110)
    assert "variety" not in lines[0]


def test_ids_and_text_are_carried_through(tmp_path):
    train, test = write_grain(tmp_path)
    table = pd.read_csv(test)
    table.insert(0, "sample", [f"{i:04}" for i in range(60)])  # leading zeros stay
    table["origin"] = ["Lyon, France"] * 30 + ['"Old" Town'] * 30
    table["batch"] = np.arange(60) * 7
    table["label"] = "unsure"
    table.to_csv(test, index=False)
    discover(tmp_path, train, test, "--label", "variety", "--id", "sample", "--ignore", "batch")
    lines = labels_of(tmp_path)
    assert [line["sample"] for line in lines] == [f"{i:04}" for i in range(60)]
    assert lines[0]["origin"] == "Lyon, France"
    assert lines[59]["origin"] == '"Old" Town'
    assert lines[3]["batch"] == "21"
    assert lines[0]["label (table)"] == "unsure"
    assert found_teff(lines)


def test_whole_numbers_are_labels_too(tmp_path):
    train, test = write_grain(tmp_path)
    for path, column in ((train, "variety"), (test, "truth")):
        table = pd.read_csv(path)
        table[column] = table[column].map({"oat": 1, "rye": 2, "teff": 3})
        table.to_csv(path, index=False)
    discover(tmp_path, train, test, "--label", "variety", "--truth", "truth")
    lines = labels_of(tmp_path)
    assert {line["label"] for line in lines} == {"1", "-1"}
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["scores"]["novelty_f1"] == 1.0


def test_labels_that_an_empty_cell_made_floats(tmp_path):
    known, labels, new, truth = grain_rows()
    numbers = {"oat": 1.0, "rye": 2.0, "teff": 3.0}
    table = pd.DataFrame(np.vstack([known, new]), columns=GRAIN_COLUMNS)
    table["variety"] = [*(numbers[name] for name in labels), *[-1.0, None] * 30]
    table["truth"] = [*[0] * 80, *(int(numbers[name]) for name in truth)]
    table.to_csv(tmp_path / "all.csv", index=False)
    discover(tmp_path, tmp_path / "all.csv", "--label", "variety", "--truth", "truth", "-q")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [group["name"] for group in summary["groups"]] == ["1", "2", "novel 1"]
    assert summary["scores"]["known_accuracy"] == 1.0


def test_what_is_wrong_with_a_table_is_said_in_a_sentence(tmp_path):
    folder = tmp_path
    train, test = write_grain(folder)
    empty = folder / "empty.csv"
    empty.write_text("")
    header = folder / "header.csv"
    header.write_text("moisture,protein,ash\n")
    twice = folder / "twice.csv"
    twice.write_text("a,b,a\n1,2,3\n")
    unlabelled = folder / "unlabelled.csv"
    pd.read_csv(train).assign(variety="").to_csv(unlabelled, index=False)
    narrow = folder / "narrow.csv"
    pd.read_csv(test).drop(columns=["ash"]).to_csv(narrow, index=False)
    for arguments, sentence in (
        (("no.csv", test), "there is no file no.csv."),
        ((folder / "*.txt", test), "there is no file that matches"),
        ((empty, test), "empty.csv is empty; a table whose first line names its columns is expected."),
        ((train, header), "header.csv has no rows below its header."),
        ((twice, test), "two columns of twice.csv are called 'a'. Give one of them another name."),
        ((unlabelled, test), "column 'variety' of unlabelled.csv has no label in any row; label some rows"),
        (
            (test, train),
            "test.csv has no column 'variety' (--label). Its columns are: 'moisture', 'protein', 'ash', 'truth'.",
        ),
        ((train, narrow), "narrow.csv has no column 'ash', which train.csv has. Columns are matched by name"),
        (
            (train,),
            "every row of train.csv has a label; leave the label of unknown rows empty, or give a second table.",
        ),
        ((train, test, "--id", "sample"), "test.csv has no column 'sample' (--id)"),
        ((train, test, "--truth", "variety"), "test.csv has no column 'variety' (--truth)"),
        ((train, test, "--ignore", "smell"), "test.csv has no column 'smell' (--ignore)"),
        ((train, test, "--ignore", "proteine"), "(--ignore). Did you mean 'protein'?"),
        ((train, test, "--ignore", "ash,protein"), "(--ignore). Repeat --ignore for each column."),
        (
            (train, test, "--label", "ash"),
            "column 'ash' of train.csv (--label) holds measurements, not names of classes.",
        ),
        (("-", "-"), "both tables are standard input; give a file for one of them."),
    ):
        assert sentence in refused(folder, "--label", "variety", *arguments)


@pytest.mark.parametrize(
    ("labels", "classes", "expected"),
    [
        (None, ["oat"], None),
        ([None, None], ["oat"], None),
        (["3", None, "12.0"], [3, 12], [3, None, 12]),
        (["3.0"], ["3.0", "3"], ["3.0"]),
    ],
)
def test_labels_of_control_samples_are_of_the_kind_of_the_classes(labels, classes, expected):
    batch = Unknown(np.zeros((3, 1)), None, {}, "t.csv", labels=labels)
    assert control_labels(batch, np.array(classes)) == expected
