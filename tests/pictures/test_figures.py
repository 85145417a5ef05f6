"""Figures as dicts: they hold every row and every count, in words and inks that the page knows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from doubts import doubted, unchecked
from tables import grain_rows

from vbrand import VBrand
from vbrand.facts.explain import Contribution, Explanation
from vbrand.pictures import figures
from vbrand.pictures.looks import GREY_INK, INKS, looks_of
from vbrand.pictures.page import report_html


@pytest.fixture(scope="module")
def facts(grain_found):
    return grain_found.facts(source="grain.csv", truth=grain_rows()[3])


def features(group):
    return figures.features_figure(group, looks_of((group,))[0])


def test_every_row_and_every_labelled_row_has_a_place_in_every_view(facts):
    figure = figures.map_figure(facts)
    assert set(figure["views"]) == {"pca", "tsne"}
    for view in figure["views"].values():
        assert view["rows"].shape == (2, 60)
        assert view["labelled"].shape == (2, 80)
        assert [middle[0] for middle in view["middles"]] == [2, 0]  # novel groups get their names first; rye has no row
    assert np.bincount(figure["labelled"]).tolist() == [40, 40]


def test_labelled_rows_lie_with_the_rows_of_their_class(facts):
    figure = figures.map_figure(facts)
    view = figure["views"]["pca"]
    oats = view["labelled"][:, np.asarray(figure["labelled"]) == 0].mean(axis=1)
    middles = {k: np.array([x, y]) for k, x, y in view["middles"]}
    apart = np.linalg.norm(middles[2] - middles[0])
    assert np.linalg.norm(oats - middles[0]) < 0.3 * apart < np.linalg.norm(oats - middles[2])


def test_bars_add_up_to_the_rows_and_the_threshold_is_drawn(facts):
    figure = figures.novelty_figure(facts)
    known, novel, hidden = figure["series"]  # no outliers, no bar
    assert (known["name"], novel["name"]) == ("known classes", "novel groups")
    assert (known["size"].sum(), novel["size"].sum()) == (30, 30)
    assert hidden["name"] == "labelled rows, while they were hidden"
    assert hidden["size"].sum() == facts.check.hidden_rows
    assert figure["rules"][0]["x"] == facts.threshold
    assert novel["tips"][-1].startswith(f"{novel['size'][-1]} novel groups\nP(novel) about 0.9")


def test_without_a_check_no_labelled_row_was_hidden(facts):
    assert len(figures.novelty_figure(unchecked(facts))["series"]) == 2


def test_profiles_have_a_line_for_each_group_and_a_band_for_novel_ones(facts):
    figure = figures.profile_figure(facts)
    lines = [series for series in figure["series"] if series["kind"] == "line"]
    assert [line["name"] for line in lines] == ["oat", "rye", "novel 1"]
    (band,) = [series for series in figure["series"] if series["kind"] == "area"]
    assert band["name"] == "novel 1"
    assert (band["x"][:3] <= band["x"][:2:-1]).all()  # the lower quartiles, then the upper ones on the way back
    assert [word for _, word in figure["y"]["ticks"]] == ["moisture", "protein", "ash"]
    assert "robust scales" in figure["x"]["title"]
    assert figure["y"]["title"] == "column"


def test_spectra_run_across_and_tell_their_unit():
    rng = np.random.default_rng(0)
    shapes = np.sin(np.linspace(0, 3, 40)) * np.array([[1.0], [2.0], [-3.0]])
    rows = [shapes[k] + 0.1 * rng.normal(size=(30, 40)) for k in (0, 1, 0, 2)]
    names = [f"{1100 + 2 * j} nm" for j in range(40)]
    detector = VBrand(random_state=0).fit(pd.DataFrame(np.vstack(rows[:2]), columns=names), ["a"] * 30 + ["b"] * 30)
    figure = figures.profile_figure(detector.discover(pd.DataFrame(np.vstack(rows[2:]), columns=names)).facts())
    assert (figure["x"]["title"], figure["y"]["title"]) == ("column (nm)", "median of the group")
    assert figure["series"][0]["x"][-1] == 1178.0


def test_of_many_groups_a_few_novel_ones_and_the_classes_nearest_to_them_have_lines(facts):
    oat, rye, novel = facts.groups
    many = tuple(replace(oat, name=f"oat {k}") for k in range(8))
    groups = (*many, oat, rye, *(replace(novel, name=f"novel {k + 1}") for k in range(6)))
    near = novel.explanation.nearest
    shown = [groups[k].name for k in sorted(figures._shown_lines(groups))]
    assert shown == [near, "novel 1", "novel 2", "novel 3", "novel 4"]
    assert figures._shown_lines(facts.groups) == {0, 1, 2}


def test_columns_that_bring_a_group_nearer_are_not_drawn(facts):
    parts = (
        Contribution("fat", 3.0, 1.0, 0.8),
        Contribution("ash", 1.0, 2.0, 0.3),
        Contribution("salt", 1.0, 1.0, -0.1),
    )
    figure = features(replace(facts.groups[2], explanation=Explanation("oat", 5.0, 1.7, parts)))
    (bars,) = figure["series"]
    assert bars["size"] == [0.8, 0.3]
    assert figure["y"]["range"][0] > figure["y"]["range"][1]  # the largest is on top
    assert bars["words"] == ["▲ 3 (usual: 1)", "▼ 1 (usual: 2)"]


def test_the_bound_rises_to_its_last_value_and_kept_moves_lie_on_it(facts):
    bound, *moves = figures.history_figure(facts)["series"]
    assert bound["y"][-1] == facts.climb.trace[-1]
    assert sum(len(series["y"]) for series in moves) == sum(move.kept for move in facts.climb.moves)
    for series in moves:
        assert (np.asarray(series["x"]) <= bound["x"][-1]).all()


def test_shares_of_a_true_class_sum_to_one(facts):
    (cells,) = figures.confusion_figure(facts)["series"]
    np.testing.assert_allclose(cells["share"].sum(axis=1), 1.0)
    assert cells["words"] == [["30", "", ""], ["", "", "30"]]
    assert cells["tips"][1][2] == "30 rows of teff\n100% of them are in novel 1"


def test_every_figure_uses_inks_that_the_page_has(facts):
    drawn = [figures.novelty_figure(facts), figures.profile_figure(facts), figures.history_figure(facts)]
    drawn += [figures.confusion_figure(facts), features(facts.groups[2])]
    used = {series["ink"] for figure in drawn for series in figure["series"]}
    assert used <= {*(name for name, _, _ in INKS), "ink", "link"}


def test_long_names_are_cut(grain_found):
    long = "a name that does not end for quite a while, as names in tables do"
    facts = grain_found.facts(truth=[long] * 60)
    facts = replace(facts, groups=tuple(replace(group, name=f"{long} {group.name}") for group in facts.groups))
    names = [series["name"] for series in figures.profile_figure(facts)["series"]]
    names += [word for _, word in figures.confusion_figure(facts)["y"]["ticks"]]
    assert max(len(name) for name in names) == 24


def test_outlier_groups_have_no_line_and_no_name_on_the_map(facts):
    few = replace(facts, groups=(*facts.groups[:2], replace(facts.groups[2], kind="outlier group")))
    assert [series["name"] for series in figures.profile_figure(few)["series"]] == ["oat", "rye"]
    assert [middle[0] for middle in figures.map_figure(few)["views"]["pca"]["middles"]] == [0]


def test_doubtful_groups_are_grey_and_called_so_in_every_figure(facts):
    doubtful = doubted(facts)
    line = figures.profile_figure(doubtful)["series"][-1]
    assert (line["name"], line["ink"], line["dash"]) == ("novel 1, doubtful", GREY_INK, "dot")
    assert features(doubtful.groups[2])["series"][0]["ink"] == GREY_INK
    ticks = figures.confusion_figure(doubtful)["x"]["ticks"]
    assert [word for _, word in ticks] == ["oat", "rye", "novel 1, doubtful"]


def test_levels_of_categories_have_bars_by_group():
    rng = np.random.default_rng(0)
    known = pd.DataFrame({"a": rng.normal(size=60), "colour": ["red", "blue"] * 30})
    new = pd.DataFrame(
        {"a": np.append(rng.normal(size=30), rng.normal(15, 1, 30)), "colour": ["red"] * 30 + ["gold"] * 30}
    )
    facts = VBrand(random_state=0).fit(known, ["oat"] * 60).discover(new).facts()
    figure = figures.levels_figure(facts)
    assert figure["across"]
    assert [word for _, word in figure["y"]["ticks"]] == ["colour: red", "colour: another level"]
    assert [series["name"] for series in figure["series"]] == ["oat", "novel 1"]
    assert figure["series"][0]["size"].tolist() == [1.0, 0.0]
    assert figure["series"][1]["tips"][1] == "another level in 100% of novel 1"
    page = report_html(facts, {}, {})
    assert 'id="levels"' in page
    assert "colour: another level, 0% in its nearest class" in page
