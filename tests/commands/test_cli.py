"""The commands, through the real entry point."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import typer
from calls import call, discover, labels_of, process, refused
from doubts import doubted
from tables import grain_rows, write_grain

import vbrand
from vbrand.commands.settings import parsed
from vbrand.estimators.model_file import read_model, write_model
from vbrand.facts.check import UNCHECKED


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from vbrand.commands.cli import app; app()", *arguments],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_version():
    assert run("--version").strip() == f"vbrand {vbrand.__version__}"


def test_reproduce_refuses_what_it_does_not_know():
    for arguments, sentence in (
        (["reproduce", "ss9"], "there is no study 'ss9'; choose ss1"),
        (["reproduce", "ss1", "--quick", "--full"], "--quick and --full can't be used together"),
        (["reproduce", "statlog", "--quick", "--data", "no-such-folder"], "has no file sat.trn"),
    ):
        done = call(*arguments)
        assert done.exit_code == 2
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.9", 0.9),
        ("3", 3),
        ("true", True),
        ("null", None),
        ("None", None),
        ("gaussian", "gaussian"),
        ("[2, 1]", (2, 1)),
        (".8", 0.8),
        ("1.", 1.0),
        ("+2", 2),
        ("-.5e-1", -0.05),
        ("nan", "nan"),
        ("inf", "inf"),
        ("1_000", "1_000"),
        (".", "."),
        ("", ""),
    ],
)
def test_values_of_settings_are_numbers_as_people_write_them_or_json_or_text(text, value):
    given = parsed([f"threshold={text}"])
    assert given == {"threshold": value}
    assert type(given["threshold"]) is type(value)


@pytest.mark.parametrize("pair", ["threshold", "=1", "init=oat", "novel_mean=[1]", "thresh old=1"])
def test_what_is_no_setting_is_refused(pair, capsys):
    with pytest.raises(typer.Exit) as caught:
        parsed(["kernel=gaussian", pair])
    assert caught.value.exit_code == 2
    assert capsys.readouterr().err.startswith(f"--set {pair}: NAME=VALUE is expected; ")


def test_json_on_standard_output_and_nothing_else(tmp_path):
    train, test = write_grain(tmp_path)
    done = discover(tmp_path, train, test, "--label", "variety", "--json")
    assert json.loads(done.stdout)["rows"] == 60
    assert done.stdout == (tmp_path / "out" / "summary.json").read_text()
    done = discover(tmp_path, train, test, "--label", "variety", "--quiet")
    assert done.output == ""


def testparsed(tmp_path):
    train, test = write_grain(tmp_path)
    options = ["--set", "threshold=0.9", "--set", "kernel=gaussian", "--set", "concentration=[2, 1]"]
    discover(tmp_path, train, test, "--label", "variety", "-q", *options)
    detector = vbrand.load(tmp_path / "out" / "model.vbrand")
    assert (detector.threshold, detector.kernel, detector.concentration) == (0.9, "gaussian", (2, 1))
    assert "did you mean threshold?" in call("discover", train, test, "--label", "variety", "--set", "tresh=1").stderr
    assert "NAME is one of" in call("discover", train, test, "--label", "variety", "--set", "xyz=1").stderr
    assert "threshold is 7" in refused(tmp_path / "other", train, test, "--label", "variety", "--set", "threshold=7")


@pytest.mark.parametrize("name", ["contamination", "outlier_fraction", "nu"])
def test_shares_that_other_detectors_want_point_to_what_there_is(tmp_path, name):
    train, test = write_grain(tmp_path)
    said = refused(tmp_path, train, test, "--label", "variety", "--set", f"{name}=.1")
    assert said.startswith(f"--set {name}=.1: ")
    assert "max_false_novelty" in said
    assert "--false-share" in said


def test_the_share_of_false_novelty_can_be_limited_and_rows_selected(tmp_path):
    train, test = write_grain(tmp_path)
    by_option, by_set = ("--max-false-novelty", "0"), ("--set", "max_false_novelty=0")
    done = discover(tmp_path, train, test, "--label", "variety", "--false-share", "0.1", *by_option)
    discover(tmp_path, train, test, "--label", "variety", "-q", *by_set, out="set")
    first, second = (vbrand.load(tmp_path / out / "model.vbrand") for out in ("out", "set"))
    assert first.max_false_novelty == second.max_false_novelty == 0
    lines, others = labels_of(tmp_path), labels_of(tmp_path, "set")
    assert [line["label"] for line in lines] == [line["label"] for line in others]
    assert "selected" not in others[0]
    selected = [1.0 - float(line["novelty_probability"]) for line in lines if line["selected"] == "true"]
    assert np.mean(selected) <= 0.1
    assert f"{len(selected)} rows are selected as novel; at most 10 % of them" in done.stdout


def test_shares_that_are_none_and_settings_given_twice_are_refused(tmp_path):
    train, test = write_grain(tmp_path)
    for options, sentence in (
        (("--false-share", "1.5"), "false_share is 1.5; it must be a number from 0 to 1."),
        (("--max-false-novelty", "-1"), "max_false_novelty is -1.0; it must be a number from 0 to 1."),
        (("--max-false-novelty", "0.1", "--set", "check=0"), "max_false_novelty needs the check"),
        (("--max-false-novelty", "0.1", "--set", "max_false_novelty=0.2"), "max_false_novelty is given twice"),
    ):
        assert sentence in refused(tmp_path, train, test, "--label", "variety", *options)


def test_without_the_check_the_answer_says_so(tmp_path):
    train, test = write_grain(tmp_path)
    done = discover(tmp_path, train, test, "--label", "variety", "--set", "check=0")
    assert done.stdout.splitlines()[0] == UNCHECKED
    assert {line["doubtful"] for line in labels_of(tmp_path)} == {""}
    assert call("report", tmp_path / "out" / "model.vbrand").stdout.splitlines()[0] == UNCHECKED
    assert UNCHECKED in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_model_can_be_written_without_labelled_rows(answered, tmp_path):
    options = ("--label", "variety", "--truth", "truth", "-q", "--no-rows")
    discover(tmp_path, answered / "train.csv", answered / "test.csv", *options)
    assert read_model(tmp_path / "out" / "model.vbrand").learned.witnesses is None
    assert read_model(answered / "out" / "model.vbrand").learned.witnesses is not None
    done = call("predict", tmp_path / "out" / "model.vbrand", answered / "test.csv")
    assert done.stdout == (answered / "out" / "labels.csv").read_text()


def test_the_folder_must_be_one(tmp_path):
    train, test = write_grain(tmp_path)
    done = call("discover", train, test, "--label", "variety", "-o", train)
    assert done.exit_code == 2
    assert "train.csv is a file; -o needs the name of a folder." in done.stderr


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
    assert lines[0]["doubtful"] == ""  # no group, so nothing was checked


def test_predict_and_report_tell_of_doubtful_groups(answered, tmp_path):
    held = read_model(answered / "out" / "model.vbrand")
    facts = doubted(held.facts)
    write_model(tmp_path / "model.vbrand", replace(held, facts=facts))
    call("predict", tmp_path / "model.vbrand", answered / "test.csv", "-o", tmp_path / "labels.csv")
    lines = labels_of(tmp_path, "")
    assert [line["doubtful"] == "true" for line in lines] == [line["label"] == "novel" for line in lines]
    done = call("report", tmp_path / "model.vbrand")
    assert done.stdout.splitlines() == [str(facts.check), str(tmp_path / "report.html")]


def test_predict_says_which_labels_rest_on_nothing(answered, tmp_path):
    model, table = answered / "out" / "model.vbrand", tmp_path / "more.csv"
    table.write_text("moisture,protein,ash\n1,2,3\n1,,3\n")
    assert call("predict", model, table).stderr == ""
    table.write_text("moisture,protein,ash\n1,2,3\n,,\n1,,3\n")
    said = "1 row has no value at all: what is said of it would be said of any row.\n"
    for out in ([], ["-o", tmp_path / "labels.csv"], ["-o", tmp_path / "labels.xlsx"]):
        done = call("predict", model, table, *out)
        assert (done.exit_code, done.stderr) == (0, said)
    table.write_text("moisture,protein,ash\n1,2,3\n,,\n,,\n1,,3\n")
    assert "2 rows have no value at all: what is said of them would" in call("predict", model, table).stderr


def test_predict_refuses_what_is_no_model_or_has_other_columns(answered, tmp_path):
    model = answered / "out" / "model.vbrand"
    for arguments, sentence in (
        ((answered / "train.csv", answered / "test.csv"), "train.csv is not a model file of vbrand."),
        ((tmp_path / "no.vbrand", answered / "test.csv"), f"there is no file {tmp_path / 'no.vbrand'}."),
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
    assert "column 'ash' is measured by the model, so it can't be left out or name the rows or classes." in done.stderr
    (tmp_path / "other.csv").write_text("moisture,protein,ash\n1,2,3\n1,<2,3\n")
    done = call("predict", model, tmp_path / "other.csv")
    assert "('<2' in row 2); numbers are expected. Correct it, or leave it empty, which" in done.stderr
    assert "counts as missing, or make a model without the column" in done.stderr
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


@pytest.mark.parametrize(
    "command", ["look", "discover", "predict", "report", "settings", "simulate", "demo", "reproduce"]
)
def test_help_has_an_example_and_exit_codes(command):
    shown = call(command, "--help").stdout
    assert f"Example: vbrand {command}" in shown
    assert "Exit codes" in shown


def test_discover_says_what_it_does_before_it_imports_anything_heavy(tmp_path, monkeypatch):
    train, test = write_grain(tmp_path)
    said = []

    def stages(*, quiet):
        return lambda what: nullcontext(said.append(what))

    monkeypatch.setattr("vbrand.commands.cli.stages", stages)
    discover(tmp_path, train, test, "--label", "variety", "-q")
    assert said[:2] == ["starting", f"reading {train} and {test}"]
    assert said[2:] == ["learning the known classes", "drawing the report", "writing"]


def test_standard_input_and_output(answered):
    test = (answered / "test.csv").read_bytes()
    done = process("predict", answered / "out" / "model.vbrand", "-", input=test)
    assert done.stderr == b""
    assert done.stdout == (answered / "out" / "labels.csv").read_bytes()


def test_importing_the_commands_imports_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "numba")
    code = f"import sys, vbrand.commands.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_pipe_is_written_to_and_stays_one(answered, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    call("predict", answered / "out" / "model.vbrand", answered / "test.csv", "-o", pipe)
    assert reader.communicate()[0] == (answered / "out" / "labels.csv").read_bytes()
    assert pipe.is_fifo()
