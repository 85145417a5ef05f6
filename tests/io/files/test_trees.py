"""Dataclasses <-> trees: what goes in comes out, and nothing else is taken."""

from dataclasses import dataclass, field
from enum import StrEnum
from types import GenericAlias
from typing import Any, Literal, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from vbrand.inference.moves import MoveKind
from vbrand.io.files.trees import WrongTreeError, built, tree_of


@dataclass(frozen=True)
class Circle:
    radius: float
    name: Literal["circle"] = field(default="circle", kw_only=True)

    def __post_init__(self):
        if self.radius <= 0.0:
            raise ValueError("a circle has a radius above 0")


@dataclass(frozen=True)
class Square:
    side: float
    name: Literal["square"] = field(default="square", kw_only=True)


@dataclass(frozen=True)
class Drawing:
    shapes: tuple[Circle | Square, ...]
    points: NDArray[np.float64]
    words: NDArray[Any]
    versions: dict[str, str]
    title: str | None = None
    size: tuple[int, float] = (1, 2.0)
    notes: tuple[str, ...] = field(default_factory=tuple)


DRAWING = Drawing(
    (Circle(1.0), Square(2.0)), np.arange(4.0), np.array(["a", "bc"]), {"pen": "2b"}, "sheet", (3, 0.5), ("one",)
)


def test_what_goes_in_comes_out():
    again = built(Drawing, tree_of(DRAWING))
    assert again.shapes == DRAWING.shapes
    assert (again.title, again.size, again.notes, again.versions) == ("sheet", (3, 0.5), ("one",), {"pen": "2b"})
    np.testing.assert_array_equal(again.points, DRAWING.points)
    np.testing.assert_array_equal(again.words, DRAWING.words)


def test_a_missing_part_takes_its_default_if_it_has_one():
    tree = tree_of(DRAWING)
    for name in ("title", "size", "notes"):
        del tree[name]
    again = built(Drawing, tree)
    assert (again.title, again.size, again.notes) == (None, (1, 2.0), ())
    del tree["points"]
    with pytest.raises(WrongTreeError, match="model has no points"):
        built(Drawing, tree)


@pytest.mark.parametrize(
    ("name", "odd", "complaint"),
    [
        ("colour", 1, "model has a part 'colour' that is not known"),
        ("points", np.arange(3), "model.points is no array of the right kind"),
        ("words", {"text": [1]}, r"model.words\[0\] is no str"),
        ("versions", {"pen": 2}, "model.versions.pen is no str"),
        ("title", 3, "model.title is no str$"),
        ("title", "\ud800", "model.title is no text"),
        ("size", [1], "model.size has 1 parts, not 2"),
        ("shapes", [3], r"model.shapes\[0\] has no parts, and model.shapes\[0\] has no parts"),
        ("shapes", [{"radius": -1.0, "name": "circle"}], r"model.shapes\[0\]: a circle has a radius above 0$"),
        ("shapes", [{"side": "x", "name": "square"}], r"model.shapes\[0\].side is no float$"),
        ("shapes", [{"name": "star"}], r"model.shapes\[0\] is called 'star', not 'circle' or 'square'"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_place(name, odd, complaint):
    with pytest.raises(WrongTreeError, match=complaint):
        built(Drawing, {**tree_of(DRAWING), name: odd})


def test_dataclasses_without_a_name_in_the_tree_are_told_apart_by_their_parts():
    assert built(Circle | Square, {"side": 2}) == Square(2.0)
    assert built(Circle | Square, {"radius": 2}) == Circle(2.0)


def test_a_literal_is_one_of_its_words():
    assert built(Literal["a", "b"], "b") == "b"
    for odd in ("c", 1, None, ["a"]):
        with pytest.raises(WrongTreeError, match="model is not a or b"):
            built(Literal["a", "b"], odd)


class Alias:
    """A stand-in for typing.TypeAliasType, which `type` statements make from Python 3.12 on."""

    def __init__(self, value, type_params=()):
        self.__value__, self.__type_params__ = value, type_params

    def __getitem__(self, given):
        return GenericAlias(self, given)


def test_aliases_of_types_mean_what_they_stand_for():
    """numpy 2.5: type NDArray[T] = np.ndarray[tuple[Any, ...], np.dtype[T]]."""
    first, second = TypeVar("first"), TypeVar("second")
    array = Alias(np.ndarray[tuple[Any, ...], np.dtype[first]], (first,))
    pair = Alias(tuple[second, first], (first, second))
    for kind in (array[np.float64], Alias(array[np.float64])):
        assert built(kind, DRAWING.points) is DRAWING.points
        with pytest.raises(WrongTreeError, match="no array of the right kind"):
            built(kind, np.arange(3))
    assert built(array[Any], {"text": ["a"]}).tolist() == ["a"]
    assert built(pair[int, str], ["a", 1]) == ("a", 1)
    assert built(tuple[array[np.int64], ...], [np.arange(3)])[0].tolist() == [0, 1, 2]


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
    assert [kind.value for kind in MoveKind] == ["birth", "merge", "resplit", "release", "renew", "delete"]


def test_one_long_text_does_not_take_its_room_for_every_other():
    with pytest.raises(WrongTreeError, match="texts that are too long"):
        built(NDArray[Any], {"text": ["x" * 100_000, *["a"] * 1_000]})
