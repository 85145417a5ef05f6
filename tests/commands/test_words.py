"""Words are explained where they appear: in the terminal by `vbrand explain`."""

import pytest
from calls import call

from vbrand.facts.events import EventKind
from vbrand.facts.groups import GroupKind
from vbrand.facts.terms import TERMS


@pytest.mark.parametrize("word", TERMS)
def test_every_word_is_explained(word):
    done = call("explain", word)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == word
    assert " ".join(done.stdout.split()) == f"{word} {TERMS[word]}"
    assert max(len(line) for line in done.stdout.splitlines()) <= 88


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("p(novel)", "P(novel)"),
        ("tail", "tails"),
        ("ari", "ARI"),
        ("rhat", "R-hat"),
        ("Novel Groups", "novel group"),
        ("KINDS", "kind"),
        ("mode", "modes"),
    ],
)
def test_words_are_known_as_people_type_them(said, meant):
    assert call("explain", said).stdout.splitlines()[0] == meant


def test_a_term_of_several_words_needs_no_quotes():
    assert call("explain", "rounded", "columns").stdout == call("explain", "rounded columns").stdout
    assert call("explain", "share", "tails").stdout.count("\n    ") >= 2


def test_other_words_get_one_sentence():
    done = call("explain", "entropy")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "there are P(novel), share, sd away" in done.stderr


def test_without_a_word_all_are_explained():
    said = call("explain").stdout
    assert [line for line in said.splitlines() if not line.startswith(" ")] == list(TERMS)


def test_words_of_the_table_and_of_the_notes_are_among_them():
    assert {"weight", "ESS", "R-hat"} <= set(TERMS)
    assert {str(kind) for kind in (*GroupKind, *EventKind)} <= set(TERMS)
    assert {"kind", "standard deviations", "own rows", "moved", "mostly", "modes", "bent", "together with"} <= set(
        TERMS
    )
    assert {"share", "P(novel)", "tails", "ARI", "AMI", "FMI", "novelty F1", "false novelty"} <= set(TERMS)
