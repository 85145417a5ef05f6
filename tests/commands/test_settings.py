"""Settings on the command line: five that matter come first, everywhere."""

import inspect
import re
from pathlib import Path

import pytest
from calls import call

from vbrand import VBrand
from vbrand.commands.settings import FIVE, about, parsed, settable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def test_help_starts_with_the_five():
    assert tuple(inspect.signature(VBrand).parameters)[:5] == FIVE
    documented = re.findall(r"^(\w[\w, ]*) : ", inspect.getdoc(VBrand).split("Attributes")[0], flags=re.MULTILINE)
    assert tuple(documented[:5]) == FIVE
    assert set(", ".join(documented).split(", ")) == set(inspect.signature(VBrand).parameters)


def test_the_five_are_told_and_the_others_named():
    done = call("settings")
    assert done.exit_code == 0
    heads = re.findall(r"^(\w+) = ", done.stdout, flags=re.MULTILINE)
    assert tuple(heads) == FIVE
    for setting in settable():
        assert setting.name in done.stdout
    assert "A row is novel when its probability of novelty exceeds this." in done.stdout


def test_every_setting_says_what_it_does():
    for setting in settable():
        assert setting.words
        assert about([setting.name]).startswith(f"{setting.name} = ")


def test_one_that_there_is_not_is_refused():
    done = call("settings", "treshold")
    assert (done.exit_code, done.stderr) == (2, "there is no setting 'treshold'; did you mean threshold?\n")
    assert "names them all" in call("settings", "qqq").stderr


def test_the_page_names_every_setting_and_begins_with_the_five():
    text = PAGE.read_text()
    assert tuple(re.findall(r"^\| .* \| `(\w+)=", text, flags=re.MULTILINE)) == FIVE
    assert set(re.findall(r"`(\w+)`", text)) >= set(VBrand().get_params())


@pytest.mark.parametrize("name", ["init", "novel_mean", "novel_scale"])
def test_what_a_text_can_not_hold_is_not_set_by_one(name):
    assert name not in [setting.name for setting in settable()]


def test_values_are_what_they_look_like():
    assert parsed(["kernel=auto", "min_group=7", "concentration=[2, 1]"]) == {
        "kernel": "auto",
        "min_group": 7,
        "concentration": (2, 1),
    }
