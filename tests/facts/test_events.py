"""The log of what became of groups."""

from vbrand.facts.events import Event, EventKind, EventLog

LOG = EventLog(
    (
        Event(1, "2026-11-17T09:30:00Z", EventKind.BORN, "novel 1", 1_200, "oat"),
        Event(2, "2026-11-24T09:30:00Z", EventKind.NAMED, "novel 1", 1_900, "wild oat"),
    )
)


def test_the_log_prints_one_line_per_event():
    lines = str(LOG).splitlines()
    assert lines[0].split() == ["batch", "time", "event", "group", "rows", "like"]
    assert lines[1].split() == ["1", "2026-11-17T09:30:00Z", "born", "novel", "1", "1,200", "oat"]
    assert len(lines) == 3


def test_the_log_is_a_list_and_a_frame():
    assert len(LOG) == 2
    assert LOG[1].kind == EventKind.NAMED
    assert [event.batch for event in LOG] == [1, 2]
    assert LOG.to_frame()["event"].tolist() == ["born", "named"]


def test_an_empty_log_prints_its_heading():
    assert str(EventLog(())).startswith("batch")
    assert len(EventLog(()).to_frame()) == 0
