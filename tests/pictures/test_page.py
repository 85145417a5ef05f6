"""One HTML file: words and figures are in it, nothing is fetched, and no name can run."""

import json
import re
from dataclasses import replace

import pytest
from plotly.offline import get_plotlyjs
from tables import grain_rows

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
