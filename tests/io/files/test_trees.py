"""Trees of plain values: what is declared comes back, and nothing else is taken."""

from dataclasses import dataclass
from enum import StrEnum

import pytest

from vbrand.inference.moves import MoveKind
from vbrand.io.files.trees import WrongTreeError, built, tree_of


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Ball:
    colour: Colour
    others: tuple[Colour, ...] = ()


def test_a_kind_is_written_as_its_text():
    tree = tree_of(Ball(Colour.RED, (Colour.BLUE,)))
    assert tree == {"colour": "red", "others": ["blue"]}
    assert type(tree["colour"]) is str
    assert type(tree["others"][0]) is str


def test_a_kind_is_read_from_its_text():
    ball = built(Ball, {"colour": "blue", "others": ["red"]})
    assert ball == Ball(Colour.BLUE, (Colour.RED,))
    assert ball.colour is Colour.BLUE


@pytest.mark.parametrize("tree", ["green", "RED", "", 1, None, ["red"]])
def test_another_text_is_no_kind(tree):
    with pytest.raises(WrongTreeError, match=r"model\.colour is none of red, blue"):
        built(Ball, {"colour": tree, "others": []})


@pytest.mark.parametrize("kind", MoveKind)
def test_kinds_of_moves_survive_the_way_there_and_back(kind):
    assert built(MoveKind, tree_of(kind)) is kind


def test_kinds_of_moves_have_the_texts_of_old_files():
    assert [kind.value for kind in MoveKind] == ["birth", "merge", "resplit", "release", "delete"]
