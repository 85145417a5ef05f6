"""How groups look: no two alike, and never told apart by colour alone."""

from dataclasses import replace

from vbrand.pictures.looks import GREY, called, looks_of


def test_no_two_of_many_groups_look_the_same(grain_found):
    many = tuple(grain_found.groups[0] for _ in range(30)) + tuple(grain_found.groups[2] for _ in range(30))
    assert len({(look.colour, look.symbol) for look in looks_of(many)}) == 60


def test_known_and_novel_groups_share_no_colour_shape_or_line(grain_found):
    known, novel = (looks_of((grain_found.groups[k],) * 30) for k in (0, 2))
    for part in ("colour", "symbol", "marker", "dash"):
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
    assert GREY not in {look.colour for look in plain}
    assert (called(novel, "novel 1"), called(doubtful, "novel 1")) == ("novel 1", "novel 1, doubtful")
