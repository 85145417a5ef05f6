"""Facts -> the rows as the page lists them, and the groups that they are in."""

from typing import Any

import numpy as np

from vbrand.facts.facts import Facts
from vbrand.facts.groups import GroupKind
from vbrand.pictures.looks import called, looks_of
from vbrand.types import FloatArray

_CLASSES_SHOWN = 4
_LONGEST_NAME = 200


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


def _from_middle(facts: Facts) -> FloatArray:
    """Return how far each row lies from the middle of its group, in standard deviations within known classes."""
    points = facts.points
    away = np.empty(points.clusters.size)
    for k in np.unique(points.clusters).tolist():
        own = points.clusters == k
        away[own] = np.linalg.norm(points.scores[own] - np.median(points.scores[own], axis=0), axis=1)
    return away
