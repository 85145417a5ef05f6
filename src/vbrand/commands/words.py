"""What `vbrand explain` tells: the words of the terminal and of the report."""

import textwrap
from difflib import get_close_matches

from vbrand.commands.terminal import fail
from vbrand.facts.terms import TERMS

_WIDTH = 88


def explained(names: list[str]) -> str:
    """Return what some words mean; without any, what all of them mean."""
    by_letters = {_letters(name): name for name in TERMS}
    names = [" ".join(names)] if _letters("".join(names)) in by_letters else names  # a term of several words
    wanted = list[str]()
    for name in names:
        near = get_close_matches(_letters(name), by_letters, n=1, cutoff=0.75)
        if not near:
            fail(f"there is no word {name!r} to explain; there are {', '.join(TERMS)}.")
        wanted.append(by_letters[near[0]])
    return "\n".join(_told(name) for name in wanted or TERMS)


def _told(name: str) -> str:
    return "\n".join([name, *textwrap.wrap(TERMS[name], _WIDTH, initial_indent="    ", subsequent_indent="    ")])


def _letters(name: str) -> str:
    """Return a word without case, blanks and signs: p(novel), "P novel" and pnovel mean the same."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())
