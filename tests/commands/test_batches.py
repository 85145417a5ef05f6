"""From week to week on the command line."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from stream import rows_of
from typer.testing import CliRunner

from vbrand import VBrand, load
from vbrand.commands.cli import app


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def both_weeks(tmp_path_factory):
    """Return a folder with a fitted model, the tables of two weeks, and what was found in either."""
    folder = tmp_path_factory.mktemp("weeks")
    rng = np.random.default_rng(0)
    columns = ["a", "b", "c"]
    known = pd.DataFrame(rows_of(rng, 60, 60), columns=columns)
    VBrand(random_state=0).fit(known, np.repeat(["oat", "rye"], 60)).save(folder / "model.vbrand")
    for week in (1, 2):
        table = pd.DataFrame(rows_of(rng, third=15), columns=columns)
        table.insert(0, "sample", [f"w{week}-{i}" for i in range(len(table))])
        table.to_csv(folder / f"week{week}.csv", index=False)
    for week, before in ((1, folder / "model.vbrand"), (2, folder / "found1" / "model.vbrand")):
        done = run("update", before, folder / f"week{week}.csv", "--id", "sample", "-o", folder / f"found{week}")
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def updated(both_weeks, tmp_path):
    """Return a copy of it."""
    return shutil.copytree(both_weeks, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def weeks(updated):
    """Return a copy in which nothing was found yet."""
    for week in (1, 2):
        shutil.rmtree(updated / f"found{week}")
    return updated


def test_a_batch_writes_labels_report_and_the_next_model(updated):
    folder = updated / "found2"
    assert {path.name for path in folder.iterdir()} == {"labels.csv", "model.vbrand", "summary.json", "report.html"}
    labels = pd.read_csv(folder / "labels.csv")
    assert labels["cluster"].tolist() == ["oat"] * 20 + ["rye"] * 20 + ["novel 1"] * 15
    assert labels["sample"][0] == "w2-0"
    assert json.loads((folder / "summary.json").read_text())["groups"][2]["name"] == "novel 1"


def test_labels_of_control_samples_tell_of_drift_and_of_nothing_else(weeks):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rows_of(rng), columns=["a", "b", "c"])
    table.loc[:9, ["a", "b", "c"]] += 4.0
    table.to_csv(weeks / "plain.csv", index=False)
    table.assign(control=["oat"] * 10 + [""] * 30).to_csv(weeks / "batch.csv", index=False)
    model = weeks / "model.vbrand"
    plain = run("update", model, weeks / "plain.csv", "-o", weeks / "plain")
    done = run("update", model, weeks / "batch.csv", "--label", "control", "-o", weeks / "out")
    assert "oat has moved" not in plain.output
    assert "oat has moved, or novel rows pass for it: its rows lie" in done.output
    found = pd.read_csv(weeks / "out" / "labels.csv").drop(columns="control")
    pd.testing.assert_frame_equal(found, pd.read_csv(weeks / "plain" / "labels.csv"))

    table.assign(control=["barley"] * 10 + [""] * 30).to_csv(weeks / "batch.csv", index=False)
    said = run("update", model, weeks / "batch.csv", "--label", "control", "-o", weeks / "no").output
    assert said.startswith("row 1 of batch.csv has the label 'barley' (--label), which is no class of the model; these")
    assert "are: oat, rye. Leave it empty" in said
    assert not (weeks / "no").exists()
    assert (
        "(--label). Did you mean 'control'?"
        in run("update", model, weeks / "batch.csv", "--label", "contro", "-o", weeks / "no").output
    )
    table.assign(control="").to_csv(weeks / "batch.csv", index=False)
    assert run("update", model, weeks / "batch.csv", "--label", "control", "-o", weeks / "no").exit_code == 0


def test_a_batch_may_replace_the_model_it_goes_on_from(updated):
    folder = updated / "found2"
    done = run("update", folder / "model.vbrand", updated / "week1.csv", "-o", folder, "-q")
    assert done.exit_code == 0, done.output
    assert load(folder / "model.vbrand").events()[-1].batch == 3


def test_a_name_holds_in_the_file_and_for_predictions(updated):
    model = updated / "found2" / "model.vbrand"
    done = run("name", model, "novel 1", "millet")
    assert done.output == "known classes: oat, rye, millet.\n"
    labels = run("predict", model, updated / "week1.csv", "--id", "sample").output.splitlines()
    assert labels[-1].split(",")[1:3] == ["millet", "millet"]
    assert run("name", model, "millet", "foxtail").output == "known classes: oat, rye, foxtail.\n"
    again = run("update", model, updated / "week1.csv", "--id", "sample", "-o", updated / "found3")
    assert again.exit_code == 0, again.output
    assert pd.read_csv(updated / "found3" / "labels.csv")["label"].tolist()[-1] == "foxtail"
    assert run("report", model).exit_code == 0


def test_names_come_from_a_file(updated):
    model, names = updated / "found2" / "model.vbrand", updated / "names.json"
    names.write_text('{"novel 1": "millet"}')
    assert run("name", model, "--from", names, "-o", updated / "named.vbrand").exit_code == 0
    assert load(updated / "named.vbrand").classes_.tolist() == ["oat", "rye", "millet"]
    assert load(model).classes_.tolist() == ["oat", "rye"]
    names.write_text('{"novel 1": {"join": "rye"}}')
    assert run("name", model, "--from", names, "-o", updated / "joined.vbrand").exit_code == 0
    assert load(updated / "joined.vbrand").classes_.tolist() == ["oat", "rye"]
    for wrong in ("[1]", '{"novel 1": 5}', '{"novel 1": {"join": 5}}', '{"novel 1": {"other": "oat"}}', "oat"):
        names.write_text(wrong)
        assert "holds no names" in run("name", model, "--from", names).output


def test_groups_are_joined_and_forgotten(updated):
    model = updated / "found2" / "model.vbrand"
    assert run("name", model, "novel 1", "rye", "--join", "-o", updated / "joined.vbrand").exit_code == 0
    assert load(updated / "joined.vbrand").group_names == ["oat", "rye"]
    assert run("name", model, "novel 1", "--forget").exit_code == 0
    assert load(model).group_names == ["oat", "rye"]


def test_events_are_told(updated):
    run("name", updated / "found2" / "model.vbrand", "novel 1", "millet")
    lines = run("events", updated / "found2" / "model.vbrand").output.splitlines()
    assert [line.split()[2] for line in lines[1:]] == ["born", "grown", "named"]


def test_one_name_that_can_not_be_leaves_the_others_unsaid(updated):
    model, names = updated / "found2" / "model.vbrand", updated / "names.json"
    before = model.read_bytes()
    names.write_text('{"novel 1": "millet", "novel 9": "vetch"}')
    assert "there is no group 'novel 9'" in run("name", model, "--from", names).output
    assert model.read_bytes() == before


def test_a_name_may_begin_with_a_dash(updated):
    model = updated / "found2" / "model.vbrand"
    assert run("name", "--", model, "novel 1", "-x").output == "known classes: oat, rye, -x.\n"


def test_the_report_of_a_named_model_tells_of_it(updated):
    model = updated / "found2" / "model.vbrand"
    assert 'id="naming"' in (updated / "found2" / "report.html").read_text()
    run("name", model, "novel 1", "millet")
    assert run("report", model).exit_code == 0
    page = (updated / "found2" / "report.html").read_text()
    assert 'id="naming"' not in page
    assert "<td>named</td>" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("novel 7", "millet"), "there is no group 'novel 7'; there are: novel 1."),
        (("novel 1", "rye"), "the name 'rye' is taken"),
        (("novel 1",), "what is novel 1?"),
        ((), "give a group and its name"),
    ],
)
def test_what_can_not_be_is_one_sentence_and_the_model_stays(updated, words, sentence):
    model = updated / "found2" / "model.vbrand"
    before = model.read_bytes()
    done = run("name", model, *words)
    assert done.exit_code == 2
    assert sentence in done.output
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    "table",
    ["a,b,d\n1,2,3\n2,3,4\n", "a,b,c\n", "", "a,b,c\n,,\n,,\n", "a,b,c\n1,2,3\n1,2,3\n", "a,b,c\n1,2,x\n2,1,y\n"],
    ids=["other columns", "no rows", "nothing", "no cell", "all rows equal", "text"],
)
def test_a_batch_that_is_none_is_one_sentence_and_leaves_everything_as_it_was(updated, table):
    folder = updated / "found2"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    (updated / "odd.csv").write_text(table)
    done = run("update", folder / "model.vbrand", updated / "odd.csv", "-o", folder)
    assert done.exit_code == 2
    assert len(done.output.strip().splitlines()) == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
