"""What became of groups, batch after batch: a log that is kept in the model."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from vbrand.io.tables.likeness import Likeness


class EventKind(StrEnum):
    """What happened to a group or class; the texts stand in model files and pictures."""

    BORN = "born"
    GROWN = "grown"  # it has more rows
    MERGED = "merged"  # it is part of another one now
    LOST = "lost"  # it is taken for a piece of a known class now, or is so small that it was given up
    NAMED = "named"
    RENAMED = "renamed"
    JOINED = "joined"  # a person says that it is part of a class
    FORGOTTEN = "forgotten"  # a person says that it is none
    DRIFTED = "drifted"  # rows of a known class leave it


@dataclass(frozen=True)
class Event:
    """One line of the log."""

    batch: int  # 1 is the first
    time: str  # as in 2026-11-17T09:30:00Z
    kind: EventKind
    group: str  # what it was called until then
    rows: int  # of this batch; of what a person does: of all batches
    # the nearest known class; the group that most of its rows were in until it was born; what it is called or part of
    # from then on; may be empty
    like: str


@dataclass(frozen=True)
class EventLog:
    """The events so far, as a table that prints; `to_frame` gives a data frame."""

    events: tuple[Event, ...]
    batches: int = 0  # so far, also those in which nothing happened

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, index: int) -> Event:
        return self.events[index]

    def to_frame(self) -> Any:
        """Return the events as a data frame, one line each."""
        return Likeness().frame(
            {
                "batch": np.array([event.batch for event in self.events], dtype=np.int64),
                "time": np.array([event.time for event in self.events], dtype=object),
                "event": np.array([str(event.kind) for event in self.events], dtype=object),
                "group": np.array([event.group for event in self.events], dtype=object),
                "rows": np.array([event.rows for event in self.events], dtype=np.int64),
                "like": np.array([event.like for event in self.events], dtype=object),
            }
        )

    def __str__(self) -> str:
        width = max([5, *(len(event.group) for event in self.events)])
        kinds = max(len(kind) for kind in EventKind)
        lines = [f"batch  {'time':20}  {'event':{kinds}}  {'group':{width}}  {'rows':>7}  like"]
        lines += [
            f"{e.batch:>5}  {e.time:20}  {e.kind:{kinds}}  {e.group:{width}}  {e.rows:>7,}  {e.like}".rstrip()
            for e in self.events
        ]
        return "\n".join(lines)

    __repr__ = __str__


NO_EVENTS = EventLog(())
