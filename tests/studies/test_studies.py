"""Every study at toy size, through the code that `vbrand reproduce` runs."""

import csv
import os
import shutil
from contextlib import contextmanager

import numpy as np
import pytest
from shared import SHARED, needs_shared

from vbrand.studies.plans import EFFORTS, plan
from vbrand.studies.reproduce import SIMULATED, reproduce, write_page
from vbrand.studies.runner import read, run_all
from vbrand.studies.simulate import contaminated, simulate
from vbrand.studies.statlog import SOILS, load_soils
from vbrand.studies.summary import cells
from vbrand.studies.tasks import COLUMNS, Task, run_task

TOY = EFFORTS["toy"]
pytest.importorskip("matplotlib", reason="figures need matplotlib: pip install 'vbrand[plot]'")


@contextmanager
def silent(name, total):
    costs = []
    yield costs.append
    assert sum(costs) == pytest.approx(total)


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    made = {study: reproduce(study, out, TOY, jobs=1, data=None, bar=silent) for study in SIMULATED}
    return out, made, write_page(out, TOY)


@pytest.mark.parametrize("study", SIMULATED)
def test_a_study_writes_one_line_a_task_and_its_figures(reproduced, study):
    out, made, page = reproduced
    lines = list(csv.DictReader((out / "reproduction" / f"{study}.csv").read_text().splitlines()))
    assert len(lines) == len(plan(study, TOY))
    assert tuple(lines[0]) == COLUMNS
    assert all(-1.0 <= float(line["ari"]) <= 1.0 and float(line["seconds"]) >= 0.0 for line in lines)
    for figure in made[study]:
        assert figure.stat().st_size > 5_000
        assert figure.with_suffix(".svg").read_text().startswith("<?xml")
        assert f"(reproduction/{figure.name})" in page.read_text()


def test_the_page_shows_all_arms_and_no_missing_pictures(reproduced):
    out, _, page = reproduced
    text = page.read_text()
    for words in ("the paper's protocol", "search, paper's priors", "VBrand()", "The smallest ratio is", "lambda_0"):
        assert words in text
    for picture in text.split("](")[1:]:
        assert (out / picture.split(")")[0]).exists()
    assert "nan" not in text


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    path = tmp_path / "ss1.csv"
    tasks = plan("ss1", TOY)
    whole = run_all(tasks, path)
    text = path.read_text()
    path.write_text("".join(text.splitlines(keepends=True)[:2]) + text.splitlines()[2][:20])  # cut within a line
    assert len(read(path)) == 1
    again = run_all(tasks, path)
    assert [line["ari"] for line in again] == [line["ari"] for line in whole]
    assert again[0] == whole[0]  # times and all: it was not run again
    assert len(path.read_text().splitlines()) == len(tasks) + 1


def test_arms_and_settings_of_a_replicate_see_the_same_rows():
    usual = {"weight": 0.1, "concentration": 5.5, "novel_mean_strength": 1.0, "novel_dof": 4.0}  # of the study
    both = [run_task(Task("ss3_low", "paper", 0.2, 2, 0, **setting)) for setting in ({}, usual)]
    assert both[0]["bound"] == pytest.approx(both[1]["bound"])
    assert run_task(Task("ss1", "default", 0.1, 2, 0))["ari"] == run_task(Task("ss1", "default", 0.1, 2, 0))["ari"]


def test_the_shown_effort_is_what_the_issue_asks_for():
    shown = EFFORTS["shown"]
    count = {study: len(plan(study, shown)) for study in SIMULATED}
    assert count["ss1"] == 25 * (50 + 10 + 10 + 10)
    assert count["ss2"] == 50 * (4 * 5 + 1 + 5)
    assert count["ss3"] == 2 * 5 * (81 * 2 + 1)
    assert all(len({task.key for task in plan(study, shown)}) == count[study] for study in SIMULATED)


def test_contamination_swaps_a_tenth_and_adds_a_twentieth():
    clean = simulate("ss1", 0)
    dirty = contaminated(clean, 0)
    n = clean.train_classes.size
    assert (dirty.train_classes[:n] != clean.train_classes).sum() == n // 10
    assert dirty.train.shape[0] == n + n // 20
    assert np.linalg.norm(dirty.train[n:], axis=1).min() > 20.0
    assert np.array_equal(dirty.test, clean.test)


def test_cells_are_means_with_standard_errors():
    lines = [{"ari": "0.5", "arm": "a"}, {"ari": "0.7", "arm": "a"}, {"ari": "1", "arm": "b"}]
    held = cells(lines, "ari", lambda line: line["arm"])
    assert (held["a"].mean, held["a"].count) == (0.6, 2)
    assert held["a"].error == pytest.approx(0.1)
    assert np.isnan(held["b"].error)


@needs_shared
def test_soils_run_through_three_arms(tmp_path):
    folder = SHARED / "data" / "statlog"
    made = reproduce("statlog", tmp_path, TOY, jobs=1, data=folder, bar=silent)
    assert [figure.stem for figure in made] == ["statlog_paper", "statlog_search", "statlog_default"]
    lines = list(csv.DictReader((tmp_path / "reproduction" / "statlog_2.csv").read_text().splitlines()))
    assert [line["arm"] for line in lines] == ["paper", "search", "default", "mrcd"]
    assert "has 2 starts" in write_page(tmp_path, TOY).read_text()


@needs_shared
def test_soils_come_from_a_named_folder_and_are_checked(tmp_path, monkeypatch):
    folder = SHARED / "data" / "statlog"
    monkeypatch.setenv("VBRAND_DATA", str(folder))
    soils = load_soils()
    assert (soils.train.shape, soils.test.shape) == ((3486, 36), (2000, 36))
    assert set(soils.train_kinds) == set(SOILS) - {2, 5}
    with pytest.raises(FileNotFoundError, match=r"must hold sat\.trn and sat\.tst"):
        load_soils(tmp_path)
    for name in ("sat.trn", "sat.tst"):
        shutil.copy(folder / name, tmp_path / name)
    changed = (tmp_path / "sat.tst").read_text().replace("80 102 102", "80 102 103", 1)
    os.chmod(tmp_path / "sat.tst", 0o600)
    (tmp_path / "sat.tst").write_text(changed)
    with pytest.raises(ValueError, match=r"does not hold the numbers of Statlog's sat\.tst"):
        load_soils(tmp_path)


def test_without_data_and_network_one_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("VBRAND_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    try:
        test, sentence = load_soils().test.shape, None
    except OSError as error:
        test, sentence = None, str(error)
    # where there is a network the copy is the right one
    assert test == (2000, 36) or "--data FOLDER, or VBRAND_DATA" in sentence
    assert test is not None or not list(tmp_path.rglob("sat.*"))
