"""Groups over batches: every group has one line, whatever it is called."""

from dataclasses import replace

import pytest

from vbrand.facts.events import Event, EventKind, EventLog
from vbrand.pictures.timeline import called, listed_events, lives_of, timeline_figure


def log_of(*lines, batches=5):
    """Return a log of (batch, kind, group, rows, like)."""
    return EventLog(tuple(Event(batch, "2026-11-17T09:30:00Z", *rest) for batch, *rest in lines), batches)


LOG = log_of(
    (1, EventKind.BORN, "novel 1", 30, "oat"),
    (2, EventKind.GROWN, "novel 1", 12, "oat"),
    (2, EventKind.BORN, "novel 2", 7, "rye"),
    (2, EventKind.NAMED, "novel 1", 42, "millet"),
    (3, EventKind.MERGED, "novel 2", 0, "rye"),
    (4, EventKind.GROWN, "millet", 9, ""),
    (4, EventKind.DRIFTED, "oat", 20, "1.2 sd away"),
    (4, EventKind.RENAMED, "millet", 0, "foxtail"),
)


def test_a_group_is_one_line_whatever_it_is_called():
    first, second = lives_of(LOG)
    assert first.names == ["novel 1", "millet", "foxtail"]
    assert first.path(5) == ([1, 2, 3, 4, 5], [30, 12, 0, 9, 0])
    assert called(first) == "foxtail (novel 1)"
    assert second.path(5) == ([2, 3], [7, 0])  # until it is part of another one


def test_a_name_that_is_free_again_is_another_group():
    log = log_of(
        (1, EventKind.BORN, "novel 1", 5, ""),
        (1, EventKind.NAMED, "novel 1", 5, "oat"),
        (2, EventKind.RENAMED, "oat", 0, "rye"),
        (2, EventKind.BORN, "novel 2", 6, ""),
        (2, EventKind.NAMED, "novel 2", 6, "oat"),
        (3, EventKind.GROWN, "oat", 8, ""),
    )
    first, second = lives_of(log)
    assert (first.rows, second.rows) == ({1: 5}, {2: 6, 3: 8})


@pytest.fixture
def facts(grain_found):
    return replace(grain_found.facts(), log=LOG)


def test_lines_and_marks_of_the_timeline(facts):
    figure = timeline_figure(facts)
    lines = [series for series in figure["series"] if series["kind"] == "line"]
    assert [line["name"] for line in lines] == ["foxtail (novel 1)", "novel 2"]
    assert lines[0]["tips"][1] == "foxtail (novel 1)\nbatch 2: 12 rows, 42 so far"
    marks = {series["name"]: series for series in figure["series"] if series["kind"] == "points"}
    assert list(marks) == ["born", "named", "merged", "drifted", "renamed"]
    assert (marks["named"]["x"], marks["named"]["y"]) == ([2], [12])
    assert marks["drifted"]["y"] == [20]  # a known class has no line: its rows
    assert marks["merged"]["tips"] == ["batch 3: novel 2 merged: rye"]
    assert marks["born"]["tips"][0] == "batch 1: novel 1 born, like oat\n30 rows"
    assert [word for _, word in figure["x"]["ticks"]] == ["1", "2", "3", "4", "5"]


def test_of_many_groups_the_largest_have_lines_at_first_and_batches_some_numbers(facts):
    many = log_of(*((1, EventKind.BORN, f"novel {k}", k, "") for k in range(1, 16)), batches=100)
    figure = timeline_figure(replace(facts, log=many))
    assert [line["name"] for line in figure["series"][:15] if not line["off"]] == [f"novel {k}" for k in range(6, 16)]
    assert len(figure["x"]["ticks"]) <= 12


def test_the_newest_events_are_listed_first_and_old_ones_are_not():
    assert [(event["batch"], event["kind"]) for event in listed_events(LOG)][:2] == [(4, "renamed"), (4, "drifted")]
    long = log_of(*((k, EventKind.GROWN, "novel 1", 5, "") for k in range(300)), batches=300)
    assert len(listed_events(long)) == 100
