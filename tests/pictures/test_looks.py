"""How groups look: no two alike, and never told apart by colour alone."""

from dataclasses import replace

import numpy as np
import pytest

from vbrand.pictures.looks import GREY, GREY_INK, INKS, NOVELTY_COLOURS, called, looks_of

LIGHT, DARK = "#f6f8fa", "#1a222b"  # what figures are drawn on: --card in report.css


def linear(colour):
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """Return the contrast of two colours as WCAG defines it."""
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def perceived(colour):
    """Return a colour in OKLab, in which distances are as people see them."""
    cones = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
    lab = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
    return lab @ np.cbrt(cones @ linear(colour))


@pytest.mark.parametrize(("side", "page"), [(1, LIGHT), (2, DARK)])
def test_every_ink_has_a_contrast_of_three_to_the_page(side, page):
    for ink in INKS:
        assert contrast(ink[side], page) >= 3.0, ink
    for colour in NOVELTY_COLOURS:
        assert contrast(colour, page) >= 3.0


@pytest.mark.parametrize("side", [1, 2])
def test_colours_of_twenty_groups_differ(side, grain_found):
    for groups in ((grain_found.groups[0],) * 20, (grain_found.groups[2],) * 20):
        inks = [look.ink for look in looks_of(groups)]
        places = np.array([perceived({ink[0]: ink[side] for ink in INKS}[name]) for name in inks])
        apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(20)
        assert apart.min() > 0.05  # about twice what an eye just notices between marks


def test_the_cards_of_the_page_are_those_that_contrasts_are_measured_against():
    from importlib.resources import files

    style = files("vbrand.pictures").joinpath("report.css").read_text(encoding="utf-8")
    assert [line.split()[1].strip(";") for line in style.splitlines() if "--card:" in line] == [LIGHT, DARK]


def test_no_two_of_many_groups_look_the_same(grain_found):
    many = tuple(grain_found.groups[0] for _ in range(30)) + tuple(grain_found.groups[2] for _ in range(30))
    assert len({(look.colour, look.symbol) for look in looks_of(many)}) == 60


def test_known_and_novel_groups_share_no_colour_shape_or_line(grain_found):
    known, novel = (looks_of((grain_found.groups[k],) * 30) for k in (0, 2))
    for part in ("colour", "ink", "symbol", "marker", "dash"):
        assert not {getattr(look, part) for look in known} & {getattr(look, part) for look in novel}


def test_a_shape_has_one_name_for_each_library(grain_found):
    looks = [look for k in (0, 2) for look in looks_of((grain_found.groups[k],) * 30)]
    pairs = {(look.symbol, look.marker) for look in looks}
    assert len(pairs) == len({symbol for symbol, _ in pairs}) == len({marker for _, marker in pairs}) == 10


def test_outlier_groups_are_grey_and_keep_the_shape_of_their_place(grain_found):
    novel = grain_found.groups[2]
    plain = looks_of((novel,) * 3)
    mixed = looks_of((novel, replace(novel, kind="outlier group"), novel))
    assert (mixed[0], mixed[2]) == (plain[0], plain[2])
    assert mixed[1].symbol == plain[1].symbol
    red, green, blue = mixed[1].colour[1:3], mixed[1].colour[3:5], mixed[1].colour[5:7]
    assert red == green == blue


def test_doubtful_groups_are_grey_keep_their_shape_and_say_so(grain_found):
    novel = replace(grain_found.groups[2], doubtful=False)
    doubtful = replace(novel, doubtful=True)
    plain, mixed = looks_of((novel,) * 3), looks_of((novel, doubtful, novel))
    assert (mixed[0], mixed[2]) == (plain[0], plain[2])
    assert (mixed[1].colour, mixed[1].symbol) == (GREY, plain[1].symbol)
    assert mixed[1].ink == GREY_INK
    assert GREY not in {look.colour for look in plain}
    assert (called(novel, "novel 1"), called(doubtful, "novel 1")) == ("novel 1", "novel 1, doubtful")
