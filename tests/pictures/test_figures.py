"""Figures as dicts: they hold every row and every count, and no markup of strangers."""

import json
from dataclasses import replace

import numpy as np
import pytest
from doubts import doubted
from tables import grain_rows

from vbrand.facts.explain import Contribution, Explanation
from vbrand.io.files.plain import json_ready
from vbrand.pictures import figures
from vbrand.pictures.looks import GREY


@pytest.fixture(scope="module")
def facts(grain_found):
    return grain_found.facts(source="grain.csv", truth=grain_rows()[3])


def test_every_row_is_on_the_map_in_every_view(facts):
    figure = figures.map_figure(facts)
    assert [trace["name"] for trace in figure["data"]] == ["oat (30)", "novel 1 (30)"]
    for trace, view in zip(figure["data"], figure["views"], strict=True):
        assert len(trace["text"]) == 30
        assert {name: place.shape for name, place in view["places"].items()} == {"pca": (2, 30), "tsne": (2, 30)}
        assert view["colours"]["novelty"].shape == (30,)
    assert [label["text"] for label in figure["labels"]["pca"]] == ["oat", "novel 1"]
    assert set(figure["titles"]) >= set(figure["labels"]) == {"pca", "tsne"}


def test_a_row_says_its_name_group_truth_and_probabilities(facts):
    text = figures.map_figure(facts)["data"][1]["text"][0]
    sure = f"P(novel) {facts.points.novelty[30]:.3f}"
    assert text.split("<br>")[:3] == ["<b>30</b>: novel 1", "true class teff", sure]
    assert facts.points.novelty[30] > 0.9


def test_bars_add_up_to_the_rows_and_the_threshold_is_drawn(facts):
    figure = figures.novelty_figure(facts)
    assert [trace["name"] for trace in figure["data"]] == ["known classes", "novel groups"]  # no outliers, no bar
    assert [trace["y"].sum() for trace in figure["data"]] == [30, 30]
    assert {trace["width"] for trace in figure["data"]} == {1.0 / facts.novelty_counts.shape[0]}
    assert figure["layout"]["shapes"][0]["x0"] == facts.threshold


def test_profiles_have_a_line_for_each_group_and_a_band_for_novel_ones(facts):
    figure = figures.profile_figure(facts)
    named = [trace["name"] for trace in figure["data"] if "name" in trace]
    assert named == ["oat", "rye", "novel 1"]
    bands = [trace for trace in figure["data"] if "name" not in trace]
    assert {trace["legendgroup"] for trace in bands} == {"novel 1"}
    assert (bands[0]["y"] <= bands[1]["y"]).all()
    assert figure["layout"]["xaxis"]["ticktext"] == ["moisture", "protein", "ash"]


def test_columns_that_bring_a_group_nearer_are_not_drawn(facts):
    parts = (
        Contribution("fat", 3.0, 1.0, 0.8),
        Contribution("ash", 1.0, 2.0, 0.3),
        Contribution("salt", 1.0, 1.0, -0.1),
    )
    group = replace(facts.groups[2], explanation=Explanation("oat", 5.0, 1.7, parts))
    trace = figures.features_figure(group)["data"][0]
    assert trace["x"] == [0.3, 0.8]  # the largest is on top
    assert [text[0] for text in trace["text"]] == ["▼", "▲"]


def test_the_bound_rises_to_its_last_value_and_kept_moves_lie_on_it(facts):
    bound, *moves = figures.history_figure(facts)["data"]
    assert bound["y"][-1] == facts.climb.trace[-1]
    assert sum(len(trace["y"]) for trace in moves) == sum(move.kept for move in facts.climb.moves)
    for trace in moves:
        assert (np.asarray(trace["x"]) <= bound["x"][-1]).all()


def test_shares_of_a_true_class_sum_to_one(facts):
    trace = figures.confusion_figure(facts)["data"][0]
    np.testing.assert_allclose(trace["z"].sum(axis=1), 1.0)
    assert trace["text"] == [["30", "", ""], ["", "", "30"]]


def test_names_are_escaped_and_cut_wherever_they_are_shown(grain_found):
    evil = "<img src=x onerror=alert(1)> of a very long name"
    facts = grain_found.facts(names=[evil] * 60, truth=[evil] * 60)
    groups = tuple(replace(group, name=f"<b>{k}</b>") for k, group in enumerate(facts.groups))
    profiles = replace(facts.profiles, columns=(evil, "<i>a</i>", "b & c"))
    facts = replace(facts, groups=groups, profiles=profiles)
    drawn = [figures.map_figure(facts), figures.novelty_figure(facts), figures.profile_figure(facts)]
    drawn += [figures.features_figure(groups[2]), figures.confusion_figure(facts)]
    text = json.dumps(json_ready([{**figure, "data": [shown(trace) for trace in figure["data"]]} for figure in drawn]))
    for markup in ("<img", "<i>", "<b>0</b>"):
        assert markup not in text
    assert "&lt;img src=x onerror=ale" in text
    assert "of a very long name" not in "".join(figures.map_figure(facts)["data"][0]["text"])


def shown(trace):
    """Return a trace without the names that only tie traces together."""
    return {key: value for key, value in trace.items() if key != "legendgroup"}


def test_outlier_groups_have_no_line_and_no_name_on_the_map(facts):
    few = replace(facts, groups=(*facts.groups[:2], replace(facts.groups[2], kind="outlier group")))
    assert [trace["name"] for trace in figures.profile_figure(few)["data"]] == ["oat", "rye"]
    assert [label["text"] for label in figures.map_figure(few)["labels"]["pca"]] == ["oat"]


def test_doubtful_groups_are_grey_and_called_so_in_every_figure(facts):
    doubtful = doubted(facts)
    figure = figures.map_figure(doubtful)
    assert [trace["name"] for trace in figure["data"]] == ["oat (30)", "novel 1 (30), doubtful"]
    assert figure["data"][1]["marker"]["color"] == GREY
    assert [figure["views"][1]["colours"][kind] for kind in ("group", "class")] == [GREY, GREY]
    assert figure["data"][1]["text"][0].startswith("<b>30</b>: novel 1, doubtful<br>")
    assert [label["text"] for label in figure["labels"]["tsne"]] == ["oat", "novel 1, doubtful"]
    line = figures.profile_figure(doubtful)["data"][-1]
    assert (line["name"], line["line"]["color"]) == ("novel 1, doubtful", GREY)
    assert figures.features_figure(doubtful.groups[2])["data"][0]["marker"]["color"] == GREY
    ticks = figures.confusion_figure(doubtful)["layout"]["xaxis"]["ticktext"]
    assert ticks == ["oat", "rye", "novel 1, doubtful"]
