"""The commands on tables as people have them, through the command line."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tables import COLUMNS, as_csv, grain_rows, write_grain
from typer.testing import CliRunner

import vbrand
from vbrand.commands.cli import app

FILES = {"labels.csv", "model.vbrand", "summary.json", "report.html"}


def call(*arguments):
    """Run a command; errors are to be sentences, so that nothing else may come out of it."""
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.output
    return done


def discover(folder, *arguments, out="out", code=0):
    done = call("discover", *arguments, "-o", folder / out)
    assert done.exit_code == code, done.output
    return done


def refused(folder, *arguments):
    done = discover(folder, *arguments, code=2)
    assert not (folder / "out").exists()
    sentence = done.stderr.strip()
    assert "\n" not in sentence
    return sentence


def labels_of(folder, out="out", name="labels.csv"):
    with (folder / out / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def found_teff(lines):
    """Return whether the rows that nobody labelled, and only they, are novel."""
    return all((line["label"] == "novel") == (i >= 30) for i, line in enumerate(lines))


def test_from_two_tables_to_an_answer(tmp_path):
    train, test = write_grain(tmp_path)
    done = discover(tmp_path, train, test, "--label", "variety", "--truth", "truth")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert "30 rows belong to the 2 known classes, 30 to 1 novel group, 0 look like outliers." in done.stdout
    assert "novelty F1 1.000" in done.stdout
    lines = labels_of(tmp_path)
    assert list(lines[0]) == ["row", "truth", "label", "cluster", "novelty_probability", "P(oat)", "P(rye)"]
    assert found_teff(lines)
    assert {line["cluster"] for line in lines} == {"oat", "novel 1"}
    for line in lines:
        total = sum(float(line[name]) for name in ("novelty_probability", "P(oat)", "P(rye)"))
        assert total == pytest.approx(1.0, abs=1e-5)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["novel_rows"] == 30
    assert summary["scores"]["ari"] == 1.0
    assert summary["confusion"]["truth"] == ["oat", "teff"]


def test_the_library_and_the_command_agree(tmp_path):
    train, test = write_grain(tmp_path)
    discover(tmp_path, train, test, "--label", "variety", "-q")
    known, labels, new, _ = grain_rows()
    found = vbrand.VBrand(random_state=0).fit(known, labels).discover(new)
    lines = labels_of(tmp_path)
    assert [line["label"] for line in lines] == found.labels.tolist()
    assert [float(line["novelty_probability"]) for line in lines] == pytest.approx(found.novelty_probability, rel=1e-5)


def test_one_table_with_empty_labels(tmp_path):
    known, labels, new, _ = grain_rows()
    rows = [[*row, name] for row, name in zip(known.tolist(), labels, strict=True)]
    rows += [[*row, empty] for row, empty in zip(new.tolist(), ["", "NA", " "] * 20, strict=True)]
    order = np.random.default_rng(0).permutation(len(rows))
    table = tmp_path / "all.csv"
    table.write_text(as_csv([*COLUMNS, "variety"], [rows[i] for i in order]))
    discover(tmp_path, table, "--label", "variety")
    lines = labels_of(tmp_path)
    assert len(lines) == 60
    for line in lines:  # numbers of rows are those of the table
        assert (line["label"] == "novel") == (order[int(line["row"]) - 1] >= 110)
    assert "variety" not in lines[0]


def test_json_on_standard_output_and_nothing_else(tmp_path):
    train, test = write_grain(tmp_path)
    done = discover(tmp_path, train, test, "--label", "variety", "--json")
    assert json.loads(done.stdout)["rows"] == 60
    assert done.stdout == (tmp_path / "out" / "summary.json").read_text()
    done = discover(tmp_path, train, test, "--label", "variety", "--quiet")
    assert done.output == ""


def test_the_same_tables_give_the_same_files(tmp_path):
    train, test = write_grain(tmp_path)
    for out, jobs in (("first", 1), ("second", 2)):
        discover(tmp_path, train, test, "--label", "variety", "-q", "--jobs", jobs, out=out)
    for name in ("labels.csv", "report.html"):
        first, second = ((tmp_path / out / name).read_bytes() for out in ("first", "second"))
        assert first.replace(b"<td>1</td>", b"<td>2</td>") == second.replace(b"<td>1</td>", b"<td>2</td>")


def test_spaces_accents_and_quoted_separators_in_names(tmp_path):
    names = ["teneur en protéines", 'a, "b"', "水分; %"]
    train, test = write_grain(tmp_path, header=names, label="variété")
    discover(tmp_path, train, test, "--label", "variété", "--truth", "truth")
    assert found_teff(labels_of(tmp_path))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    explained = summary["groups"][2]["explanation"]["contributions"]
    assert {part["column"] for part in explained} == set(names)


def test_a_byte_order_mark_and_carriage_returns(tmp_path):
    train, test = write_grain(tmp_path, newline="\r\n")
    for path in (train, test):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    discover(tmp_path, train, test, "--label", "variety", "--ignore", "truth")
    assert found_teff(labels_of(tmp_path))


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_other_encodings(tmp_path, encoding):
    train, test = write_grain(tmp_path, header=["été", "protein", "ash"])
    for path in (train, test):
        path.write_bytes(path.read_text(encoding="utf-8").encode(encoding))
    discover(tmp_path, train, test, "--label", "variety")
    assert found_teff(labels_of(tmp_path))


def test_semicolons_and_decimal_commas(tmp_path):
    train, test = write_grain(tmp_path, separator=";")
    for path in (train, test):
        path.write_text(path.read_text().replace(".", ","))
    discover(tmp_path, train, test, "--label", "variety")
    assert found_teff(labels_of(tmp_path))


def test_tabs_parquet_and_feather(tmp_path):
    known, labels, new, _ = grain_rows()
    train = pd.DataFrame(known, columns=COLUMNS).assign(variety=labels)
    test = pd.DataFrame(new, columns=COLUMNS).assign(sample=[f"s{i:03}" for i in range(60)])
    train.to_csv(tmp_path / "train.tsv", sep="\t", index=False)
    train.to_parquet(tmp_path / "train.parquet")
    test.to_feather(tmp_path / "test.feather")
    test.astype(dict.fromkeys(COLUMNS, "float32")).to_parquet(tmp_path / "test.parquet")
    for first, second in (("train.tsv", "test.feather"), ("train.parquet", "test.parquet")):
        discover(tmp_path, tmp_path / first, tmp_path / second, "--label", "variety", "--id", "sample", "-q")
        lines = labels_of(tmp_path)
        assert found_teff(lines)
        assert [line["sample"] for line in lines] == test["sample"].tolist()


def test_columns_are_matched_by_name(tmp_path):
    train, test = write_grain(tmp_path)
    table = pd.read_csv(test)
    table[["truth", "ash", "protein", "moisture"]].assign(extra=1.5).to_csv(tmp_path / "turned.csv", index=False)
    discover(tmp_path, train, test, "--label", "variety", "-q", out="straight")
    discover(tmp_path, train, tmp_path / "turned.csv", "--label", "variety", "-q")
    assert labels_of(tmp_path) == labels_of(tmp_path, "straight")


def test_thousands_of_columns(tmp_path):
    rng = np.random.default_rng(0)
    count = 3_000
    shapes = np.cumsum(rng.normal(size=(3, count)), axis=1)
    rows = [shapes[k] + rng.normal(size=(20, count)) + rng.normal(size=(20, 1)) for k in (0, 1, 0, 2)]
    names = [f"{1000 + 2 * j} nm" for j in range(count)]
    known = pd.DataFrame(np.vstack(rows[:2]), columns=names).assign(variety=["oat"] * 20 + ["rye"] * 20)
    known.to_csv(tmp_path / "train.csv", index=False)
    pd.DataFrame(np.vstack(rows[2:]), columns=names).to_csv(tmp_path / "test.csv", index=False)
    discover(tmp_path, tmp_path / "train.csv", tmp_path / "test.csv", "--label", "variety", "-q")
    assert [line["label"] == "novel" for line in labels_of(tmp_path)] == [False] * 20 + [True] * 20
    assert (tmp_path / "out" / "report.html").stat().st_size < 6_000_000
    assert "spectra, in your units" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_ids_and_text_are_carried_through(tmp_path):
    train, test = write_grain(tmp_path)
    table = pd.read_csv(test)
    table.insert(0, "sample", [f"{i:04}" for i in range(60)])  # leading zeros stay
    table["origin"] = ["Lyon, France"] * 30 + ['"Old" Town'] * 30
    table["batch"] = np.arange(60) * 7
    table["label"] = "?"
    table.to_csv(test, index=False)
    discover(tmp_path, train, test, "--label", "variety", "--id", "sample", "--ignore", "batch")
    lines = labels_of(tmp_path)
    assert [line["sample"] for line in lines] == [f"{i:04}" for i in range(60)]
    assert lines[0]["origin"] == "Lyon, France"
    assert lines[59]["origin"] == '"Old" Town'
    assert lines[3]["batch"] == "21"
    assert lines[0]["label (table)"] == "?"
    assert found_teff(lines)


def test_a_column_that_counts_the_rows_is_no_measurement(tmp_path):
    train, test = write_grain(tmp_path)
    for path, first in ((train, 0), (test, 80)):
        table = pd.read_csv(path)
        table.index += first
        table.to_csv(path)  # pandas writes its index, without a name
    done = discover(tmp_path, train, test, "--label", "variety")
    assert "not measured, because they only count the rows: 'unnamed column 1'." in done.stdout
    assert found_teff(labels_of(tmp_path))


def test_the_index_of_a_data_frame_is_no_measurement(tmp_path):
    """Known and unknown rows come out of one table: their numbers have gaps, and tell them apart."""
    known, labels, new, _ = grain_rows()
    table = pd.DataFrame(np.vstack([known, new]), columns=COLUMNS).assign(variety=[*labels, *[None] * 60])
    table = table.sample(frac=1.0, random_state=0).sort_values("variety", na_position="last")
    first, second = table[table.variety.notna()].sort_index(), table[table.variety.isna()].drop(columns="variety")
    straight = second.sort_index()
    first.to_csv(tmp_path / "train.tsv", sep="\t")
    straight.to_csv(tmp_path / "test.tsv", sep="\t")
    first.to_parquet(tmp_path / "train.parquet")
    straight.to_parquet(tmp_path / "test.parquet")
    first[::2].to_csv(tmp_path / "gaps.csv")
    first.sample(frac=1.0, random_state=0).to_csv(tmp_path / "shuffled.csv")
    for known_name, unknown_name in (
        ("train.tsv", "test.tsv"),
        ("train.parquet", "test.parquet"),
        ("gaps.csv", "test.tsv"),
        ("shuffled.csv", "test.tsv"),
    ):
        discover(tmp_path, tmp_path / known_name, tmp_path / unknown_name, "--label", "variety", "-q")
        model = vbrand.load(tmp_path / "out" / "model.vbrand")
        assert model.feature_names_in_.tolist() == list(COLUMNS)
        assert found_teff(labels_of(tmp_path))


def test_what_is_not_measured_is_said(tmp_path):
    train, test = write_grain(tmp_path)
    pd.read_csv(train).assign(lab="A1", fat="5.6 mg", nothing="", number=np.arange(80) * 3 + 10_001).to_csv(
        train, index=False
    )
    pd.read_csv(test).assign(ph=7.0, number=np.arange(60) * 3 + 20_001).to_csv(test, index=False)
    edited(train, ",oat,", ",Rye,")
    edited(train, ",oat,", ",Rye,")
    edited(train, ",oat,", ",Rye,")
    done = discover(tmp_path, train, test, "--label", "variety")
    for note in (
        "not measured, because text: 'lab', 'fat'.",
        "not measured, because empty: 'nothing'.",
        "not measured, because train.csv does not have them: 'ph'.",
        "'number': whole numbers that only grow from row to row. If they are names of rows, say so: --id 'number'.",
        "labels 'Rye' and 'rye' differ by case only, and count as two classes.",
    ):
        assert note in done.stdout


def test_empty_rows_at_the_end_are_no_rows(tmp_path):
    train, test = write_grain(tmp_path)
    for path in (train, test):
        path.write_text(path.read_text() + ",,,\n" * 5)
    discover(tmp_path, train, test, "--label", "variety")
    assert len(labels_of(tmp_path)) == 60


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


def test_settings(tmp_path):
    train, test = write_grain(tmp_path)
    options = ["--set", "threshold=0.9", "--set", "kernel=gaussian", "--set", "concentration=[2, 1]"]
    discover(tmp_path, train, test, "--label", "variety", "-q", *options)
    detector = vbrand.load(tmp_path / "out" / "model.vbrand")
    assert (detector.threshold, detector.kernel, detector.concentration) == (0.9, "gaussian", (2, 1))
    assert "did you mean threshold?" in call("discover", train, test, "--label", "variety", "--set", "tresh=1").stderr
    assert "NAME is one of" in call("discover", train, test, "--label", "variety", "--set", "xyz=1").stderr
    assert "threshold is 7" in refused(tmp_path / "other", train, test, "--label", "variety", "--set", "threshold=7")


def edited(path, old, new):
    path.write_text(path.read_text().replace(old, new, 1))
    return path


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
        ((folder, test), "is a folder; the name of a table is expected"),
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


def test_text_among_numbers_is_found(tmp_path):
    train, test = write_grain(tmp_path)
    lines = test.read_text().splitlines()
    cells = lines[17].split(",")
    cells[1] = "<0.5"
    test.write_text("\n".join([*lines[:17], ",".join(cells), *lines[18:]]))
    said = refused(tmp_path, train, test, "--label", "variety")
    assert said.startswith("column 'protein' of test.csv holds text ('<0.5' in row 17); numbers are expected.")
    cells[1] = ""
    test.write_text("\n".join([*lines[:17], ",".join(cells), *lines[18:]]))
    said = refused(tmp_path, train, test, "--label", "variety")
    assert said.startswith(
        "column 'protein' of test.csv has a missing or infinite number in row 17 (such cells in all: 1;"
    )
    test.write_text("\n".join([*lines[:17], ",".join(cells[:2]), *lines[18:]]))
    said = refused(tmp_path, train, test, "--label", "variety")
    assert said.startswith("row 17 of test.csv has 2 cells where the header has 4 names")


def test_other_files_are_told_from_tables(tmp_path):
    train, _ = write_grain(tmp_path)
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "cut.parquet")
    whole = (tmp_path / "cut.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    assert "cut.parquet can't be read" in refused(tmp_path, train, tmp_path / "cut.parquet", "--label", "variety")
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    assert "save the sheet as CSV" in refused(tmp_path, train, tmp_path / "book.xlsx", "--label", "variety")
    (tmp_path / "noise.csv").write_bytes(np.random.default_rng(0).bytes(4_000))
    refused(tmp_path, train, tmp_path / "noise.csv", "--label", "variety")


def test_a_class_with_too_few_rows_is_named(tmp_path):
    train, test = write_grain(tmp_path)
    edited(train, "oat", "spelt")
    assert "class spelt has 1 row; a robust scatter needs at least 3." in refused(
        tmp_path, train, test, "--label", "variety"
    )


def test_the_folder_must_be_one(tmp_path):
    train, test = write_grain(tmp_path)
    done = call("discover", train, test, "--label", "variety", "-o", train)
    assert done.exit_code == 2
    assert "train.csv is a file; -o needs the name of a folder." in done.stderr


def test_quoted_decimal_commas_are_not_passed_over(tmp_path):
    train, test = write_grain(tmp_path)
    for path in (train, test):
        table = pd.read_csv(path).astype(str)
        table["ash"] = table["ash"].str.replace(".", ",")
        table.to_csv(path, index=False)
    assert "Is it a decimal comma, or a thousand? Write a point, or nothing." in refused(
        tmp_path, train, test, "--label", "variety"
    )


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answered")
    train, test = write_grain(folder)
    discover(folder, train, test, "--label", "variety", "--truth", "truth", "-q")
    return folder


def test_predict_gives_the_same_lines_as_discover(answered):
    done = call("predict", answered / "out" / "model.vbrand", answered / "test.csv")
    assert done.exit_code == 0
    assert done.stdout == (answered / "out" / "labels.csv").read_text()
    call("predict", answered / "out" / "model.vbrand", answered / "test.csv", "-o", answered / "again.csv")
    assert (answered / "again.csv").read_text() == done.stdout


def test_predict_says_when_a_novelty_is_like_no_group(answered, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("id;ash;protein;moisture\nx1;300;300;300\nx2;0;0;0\nx3;-9;-9;-9\n")
    call("predict", answered / "out" / "model.vbrand", new, "--id", "id", "-o", tmp_path / "labels.csv")
    lines = labels_of(tmp_path, "")
    assert [line["cluster"] for line in lines] == ["novel, like no group", "oat", "novel 1"]
    assert [line["id"] for line in lines] == ["x1", "x2", "x3"]


def test_predict_refuses_what_is_no_model_or_has_other_columns(answered, tmp_path):
    model = answered / "out" / "model.vbrand"
    for arguments, sentence in (
        ((answered / "train.csv", answered / "test.csv"), "train.csv is not a model file of vbrand."),
        ((tmp_path / "no.vbrand", answered / "test.csv"), "no.vbrand: No such file or directory."),
        ((model, tmp_path / "other.csv"), "other.csv has no column 'moisture', 'protein', 'ash', which the model"),
    ):
        (tmp_path / "other.csv").write_text("a,b\n1,2\n")
        done = call("predict", *arguments)
        assert done.exit_code == 2
        assert sentence in done.stderr
    done = call("predict", answered / "out", answered / "test.csv")
    assert "is a folder; give the model file in it" in done.stderr
    done = call("predict", model, answered / "test.csv", "-o", tmp_path)
    assert "is a folder; the name of a file is expected." in done.stderr
    done = call("predict", model, answered / "test.csv", "--ignore", "ash")
    assert "column 'ash' is measured by the model, so it can't be left out or name the rows." in done.stderr
    (tmp_path / "other.csv").write_text("moisture,protein,ash\n1,2,3\n1,<2,3\n")
    done = call("predict", model, tmp_path / "other.csv")
    assert "('<2' in row 2); numbers are expected. Correct it, or make a model without the column" in done.stderr
    call("predict", model, answered / "test.csv", "-o", tmp_path / "new" / "folder" / "labels.csv")
    assert (tmp_path / "new" / "folder" / "labels.csv").exists()
    cut = tmp_path / "cut.vbrand"
    cut.write_bytes(model.read_bytes()[:-10])
    assert "cut.vbrand is damaged: it was cut off or altered." in call("predict", cut, answered / "test.csv").stderr


def test_a_model_without_names_takes_columns_in_their_order(tmp_path):
    known, labels, new, _ = grain_rows()
    detector = vbrand.VBrand().fit(known, labels)
    found = detector.discover(new)
    detector.save(tmp_path / "model.vbrand")
    np.savetxt(tmp_path / "new.csv", new, delimiter=",", header="a,b,c", comments="")
    call("predict", tmp_path / "model.vbrand", tmp_path / "new.csv", "-o", tmp_path / "labels.csv")
    assert [line["label"] for line in labels_of(tmp_path, "")] == found.labels.tolist()
    np.savetxt(tmp_path / "new.csv", new[:, :2], delimiter=",", header="a,b", comments="")
    assert "needs 3, in their order" in call("predict", tmp_path / "model.vbrand", tmp_path / "new.csv").stderr


def test_the_report_can_be_drawn_again(answered, tmp_path):
    done = call("report", answered / "out" / "model.vbrand", "-o", tmp_path / "again.html")
    assert done.exit_code == 0
    first = (answered / "out" / "report.html").read_text(encoding="utf-8")
    again = (tmp_path / "again.html").read_text(encoding="utf-8")
    assert again == first
    assert "<h1>What is new in test.csv</h1>" in first


def test_simulated_tables_can_be_discovered(tmp_path):
    assert call("simulate", "ss1", "-o", tmp_path, "--size", "0.3", "--columns", "3").exit_code == 0
    options = ["--label", "class", "--truth", "class", "-q"]
    discover(tmp_path, tmp_path / "train.csv", tmp_path / "test.csv", *options)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["scores"]["novelty_f1"] > 0.9
    assert "there is no study 'ss9' to simulate" in call("simulate", "ss9", "-o", tmp_path).stderr
    assert "at least 2 of a size above 0" in call("simulate", "ss1", "-o", tmp_path, "--columns", "1").stderr


@pytest.mark.parametrize("command", ["discover", "predict", "report", "simulate", "demo", "reproduce"])
def test_help_has_an_example_and_exit_codes(command):
    shown = call(command, "--help").stdout
    assert f"Example: vbrand {command}" in shown
    assert "Exit codes" in shown


def process(*arguments, **how):
    return subprocess.run(
        [sys.executable, "-c", "from vbrand.commands.cli import app; app()", *map(str, arguments)],
        capture_output=True,
        check=False,
        **how,
    )


def test_standard_input_and_output(answered):
    test = (answered / "test.csv").read_bytes()
    done = process("predict", answered / "out" / "model.vbrand", "-", input=test)
    assert done.stderr == b""
    assert done.stdout == (answered / "out" / "labels.csv").read_bytes()


def test_a_defect_is_told_from_an_error_and_shown_on_demand(answered, monkeypatch):
    def broken(*_):
        raise RuntimeError("unheard of")

    monkeypatch.setattr("vbrand.io.tables.material.read_unknown", broken)
    done = call("predict", answered / "out" / "model.vbrand", answered / "test.csv")
    assert done.exit_code == 1
    assert "RuntimeError: unheard of" in done.stderr
    shown = CliRunner().invoke(app, ["predict", str(answered / "out" / "model.vbrand"), "x.csv", "--debug"])
    assert isinstance(shown.exception, RuntimeError)


def test_importing_the_commands_imports_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "numba")
    code = f"import sys, vbrand.commands.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_rows_that_are_all_the_same_have_no_map_of_neighbours(tmp_path):
    """t-SNE of rounding errors ended the process."""
    train, test = write_grain(tmp_path)
    table = pd.read_csv(test)
    table.iloc[[0] * 30].to_csv(test, index=False)
    discover(tmp_path, train, test, "--label", "variety", "-q")
    assert '"tsne":[[' not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_names_of_rows_may_hold_anything(tmp_path):
    train, test = write_grain(tmp_path)
    names = [f'a"{i}\rb\n,;' for i in range(60)]
    pd.read_csv(test).assign(sample=names).to_csv(test, index=False)
    discover(tmp_path, train, test, "--label", "variety", "--id", "sample", "-q")
    assert [line["sample"] for line in labels_of(tmp_path)] == names


def test_headers_are_told_apart(tmp_path):
    train, test = write_grain(tmp_path)
    pd.read_csv(test).assign(**{"row": "r", "label": "x", "label (table)": "y"}).to_csv(test, index=False)
    discover(tmp_path, train, test, "--label", "variety", "-q")
    line = labels_of(tmp_path)[0]
    assert line["row number"] == "1"
    assert (line["row"], line["label (table)"], line["label (table) (table)"]) == ("r", "x", "y")


def test_thousands_are_not_taken_for_decimals(tmp_path):
    train, test = write_grain(tmp_path, separator="\t")
    for path in (train, test):
        table = pd.read_csv(path, sep="\t")
        table["protein"] = [f"{1 + i % 9},{i:03}" for i in range(len(table))]
        table.to_csv(path, sep="\t", index=False)
    assert "decimal comma, or a thousand?" in refused(tmp_path, train, test, "--label", "variety")


def test_labels_that_an_empty_cell_made_floats(tmp_path):
    known, labels, new, truth = grain_rows()
    numbers = {"oat": 1.0, "rye": 2.0, "teff": 3.0}
    table = pd.DataFrame(np.vstack([known, new]), columns=COLUMNS)
    table["variety"] = [*(numbers[name] for name in labels), *[-1.0, None] * 30]
    table["truth"] = [*[0] * 80, *(int(numbers[name]) for name in truth)]
    table.to_csv(tmp_path / "all.csv", index=False)
    discover(tmp_path, tmp_path / "all.csv", "--label", "variety", "--truth", "truth", "-q")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [group["name"] for group in summary["groups"]] == ["1", "2", "novel 1"]
    assert summary["scores"]["known_accuracy"] == 1.0


def test_a_first_batch_of_few_rows_is_not_the_table(tmp_path):
    train, test = write_grain(tmp_path)
    for path in (train, test):
        table = pd.read_csv(path)
        table.insert(0, "first", [5.0, 6.0, 7.0, *table["ash"][3:]])
        table.to_feather(path, chunksize=3)
    discover(tmp_path, train, test, "--label", "variety", "-q")
    assert "first" in vbrand.load(tmp_path / "out" / "model.vbrand").feature_names_in_


def test_odd_files_and_options(tmp_path):
    train, test = write_grain(tmp_path)
    (tmp_path / "packed.csv").write_bytes(b"\x1f\x8b" + bytes(20))
    assert "is compressed; unpack it first." in refused(tmp_path, train, tmp_path / "packed.csv", "--label", "variety")
    (tmp_path / "long.csv").write_text("x" * 200_000 + ",y\n1,2\n")
    assert "the first line of long.csv names no columns" in refused(
        tmp_path, train, tmp_path / "long.csv", "--label", "variety"
    )
    said = refused(tmp_path, train, test, "--label", "variety", "--id", "variety")
    assert "can't name the rows (--id) and hold their classes, too." in said
    pd.read_csv(test).assign(truth=[f"t{i}" for i in range(60)]).loc[lambda table: table.index.repeat(5)].assign(
        truth=[f"t{i}" for i in range(300)]
    ).to_csv(test, index=False)
    said = refused(tmp_path, train, test, "--label", "variety", "--truth", "truth")
    assert "(--truth) has 300 different values: no classes." in said


def test_a_pipe_is_written_to_and_stays_one(answered, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    call("predict", answered / "out" / "model.vbrand", answered / "test.csv", "-o", pipe)
    assert reader.communicate()[0] == (answered / "out" / "labels.csv").read_bytes()
    assert pipe.is_fifo()
