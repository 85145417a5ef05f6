"""The demo: what it learns from, and what it finds."""

import json

import pytest

from vbrand.commands.demo import CULTIVARS, UNSEEN, wines


@pytest.fixture(scope="module")
def material():
    return wines()


def test_nobody_has_labelled_the_unseen_cultivar(material):
    assert set(material.labels.tolist()) == set(CULTIVARS) - {UNSEEN}
    assert set(material.unknown.truth.tolist()) == set(CULTIVARS)
    assert (material.unknown.truth == UNSEEN).sum() == 48


def test_rows_have_names_and_columns_that_people_know(material):
    unknown = material.unknown
    assert unknown.rows.shape == (len(unknown.names), len(unknown.columns)) == (113, 13)
    assert material.rows.shape == (65, 13)
    assert {"alcohol", "color intensity", "od280 / od315 of diluted wines"} <= set(unknown.columns)
    assert unknown.names[0] == "2"  # its line in the table of all wines


def test_the_demo_says_what_it_is_about_what_it_found_and_how_far_to_trust_it(demo):
    folder, printed = demo
    summary = json.loads((folder / "summary.json").read_text())
    lines = printed.splitlines()
    assert lines[0].startswith("Wines of Piedmont")
    assert summary["trust"] in lines
    assert summary["sentence"] in lines
    (novel,) = [line for line in lines if "novel group" in line and "(" in line]
    assert f"{UNSEEN} (" in novel
    assert "color intensity" in printed
    assert all(summary["scores"][name] > 0.8 for name in ("ari", "novelty_f1", "known_accuracy"))
