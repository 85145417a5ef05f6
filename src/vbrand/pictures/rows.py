"""Facts -> the rows as the page lists them, and the groups that they are in."""

from typing import Any

import numpy as np

from vbrand.facts.events import EventKind
from vbrand.facts.facts import Facts
from vbrand.facts.groups import GroupKind
from vbrand.pictures.looks import called, looks_of
from vbrand.types import FloatArray

_CLASSES_SHOWN = 4
# events after which a group can't be named
_NAMED = (EventKind.NAMED, EventKind.JOINED, EventKind.FORGOTTEN)
_LONGEST_NAME = 200
# rows of a group that are worth a look first: in its middle, and on its border
_LOOKED_AT = 5


def listed_rows(facts: Facts) -> dict[str, Any]:
    """Return the rows on the map, column by column: names, groups, how novel, how doubtful, how far from the middle."""
    points = facts.points
    score = points.novelty - facts.threshold if points.score is None else points.score
    best = np.argsort(-points.classes, axis=1, kind="stable")[:, :_CLASSES_SHOWN]
    return {
        "of": facts.rows,
        "name": [name[:_LONGEST_NAME] for name in points.names],
        "group": points.clusters,
        "novelty": points.novelty,
        "score": score,
        "middle": _from_middle(facts),
        "best": best,
        "chance": np.round(np.take_along_axis(points.classes, best, axis=1), 4),
        "truth": None if points.truth is None else [name[:_LONGEST_NAME] for name in points.truth],
    }


def listed_groups(facts: Facts) -> list[dict[str, Any]]:
    """Return what the page needs to know of each group: its name, its look, whether it is sure."""
    return [
        {
            "name": called(group, group.name[:_LONGEST_NAME]),
            "bare": group.name[:_LONGEST_NAME],
            "rows": group.rows,
            "known": group.kind == GroupKind.KNOWN,
            "doubtful": group.doubtful,
            "ink": look.ink,
            "symbol": look.symbol,
        }
        for group, look in zip(facts.groups, looks_of(facts.groups), strict=True)
    ]


def rows_to_look_at(facts: Facts) -> list[dict[str, Any]]:
    """Return the groups that a person can name, each with the rows in its middle and, of others, those on its border.

    Rows are places in the list of rows. A border is where P(novel) is that of the threshold.
    """
    rows = listed_rows(facts)
    away, doubt = rows["middle"], np.abs(rows["score"])
    told = {event.group for event in facts.log if event.kind in _NAMED}
    found = list[dict[str, Any]]()
    for k, group in enumerate(facts.groups):
        if group.kind == GroupKind.KNOWN or not group.alone or group.name in told:
            continue
        own = np.flatnonzero(rows["group"] == k)
        middle = own[np.argsort(away[own], kind="stable")][:_LOOKED_AT]
        others = np.setdiff1d(own, middle)
        border = others[np.argsort(doubt[others], kind="stable")][:_LOOKED_AT]
        found.append({"group": k, "middle": middle, "border": border})
    return found


def _from_middle(facts: Facts) -> FloatArray:
    """Return how far each row lies from the middle of its group, in standard deviations within known classes."""
    points = facts.points
    away = np.empty(points.clusters.size)
    for k in np.unique(points.clusters).tolist():
        own = points.clusters == k
        away[own] = np.linalg.norm(points.scores[own] - np.median(points.scores[own], axis=0), axis=1)
    return away
