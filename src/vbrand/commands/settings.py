"""Settings on the command line: what there is to set, and what was."""

import inspect
import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from vbrand.commands.terminal import fail
from vbrand.estimators.variational import VBrand

# those that are worth a thought, in the order of help(VBrand) and docs/settings.md
FIVE = ("max_false_novelty", "threshold", "min_group", "check", "update_known")
# what takes one value per row, or a matrix, can be given in Python only
_PYTHON_ONLY = {"init", "engine", "novel_mean", "novel_scale"}
# what other detectors call the share of rows that they are told to find
_SHARES = ("contamination", "outlier_fraction", "nu")
# numbers as people write them, which JSON does not take: .8, 1., +2
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Setting:
    """One setting of VBrand, as its documentation tells of it."""

    name: str
    default: Any
    kind: str  # what values it takes
    words: str  # what it does; may be empty

    def __str__(self) -> str:
        head = f"{self.name} = {self.default}    ({self.kind})" if self.kind else f"{self.name} = {self.default}"
        return "\n".join([head, *(f"    {line}" for line in self.words.splitlines())])


def settable() -> list[Setting]:
    """Return what can be set by a text, in the order of the constructor of VBrand."""
    told = _documented(inspect.getdoc(VBrand) or "")
    parameters = inspect.signature(VBrand).parameters.values()
    return [
        Setting(each.name, each.default, *told.get(each.name, ("", "")))
        for each in parameters
        if each.name not in _PYTHON_ONLY
    ]


def _documented(text: str) -> dict[str, tuple[str, str]]:
    """Return what kind of values each parameter takes, and what it does, by the documentation of a class."""
    _, _, rest = text.partition("Parameters\n----------\n")
    told = dict[str, tuple[str, str]]()
    for entry in re.split(r"\n(?=\S)", rest.partition("\n\n")[0]):
        head, _, words = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        kind = re.sub(r",? (default .*|optional)$", "", kind)
        told |= dict.fromkeys(names.split(", "), (kind, inspect.cleandoc(words)))
    return told


def about(names: list[str]) -> str:
    """Return what some settings do; without any name the five that matter do, and the others are named."""
    settings = {setting.name: setting for setting in settable()}
    for name in names:
        if name not in settings:
            near = get_close_matches(name, settings, 1)
            hint = f"did you mean {near[0]}?" if near else "`vbrand settings` names them all."
            fail(f"there is no setting {name!r}; {hint}")
    if names:
        return "\n\n".join(str(settings[name]) for name in names)
    others = ", ".join(name for name in settings if name not in FIVE)
    return "\n\n".join(
        [
            "Five settings are worth a thought. Give them as --set NAME=VALUE, or to VBrand(NAME=VALUE) in Python.",
            *(str(settings[name]) for name in FIVE),
            f"The defaults of the others are meant for real tables: {others}.",
            "`vbrand settings NAME` tells what one of them does.",
        ]
    )


def parsed(given: list[str], max_false_novelty: float | None = None) -> dict[str, Any]:
    """Return NAME=VALUE pairs, and the setting that has an option of its own; values are numbers, JSON or text."""
    known = {setting.name for setting in settable()}
    settings = dict[str, Any]()
    for pair in given:
        name, equals, text = pair.partition("=")
        if name in _SHARES:
            fail(
                f"--set {pair}: there is no share of novel rows to guess, it is found; --max-false-novelty limits the "
                "known rows that are called novel (max_false_novelty), --false-share marks the rows to rely on."
            )
        if not equals or name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near and equals else f"NAME is one of {', '.join(sorted(known))}."
            fail(f"--set {pair}: NAME=VALUE is expected; {hint}")
        settings[name] = _value(text)

    if max_false_novelty is not None:
        if "max_false_novelty" in settings:
            fail("max_false_novelty is given twice, by --set and by its option; give it once.")
        settings["max_false_novelty"] = max_false_novelty
    return settings


def _value(text: str) -> Any:
    """Return what a text stands for: a number, JSON, None, or else the text itself.

    >>> _value(".8"), _value("+2"), _value("[2, 1]"), _value("1_000")
    (0.8, 2, (2, 1), '1_000')
    """
    try:
        if _NUMBER.fullmatch(text):
            return float(text) if re.search(r"[.eE]", text) else int(text)
        value = json.loads(text)
    except ValueError:
        return None if text == "None" else text
    return tuple(value) if isinstance(value, list) else value
