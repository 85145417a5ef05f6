"""One HTML file: words and figures are in it, nothing is fetched, and no name can run."""

import json
import math
import re
from dataclasses import replace

import pytest
from doubts import doubted, unchecked
from plotly.offline import get_plotlyjs
from tables import grain_rows

from vbrand.facts.check import UNCHECKED
from vbrand.pictures.page import _json, report_html


@pytest.fixture(scope="module")
def page(grain_found):
    facts = grain_found.facts(source="grain.csv", truth=grain_rows()[3], scores=(("ARI", 1.0),))
    return report_html(facts, {"threshold": 0.5, "kernel": "student"}, {"vbrand": "0.0.test"})


def own(page):
    """Return the page without Plotly."""
    return page.replace(get_plotlyjs(), "")


def test_the_page_tells_what_was_found_and_how(page, grain_found):
    assert "<h1>What is new in grain.csv</h1>" in page
    for words in (repr(grain_found), "novel 1", "threshold", "student", "0.0.test", "moisture"):
        assert words in own(page)


def test_nothing_is_fetched(page):
    assert "Content-Security-Policy" in page
    assert not re.search(r"<(script|img|iframe|link)[^>]*(src|href)=", own(page))
    assert "url(" not in own(page).replace("url(#", "")


def test_the_figures_are_those_of_the_facts(page):
    held = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert set(held) == {"map", "novelty", "profile", "features-0", "history", "confusion"}
    assert sum(sum(trace["y"]) for trace in held["novelty"]["data"]) == 60


def test_without_truth_and_bound_there_is_no_figure_of_them(grain_found):
    page = report_html(replace(grain_found.facts(), climb=None), {}, {})
    assert "<h1>What is new</h1>" in page
    held = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert set(held) == {"map", "novelty", "profile", "features-0"}


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
    assert "novel 1 doubtful" in section(page, "why")
    assert "novel 1 doubtful" in section(page, "truth")
    assert own(page).count('class="badge"') == 4
    assert '<tr class="novel">' not in page


def test_an_answer_that_was_not_checked_says_so_and_has_no_table_of_trust(grain_found):
    page = report_html(unchecked(grain_found.facts()), {}, {})
    assert UNCHECKED in section(page, "answer")
    assert section(page, "trust") == ""
    assert 'href="#trust"' not in own(page)


def test_a_check_of_an_answer_without_novelty_has_no_table(grain_found):
    facts = grain_found.facts()
    check = replace(facts.check, novel_rows=0, by_group=(), interval=(0.0, 0.0), false_rows=0.0)
    few = replace(facts, groups=facts.groups[:2], check=check)
    few = replace(few, points=replace(few.points, clusters=0 * few.points.clusters))
    page = report_html(few, {}, {})
    assert "no row is called novel" in section(page, "answer")
    assert "<table" not in re.search(r'<section id="trust".*?</section>', page, re.DOTALL)[0]
