"""Every study at toy size, through the code that `vbrand reproduce` runs."""

import csv
from contextlib import contextmanager
from dataclasses import replace

import pytest
from deep import amount
from shared import SHARED, needs_shared

from vbrand.studies.plans import EFFORTS, plan
from vbrand.studies.reproduce import SIMULATED, reproduce, write_page
from vbrand.studies.tasks import COLUMNS

# smaller still than the smallest effort that users have: the code is the same
TOY = replace(EFFORTS["toy"], **amount({"sizes": (0.2,), "every": 5}, {}))
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


def test_the_page_has_only_studies_whose_tables_hold_what_the_effort_asks_for(reproduced, monkeypatch):
    monkeypatch.setattr("vbrand.studies.reproduce.draw_diagrams", lambda folder: [])
    out, _, page = reproduced
    before = page.read_text()
    assert before.count("\n## ") == len(SIMULATED)
    other = write_page(out, EFFORTS["quick"])
    assert other.read_text().count("\n## ") == 0
    assert write_page(out, TOY).read_text() == before


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


@needs_shared
def test_soils_run_through_three_arms(tmp_path):
    folder = SHARED / "data" / "statlog"
    made = reproduce("statlog", tmp_path, TOY, jobs=1, data=folder, bar=silent)
    assert [figure.stem for figure in made] == ["statlog_paper", "statlog_search", "statlog_default"]
    lines = list(csv.DictReader((tmp_path / "reproduction" / "statlog_2.csv").read_text().splitlines()))
    assert [line["arm"] for line in lines] == ["paper", "search", "default", "mrcd"]
    assert "has 2 starts" in write_page(tmp_path, TOY).read_text()


def test_the_page_shows_all_arms_and_no_missing_pictures(reproduced):
    out, _, page = reproduced
    text = page.read_text()
    for words in ("the paper's protocol", "search, paper's priors", "VBrand()", "The smallest ratio is", "lambda_0"):
        assert words in text
    for picture in text.split("](")[1:]:
        assert (out / picture.split(")")[0]).exists()
    assert "nan" not in text
