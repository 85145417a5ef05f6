"""The two diagrams of the docs."""

import pytest

from vbrand.studies.diagrams import draw_diagrams

pytest.importorskip("matplotlib", reason="figures need matplotlib: pip install 'vbrand[plot]'")


def test_both_diagrams_are_drawn_and_name_all_steps(tmp_path):
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none"}):
        assert draw_diagrams(tmp_path) == ["model", "fit"]
    assert {path.name for path in tmp_path.iterdir()} == {"model.png", "model.svg", "fit.png", "fit.svg"}
    assert all(path.stat().st_size > 5_000 for path in tmp_path.iterdir())
    fit, model = ((tmp_path / f"{name}.svg").read_text() for name in ("fit", "model"))
    for words in ("share rows out", "never falls", "try births, merges, releases", "labels, groups"):
        assert words in fit
    for words in ("class A, labelled", "outliers, wrong labels: set aside", "unlabelled", "novel 1", "novel 2"):
        assert words in model
