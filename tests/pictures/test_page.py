"""One HTML file: words and figures are in it, nothing is fetched, and no name can run."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from doubts import doubted, unchecked
from tables import grain_rows

from vbrand import VBrand
from vbrand.facts.check import UNCHECKED
from vbrand.facts.events import Event, EventKind, EventLog
from vbrand.facts.terms import TERMS
from vbrand.pictures.page import _json, report_html


@pytest.fixture(scope="module")
def page(grain_found):
    facts = grain_found.facts(source="grain.csv", truth=grain_rows()[3], scores=(("ARI", 1.0),))
    return report_html(facts, {"threshold": 0.5, "kernel": "student"}, {"vbrand": "0.0.test"})


def report_of(page):
    """Return what the page draws and lists."""
    return json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_tells_what_was_found_and_how(page, grain_found):
    assert "<h1>What is new in grain.csv</h1>" in page
    for words in (repr(grain_found), "novel 1", "threshold", "student", "0.0.test", "moisture"):
        assert words in page


def test_a_report_holds_nothing_of_one_before_it(page, grain_found):
    facts = grain_found.facts(source="grain.csv", truth=grain_rows()[3], scores=(("ARI", 1.0),))
    other = report_html(replace(facts, source="barley.csv"), {"threshold": 0.25}, {"vbrand": "0.0.other"})
    assert "barley.csv" in other
    assert "grain.csv" not in other
    assert "0.0.test" not in other
    assert report_html(facts, {"threshold": 0.5, "kernel": "student"}, {"vbrand": "0.0.test"}) == page


def test_nothing_is_fetched(page):
    assert "Content-Security-Policy" in page
    assert not re.search(r"<(script|img|iframe|link)[^>]*(src|href)=", page)
    assert "url(" not in page.replace("url(#", "")


def test_the_figures_are_those_of_the_facts(page):
    held = report_of(page)
    assert set(held["figures"]) == {"map", "novelty", "profile", "features-0", "history", "confusion"}
    assert sum(sum(series["size"]) for series in held["figures"]["novelty"]["series"][:2]) == 60
    assert len(held["rows"]["name"]) == 60
    assert held["classes"] == ["oat", "rye", "novel"]


def test_without_truth_and_bound_there_is_no_figure_of_them(grain_found):
    page = report_html(replace(grain_found.facts(), climb=None), {}, {})
    assert "<h1>What is new</h1>" in page
    assert set(report_of(page)["figures"]) == {"map", "novelty", "profile", "features-0"}


def test_names_are_escaped_in_the_words(grain_found):
    evil = "</script><script>alert(1)</script>"
    page = report_html(grain_found.facts(source=evil, names=[evil] * 60), {evil: evil}, {evil: evil})
    assert "alert(1)" in page
    assert evil not in page
    assert "<script>alert" not in page


def test_no_tag_can_begin_in_json():
    value = {"</script>": ["<!--", "a & b", "]]>", 1.5, None]}
    text = _json(value)
    assert not set("<>&") & set(text)
    assert json.loads(text) == value


def test_numbers_that_are_not_finite_are_none_and_others_have_seven_digits():
    assert _json([float("nan"), float("inf"), 1 / 3]) == "[null,null,0.3333333]"


def section(page, name):
    """Return a part of the page in words."""
    inside = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    return "" if inside is None else " ".join(re.sub(r"<[^>]+>", " ", inside[0]).split())


def test_the_check_is_told_at_the_top_and_by_group(page, grain_found):
    assert str(grain_found.check) in section(page, "answer")
    told, group = section(page, "trust"), grain_found.check.by_group[0]
    low, high = math.floor(group.interval[0]), math.ceil(group.interval[1])
    assert f"novel 1 30 about {round(group.false_rows)} {low} to {high}" in told
    assert f"On average {100 * grain_found.check.agreement:.1f} % of the unknown rows" in told
    assert f"{grain_found.check.hidden_rows} labelled rows were hidden" in told
    assert 'class="badge"' not in page


def test_doubtful_groups_have_a_badge_wherever_they_stand(grain_found):
    page = report_html(doubted(grain_found.facts(truth=grain_rows()[3])), {}, {})
    assert "Doubtful: novel 1." in section(page, "answer")
    assert "novel 1 novel group doubtful 30" in section(page, "groups")
    assert "novel 1 doubtful 30 about 12 1 to 30" in section(page, "trust")
    assert "novel 1 doubtful Nearest known class" in section(page, "profiles")
    assert "true class oat rye novel 1 doubtful oat 30" in section(page, "trust")
    assert page.count('class="badge"') == 4
    assert '<tr class="novel">' not in page
    assert '<tr class="doubtful">' in page


def test_an_answer_that_was_not_checked_says_so_and_has_no_table_of_trust(grain_found):
    page = report_html(unchecked(grain_found.facts()), {}, {})
    assert UNCHECKED in section(page, "answer")
    assert "<table" not in re.search(r'<section id="trust".*?</section>', page, re.DOTALL)[0]
    assert UNCHECKED in section(page, "trust")


def test_a_check_of_an_answer_without_novelty_has_no_table(grain_found):
    facts = grain_found.facts()
    check = replace(facts.check, novel_rows=0, by_group=(), interval=(0.0, 0.0), false_rows=0.0)
    few = replace(facts, groups=facts.groups[:2], check=check)
    few = replace(few, points=replace(few.points, clusters=0 * few.points.clusters))
    page = report_html(few, {}, {})
    assert "no row is called novel" in section(page, "answer")
    assert "<table" not in re.search(r'<section id="trust".*?</section>', page, re.DOTALL)[0]


def test_the_parts_of_the_page_are_in_the_order_of_a_readers_questions(page):
    assert re.findall(r'<section id="(\w+)"', page) == ["answer", "groups", "trust", "where", "profiles", "done"]
    notes = re.findall(r'<li class="note">(.*?)</li>', page)
    assert "tails" in notes[-1]
    assert page.index(notes[-1]) > page.index("0.0.test")


def test_beside_the_distance_of_a_group_stands_that_of_the_rows_of_the_class(page, grain_found):
    explanation = grain_found.groups[2].explanation
    line = f"{explanation.nearest} {explanation.distance:.1f} sd {explanation.typical:.1f} sd"
    assert line in section(page, "groups")


def test_groups_and_explanations_beyond_the_first_are_folded(grain_found):
    facts = grain_found.facts()
    novel, told = facts.groups[2], facts.check.by_group[0]
    more = tuple(replace(novel, name=f"novel {k + 1}") for k in range(14))
    check = replace(facts.check, by_group=tuple(replace(told, name=group.name) for group in more))
    of_each = np.array([0, 1] + [2] * 14)
    quartiles = {name: getattr(facts.profiles, name)[of_each] for name in ("lower", "middle", "upper")}
    profiles = replace(facts.profiles, **quartiles, scaled=facts.profiles.scaled[:, of_each])
    page = report_html(replace(facts, groups=(*facts.groups[:2], *more), check=check, profiles=profiles), {}, {})
    lines = re.findall(r"<tr class=\"[^>]*>", re.search(r'<section id="groups".*?</section>', page, re.DOTALL)[0])
    assert len(lines) == 16
    assert [" hidden" in line for line in lines] == [False] * 10 + [True] * 6
    assert "Show all 16 groups" in section(page, "groups")
    assert "Show all 14 groups" in section(page, "trust")
    assert page.count('<details class="figure" open>') == 3
    assert page.count('<details class="figure">') == 9
    assert "2 smaller novel groups are not shown here." in section(page, "profiles")


def test_terms_are_explained_where_they_appear(page):
    explained = set(re.findall(r'class="term"[^>]*aria-description="([^"]+)"', page))
    for name in ("tails", "ARI", "share", "P(novel)", "sd away"):
        assert TERMS[name].replace("'", "&#39;") in explained


def test_a_class_of_many_letters_and_long_ids_keep_the_page_small(grain_found):
    facts = grain_found.facts(source="s" * 100_000, names=["i" * 100_000] * 60, truth=["t" * 100_000] * 60)
    groups = tuple(replace(group, name=f"{k}" * 100_000) for k, group in enumerate(facts.groups))
    by_group = tuple(replace(told, name=groups[2].name) for told in facts.check.by_group)
    facts = replace(facts, groups=groups, check=replace(facts.check, by_group=by_group))
    assert len(report_html(facts, {}, {})) < 300_000


def test_groups_over_batches_are_drawn_from_the_second_batch_on(grain_found):
    facts = grain_found.facts()
    born = (Event(1, "2026-11-17T09:30:00Z", EventKind.BORN, "novel 1", 30, "<b>oat</b>"),)
    assert "timeline" not in report_of(report_html(replace(facts, log=EventLog(born, 1)), {}, {}))["figures"]
    page = report_html(replace(facts, log=EventLog(born, 2)), {}, {})
    assert "timeline" in report_of(page)["figures"]
    assert "1 born novel 1 30 &lt;b&gt;oat&lt;/b&gt; 2026-11-17T09:30:00Z" in section(page, "groups")
    long = EventLog(tuple(replace(born[0], kind=EventKind.GROWN, batch=k) for k in range(200)), 200)
    assert "The last 100 of 200 events" in section(report_html(replace(facts, log=long), {}, {}), "groups")


def test_groups_of_a_sampler_can_not_be_named_in_a_file(grain_found, page):
    assert report_of(page)["naming"][0]["group"] == 2
    assert "novel 1 is" in section(page, "profiles")
    without = report_html(replace(grain_found.facts(), climb=None), {}, {})
    assert 'id="naming"' not in without


def test_a_table_of_categories_only_has_no_figure_of_numbers():
    table = pd.DataFrame({"colour": ["red", "blue"] * 20, "ripe": [True, False] * 20})
    found = VBrand(random_state=0).fit(table, ["oat", "rye"] * 20).discover(table)
    page = report_html(found.facts(), {}, {})
    drawn = set(report_of(page)["figures"])
    assert drawn == {"map", "novelty", "levels", "history"}
    assert all(f'id="{name}"' in page for name in drawn)
