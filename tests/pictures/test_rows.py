"""The rows as the page lists them."""

from dataclasses import replace

import numpy as np
from doubts import doubted
from tables import grain_rows

from vbrand.facts.events import Event, EventKind, EventLog
from vbrand.pictures.looks import GREY_INK
from vbrand.pictures.rows import listed_groups, listed_rows, rows_to_look_at


def test_every_row_is_listed_with_its_group_and_probabilities(grain_found):
    facts = grain_found.facts(truth=grain_rows()[3])
    rows = listed_rows(facts)
    assert rows["of"] == 60
    assert rows["name"] == [str(i) for i in range(60)]
    np.testing.assert_array_equal(rows["group"], grain_found.clusters)
    np.testing.assert_array_equal(rows["novelty"], grain_found.novelty_probability)
    np.testing.assert_array_equal(rows["score"], grain_found.novelty_score)
    assert rows["truth"] == list(grain_rows()[3])
    best = np.take_along_axis(grain_found.class_probabilities, rows["best"], axis=1)
    np.testing.assert_allclose(rows["chance"], best, atol=6e-5)
    assert (np.diff(best, axis=1) <= 0.0).all()


def test_the_middle_of_a_group_is_where_its_typical_rows_are(grain_found):
    facts = grain_found.facts()
    away = listed_rows(facts)["middle"]
    own = facts.points.clusters == 2
    middle = np.median(facts.points.scores[own], axis=0)
    np.testing.assert_allclose(away[own], np.linalg.norm(facts.points.scores[own] - middle, axis=1))
    assert 0.2 < np.median(away) < 3.0  # of three columns, in standard deviations


def test_older_facts_have_no_scores_and_are_ordered_by_probability(grain_found):
    facts = grain_found.facts()
    older = replace(facts, points=replace(facts.points, score=None))
    np.testing.assert_allclose(listed_rows(older)["score"], facts.points.novelty - facts.threshold)


def test_groups_have_their_looks_and_doubts(grain_found):
    oat, _, novel = listed_groups(grain_found.facts())
    assert (oat["known"], oat["ink"], oat["symbol"]) == (True, "cool-0", "circle")
    assert (novel["known"], novel["ink"], novel["rows"]) == (False, "warm-0", 30)
    doubtful = listed_groups(doubted(grain_found.facts()))[2]
    assert (doubtful["name"], doubtful["bare"], doubtful["ink"]) == ("novel 1, doubtful", "novel 1", GREY_INK)


def test_rows_in_the_middle_and_on_the_border_are_worth_a_look_first(grain_found):
    facts = grain_found.facts()
    rows = listed_rows(facts)
    (group,) = rows_to_look_at(facts)
    own = np.flatnonzero(rows["group"] == 2)
    assert group["group"] == 2
    assert len(set(group["middle"]) | set(group["border"])) == 10
    assert rows["middle"][group["middle"]].max() <= np.sort(rows["middle"][own])[4]
    others = np.setdiff1d(own, group["middle"])
    assert set(group["border"]) == set(others[np.argsort(rows["score"][others])[:5]])


def test_groups_that_have_a_name_or_no_component_of_their_own_can_not_be_named(grain_found):
    facts = grain_found.facts()
    named = EventLog((Event(1, "", EventKind.NAMED, "novel 1", 30, "teff"),), 1)
    assert rows_to_look_at(replace(facts, log=named)) == []
    groups = (*facts.groups[:2], replace(facts.groups[2], alone=False))
    assert rows_to_look_at(replace(facts, groups=groups)) == []
