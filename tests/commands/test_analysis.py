"""From tables to answers on disk: labels, model, summary and report that agree."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from calls import discover, labels_of
from doubts import doubted, unchecked
from hypothesis import given
from hypothesis import strategies as st
from tables import grain_rows, write_grain

import vbrand
from vbrand.commands.analysis import (
    FILES,
    LIKE_NONE,
    Selection,
    _other_names,
    analyse,
    named,
    summary_json,
    write_analysis,
    write_labels,
)
from vbrand.commands.terminal import stages
from vbrand.estimators.model_file import read_model
from vbrand.facts.check import UNCHECKED
from vbrand.io.tables.material import Material, Roles, RowNumbers, Unknown, read_material


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    train, test = write_grain(tmp_path_factory.mktemp("analysis"))
    material = read_material(str(train), str(test), Roles("variety", truth="truth"))
    return analyse(material, {"random_state": 0}, stages(quiet=True))


def lines_of(analysis):
    file = io.BytesIO()
    write_labels(file, analysis.detector, analysis.unknown, analysis.facts)
    return list(csv.DictReader(io.StringIO(file.getvalue().decode())))


def test_a_line_is_a_row_with_its_answers(analysis):
    lines, found = lines_of(analysis), analysis.found
    assert [line["row"] for line in lines] == [str(i + 1) for i in range(60)]
    assert [line["label"] for line in lines] == found.labels.tolist()
    names = [group.name for group in found.groups]
    assert [line["cluster"] for line in lines] == [names[k] for k in found.clusters.tolist()]
    for j, name in enumerate(("P(oat)", "P(rye)", "novelty_probability")):
        written = [float(line[name]) for line in lines]
        np.testing.assert_allclose(written, found.class_probabilities[:, j], rtol=1e-5, atol=1e-12)


def test_rows_of_doubtful_groups_are_marked_and_no_others(analysis):
    for facts, marks in ((doubted(analysis.facts), ("false", "true")), (unchecked(analysis.facts), ("", ""))):
        lines = lines_of(replace(analysis, facts=facts))
        assert [line["doubtful"] for line in lines] == [marks[line["label"] == "novel"] for line in lines]
    held = [analysis.facts.groups[k].doubtful for k in analysis.found.clusters]
    assert [line["doubtful"] for line in lines_of(analysis)] == [str(doubtful).lower() for doubtful in held]


def test_without_a_discovery_all_that_is_novel_is_like_no_group(analysis):
    known, labels, new, _ = grain_rows()
    detector = vbrand.VBrand(random_state=0).fit(named(known, analysis.unknown.columns), labels)
    file = io.BytesIO()
    write_labels(file, detector, replace(analysis.unknown, rows=new[25:35]), None)
    lines = list(csv.DictReader(io.StringIO(file.getvalue().decode())))
    assert [line["cluster"] for line in lines] == ["oat"] * 5 + [LIKE_NONE] * 5
    assert {line["doubtful"] for line in lines} == {""}  # nothing was checked


def test_the_summary_is_json_and_adds_up(analysis):
    summary = json.loads(summary_json(analysis), parse_constant=pytest.fail)
    assert summary["known_rows"] + summary["novel_rows"] + summary["outlier_rows"] == summary["rows"] == 60
    assert sum(group["rows"] for group in summary["groups"]) == 60
    assert summary["novel_label"] == "novel"
    assert summary["groups"][1]["novelty_probability"] is None  # no rows of rye
    assert summary["scores"]["ari"] == analysis.scores.ari
    assert np.sum(summary["confusion"]["counts"]) == 60
    check = analysis.found.check
    assert (summary["trust"], summary["check"]["false_share"]) == (str(check), check.false_share)
    assert [each["rows"] for each in summary["check"]["by_group"]] == [30]
    assert [group["doubtful"] for group in summary["groups"]] == [group.doubtful for group in analysis.facts.groups]
    assert summary["selected_rows"] is None
    assert summary["settings"]["random_state"] == 0


def test_the_summary_tells_doubtful_rows_and_what_was_not_checked(analysis):
    assert json.loads(summary_json(replace(analysis, facts=doubted(analysis.facts))))["doubtful_rows"] == 30
    summary = json.loads(summary_json(replace(analysis, facts=unchecked(analysis.facts))))
    assert (summary["trust"], summary["check"], summary["doubtful_rows"]) == (UNCHECKED, None, 0)
    assert {group["doubtful"] for group in summary["groups"]} == {None}


def test_labels_of_a_large_table_that_was_here_before_go(analysis, tmp_path):
    (tmp_path / "labels.parquet").mkdir()
    (tmp_path / "labels.parquet" / "part-00000.parquet").write_text("of before")
    write_analysis(analysis, tmp_path, stages(quiet=True))
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)


def test_selected_rows_are_those_of_the_library(analysis, tmp_path):
    chosen = analysis.found.select(0.2)
    selecting = replace(analysis, selection=Selection(0.2, chosen))
    write_analysis(selecting, tmp_path / "out", stages(quiet=True))
    assert [line["selected"] == "true" for line in labels_of(tmp_path)] == chosen.tolist()
    assert json.loads(summary_json(selecting))["selected_rows"] == chosen.sum() > 0
    assert str(Selection(0.2, chosen)) == (
        f"{chosen.sum()} rows are selected as novel; at most 20 % of them are expected to be known."
    )


def test_a_model_without_labelled_rows_says_the_same_but_checks_no_more(analysis, tmp_path):
    for out, rows in (("with", True), ("without", False)):
        write_analysis(analysis, tmp_path / out, stages(quiet=True), rows=rows)
    held, bare = (read_model(tmp_path / out / "model.vbrand") for out in ("with", "without"))
    assert held.learned.witnesses is not None
    assert bare.learned.witnesses is None
    assert bare.facts.check == held.facts.check
    new = named(analysis.unknown.rows, analysis.unknown.columns)
    assert vbrand.load(tmp_path / "without" / "model.vbrand").discover(new).check is None
    for name in ("labels.csv", "summary.json", "report.html"):
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()


def test_what_the_library_warns_of_becomes_a_note():
    known, labels, new, _ = grain_rows()
    flat = [np.insert(rows, 1, 7.0, axis=1) for rows in (known, new)]
    material = read_of(*flat, labels)
    notes = analyse(material, {"random_state": 0}, stages(quiet=True)).facts.notes
    assert any(note.startswith("dropped column 'b': the same value") for note in notes)


def read_of(known, new, labels):
    unknown = Unknown(new, tuple("abcd"), {"row": RowNumbers(range(len(new)))}, "a table")
    return Material(known, np.array(labels), unknown, ("read with care.",))


def test_all_files_are_written_and_the_model_gives_the_same_labels(analysis, tmp_path):
    write_analysis(analysis, tmp_path / "out", stages(quiet=True))
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(FILES)
    rows = named(analysis.unknown.rows, analysis.unknown.columns)
    assert vbrand.load(tmp_path / "out" / "model.vbrand").predict(rows).tolist() == analysis.found.labels.tolist()
    assert (tmp_path / "out" / "summary.json").read_text(encoding="utf-8") == summary_json(analysis)


@given(
    st.lists(
        st.sampled_from(["label", "label (table)", "cluster", "id", "P(oat)", "doubtful"]), max_size=5, unique=True
    )
)
def test_carried_columns_get_names_of_their_own(names):
    taken = ["label", "cluster", "doubtful", "novelty_probability", "P(oat)"]
    others = _other_names(names, taken)
    assert len(set(others) | set(taken)) == len(others) + len(taken)
    assert all(other.startswith(name) for other, name in zip(others, names, strict=True))
    assert "id" not in names or "id" in others


def test_rows_get_names_without_a_copy():
    rows = np.zeros((3, 2))
    assert named(rows, None) is rows
    assert np.shares_memory(named(rows, ("a", "b")).to_numpy(), rows)


def test_the_library_and_the_command_agree(tmp_path):
    train, test = write_grain(tmp_path)
    discover(tmp_path, train, test, "--label", "variety", "-q")
    known, labels, new, _ = grain_rows()
    found = vbrand.VBrand(random_state=0).fit(known, labels).discover(new)
    lines = labels_of(tmp_path)
    assert [line["label"] for line in lines] == found.labels.tolist()
    assert [float(line["novelty_probability"]) for line in lines] == pytest.approx(found.novelty_probability, rel=1e-5)


def test_the_same_tables_give_the_same_files(tmp_path):
    train, test = write_grain(tmp_path)
    for out, jobs in (("first", 1), ("second", 2)):
        discover(tmp_path, train, test, "--label", "variety", "-q", "--jobs", jobs, out=out)
    for name in ("labels.csv", "report.html"):
        first, second = ((tmp_path / out / name).read_bytes() for out in ("first", "second"))
        assert first.replace(b"<td>1</td>", b"<td>2</td>") == second.replace(b"<td>1</td>", b"<td>2</td>")


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
