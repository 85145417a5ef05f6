"""The map in a notebook: one small picture, no script."""

from dataclasses import replace
from xml.etree import ElementTree

from crowds import crowd_facts
from doubts import doubted

from vbrand.pictures.sketch import map_svg


def parts(svg, name):
    return ElementTree.fromstring(svg).findall(f".//{{http://www.w3.org/2000/svg}}{name}")


def test_every_row_and_every_labelled_row_has_a_mark(grain_found):
    marks = parts(map_svg(grain_found.facts()), "path")
    assert len(marks) == 60 + 80 + 2  # rows, labelled rows, the legend
    assert sum(mark.get("fill") == "none" for mark in marks) == 80
    words = [word.text for word in parts(map_svg(grain_found.facts()), "text")]
    assert words == ["first principal component", "novel 1 (30)", "oat (30)", "hollow: labelled rows"]


def test_doubtful_groups_are_grey_and_called_so(grain_found):
    svg = map_svg(doubted(grain_found.facts()))
    assert "novel 1 (30), doubtful" in svg
    assert svg.count('fill="#7f7f7f"') == 31


def test_names_of_strangers_are_text(grain_found):
    facts = grain_found.facts()
    named = replace(facts, groups=tuple(replace(group, name="<script>alert(1)") for group in facts.groups))
    assert "<script" not in map_svg(named)
    assert "&lt;script&gt;" in map_svg(named)


def test_a_long_table_of_many_groups_is_a_small_picture():
    svg = map_svg(crowd_facts(20_000))
    assert len(svg) < 250_000
    assert "and 28 more groups" in svg
    for mark in parts(svg, "path")[:-18]:
        x, y = mark.get("transform")[len("translate(") : -1].split(",")
        assert 0 <= float(x) <= 520
        assert 0 <= float(y) <= 420
