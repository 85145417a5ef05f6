"""The log of batches -> groups over batches: one line per group from its birth on, with what happened to it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vbrand.facts.events import Event, EventKind, EventLog
from vbrand.facts.facts import Facts
from vbrand.facts.groups import plural
from vbrand.pictures.figures import Figure, short
from vbrand.pictures.looks import GREY_INK, looks_of

_MARKS = {
    EventKind.BORN: "triangle-up",
    EventKind.MERGED: "triangle-down",
    EventKind.LOST: "x",
    EventKind.NAMED: "star",
    EventKind.RENAMED: "pentagon",
    EventKind.JOINED: "cross",
    EventKind.FORGOTTEN: "square",
    EventKind.DRIFTED: "diamond",
}
_ENDS = (EventKind.MERGED, EventKind.LOST, EventKind.JOINED, EventKind.FORGOTTEN)
# lines that are drawn at first, and batches that have a number below them
_MOST_LINES, _MOST_TICKS = 10, 12
# events that the page lists, the last ones
_MOST_LISTED = 100


@dataclass
class Life:
    """One group from batch to batch, whatever it is called."""

    names: list[str]  # the last one is what it is called now
    rows: dict[int, int] = field(default_factory=dict)  # by batch
    last: int | None = None  # the batch after which it is no more; None while it lives

    def path(self, batches: int) -> tuple[list[int], list[int]]:
        """Return batches from its birth on, and its rows in each."""
        end = batches if self.last is None else self.last
        along = list(range(min(self.rows, default=end), end + 1))
        return along, [self.rows.get(batch, 0) for batch in along]


def lives_of(log: EventLog) -> list[Life]:
    """Return the groups that there were, in the order of their births."""
    lives, living = list[Life](), dict[str, Life]()
    for event in log:
        if event.kind == EventKind.DRIFTED:
            continue
        if event.group not in living:
            living[event.group] = Life([event.group])
            lives.append(living[event.group])
        life = living[event.group]
        if event.kind in (EventKind.BORN, EventKind.GROWN):
            life.rows[event.batch] = event.rows
        if event.kind in (EventKind.NAMED, EventKind.RENAMED):
            life.names.append(event.like)
            living[event.like] = living.pop(event.group)
        if event.kind in _ENDS:
            living.pop(event.group).last = event.batch
    return [life for life in lives if life.rows]


def timeline_figure(facts: Facts) -> Figure:
    """Return the rows of groups in each batch, with births, merges, names and the like."""
    log, lives = facts.log, lives_of(facts.log)
    inks = {g.name: (look.ink, look.symbol) for g, look in zip(facts.groups, looks_of(facts.groups), strict=True)}
    drawn = {id(life) for life in sorted(lives, key=lambda life: -sum(life.rows.values()))[:_MOST_LINES]}
    series = [_line(life, log.batches, inks, off=id(life) not in drawn) for life in lives]
    for kind in dict.fromkeys(event.kind for event in log):
        if kind in _MARKS:
            series.append(_marks([event for event in log if event.kind == kind], lives))
    most = max([1, *(max(each["y"], default=0) for each in series)])
    step = -(-log.batches // _MOST_TICKS)
    return {
        "series": series,
        "x": {
            "title": "batch",
            "ticks": [(batch, f"{batch}") for batch in range(1, log.batches + 1, step)],
            "range": [0.5, log.batches + 0.5],
        },
        "y": {"title": "rows of the batch", "range": [-0.06 * most, 1.1 * most]},
        "height": 340,
    }


def _line(life: Life, batches: int, inks: dict[str, tuple[str, str]], *, off: bool) -> Figure:
    """Return the line of a group: in its own colour if the page knows it, else grey."""
    along, rows = life.path(batches)
    ink, symbol = next((inks[name] for name in reversed(life.names) if name in inks), (GREY_INK, "circle"))
    so_far = np.cumsum(rows).tolist()
    return {
        "kind": "line",
        "name": called(life),
        "ink": ink,
        "symbol": symbol,
        "dash": "solid" if life.last is None else "dot",
        "off": off,
        "x": along,
        "y": rows,
        "tips": [
            f"{called(life)}\nbatch {batch}: {plural(own, 'row', 'rows')}, {total:,} so far"
            for batch, own, total in zip(along, rows, so_far, strict=True)
        ],
    }


def _marks(events: list[Event], lives: list[Life]) -> Figure:
    """Return marks of all events of a kind, on the lines of their groups."""
    return {
        "kind": "points",
        "name": events[0].kind,
        "ink": "ink",
        "hollow": True,
        "symbol": _MARKS[events[0].kind],
        "x": [event.batch for event in events],
        "y": [_height(event, lives) for event in events],
        "tips": [_told(event) for event in events],
    }


def _height(event: Event, lives: list[Life]) -> int:
    """Return the rows that a group had in the batch of an event; of a known class those that the event tells."""
    own = [life for life in lives if event.group in life.names]
    return own[-1].rows.get(event.batch, 0) if own else event.rows


def _told(event: Event) -> str:
    rows = f"\n{plural(event.rows, 'row', 'rows')}" if event.rows else ""
    link = ", like " if event.kind == EventKind.BORN else ": "
    like = f"{link}{short(event.like)}" if event.like else ""
    return f"batch {event.batch}: {short(event.group)} {event.kind}{like}{rows}"


def called(life: Life) -> str:
    """Return what a group is called, and what it was called at first."""
    first, last = short(life.names[0]), short(life.names[-1])
    return last if first == last else f"{last} ({first})"


def listed_events(log: EventLog) -> list[dict[str, Any]]:
    """Return the last events, the newest first, as the page lists them."""
    return [
        {
            "batch": event.batch,
            "time": event.time,
            "kind": event.kind,
            "group": short(event.group, 80),
            "rows": event.rows,
            "like": short(event.like, 80),
        }
        for event in reversed(log.events[-_MOST_LISTED:])
    ]
