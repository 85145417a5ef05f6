"""Every public class and function says what it takes, what it returns, and shows an example; `make test` runs those.

Public is what `vbrand`, `vbrand.metrics` and `vbrand.partition` offer, the methods of their classes, and `found.plot`.
"""

import inspect
import re
from pathlib import Path

import pytest

import vbrand
from vbrand import metrics, partition
from vbrand.discovery.summary import Summary
from vbrand.pictures.plots import Plots

CLASSES = [vbrand.VBrand, vbrand.BrandSampler, vbrand.MRCD, vbrand.Discovery, Summary, Plots]
OFFERED = [
    vbrand.load,
    vbrand.compare,
    *(getattr(room, name) for room in (metrics, partition) for name in room.__all__),
]
REFERENCE = (Path(__file__).resolve().parents[1] / "docs" / "reference.md").read_text()


def own_methods(kind):
    """Return the public methods of a class that are ours, not scikit-learn's; properties are plain values."""
    found = inspect.getmembers(kind, callable)
    return [method for name, method in found if name[0] != "_" and method.__module__.startswith("vbrand.")]


METHODS = {method.__qualname__: method for kind in CLASSES for method in own_methods(kind)}
FUNCTIONS = {**METHODS, **{each.__name__: each for each in OFFERED if inspect.isfunction(each)}}
ALL_CLASSES = {each.__name__: each for each in [*CLASSES, *OFFERED] if inspect.isclass(each)}


def sections(thing):
    """Return the parts of a docstring by their headings."""
    parts = re.split(r"^(\w+)\n-+\n", inspect.getdoc(thing), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(text):
    """Return the names that a section describes."""
    lines = re.findall(r"^(\S.*?)(?: :.*)?$", text, flags=re.MULTILINE)
    return {name.strip("* ") for line in lines for name in line.rstrip(",").split(",")}


def test_there_is_something_to_look_at():
    assert len(FUNCTIONS) > 40
    assert {"VBrand", "BrandSampler", "MRCD", "Discovery", "Scores", "Partition"} <= set(ALL_CLASSES)
    assert {name for name in vbrand.__all__ if callable(getattr(vbrand, name))} <= {*FUNCTIONS, *ALL_CLASSES}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_take_and_return_and_show_an_example(name):
    function, told = FUNCTIONS[name], sections(FUNCTIONS[name])
    signature = inspect.signature(function)
    wanted = set(signature.parameters) - {"self", "cls"}
    assert described(told.get("Parameters", "")) == wanted
    assert ("Returns" in told) == (signature.return_annotation not in (None, "None"))
    assert ">>> " in told["Examples"]


@pytest.mark.parametrize("name", ALL_CLASSES)
def test_classes_say_what_they_take_or_hold_and_show_an_example(name):
    told = sections(ALL_CLASSES[name])
    if "Attributes" not in told or "Parameters" in told:
        wanted = set(inspect.signature(ALL_CLASSES[name]).parameters)
        assert described(told["Parameters"]) == wanted
    assert ">>> " in told["Examples"]


@pytest.mark.parametrize("name", [*ALL_CLASSES, *(name for name in FUNCTIONS if name not in METHODS)])
def test_the_reference_has_it(name):
    thing = {**FUNCTIONS, **ALL_CLASSES}[name]
    rooms = [room.__name__ for room in (metrics, partition) if name in room.__all__]
    assert re.search(rf":: (?:{thing.__module__}\.)?{name}$", REFERENCE, flags=re.MULTILINE) or (
        rooms and f"automodule:: {rooms[0]}" in REFERENCE
    )
