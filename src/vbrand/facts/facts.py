"""The facts of a discovery that pictures are drawn from: small, whatever the size of the table.

`found.plot`, the report and the model file all rest on them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.facts.check import BINS, UNCHECKED, Check, novelty_bin
from vbrand.facts.confusion import Confusion, confusion_of
from vbrand.facts.events import NO_EVENTS, EventLog
from vbrand.facts.explain import Yardstick
from vbrand.facts.groups import Group, GroupCount, GroupKind
from vbrand.facts.maps import principal_places, principal_scores, rows_to_draw, with_telling
from vbrand.facts.profiles import LevelShares, Profiles, level_shares_of, profiles_of
from vbrand.inference.growth import Move
from vbrand.samples import chunks
from vbrand.stage1.lessons import Witnesses
from vbrand.types import FloatArray, IntArray

_CONTRIBUTIONS = 12
# labelled rows on the map: enough to see where the known classes lie
_MOST_LABELLED = 500


@dataclass(frozen=True)
class Points:
    """Rows on the map."""

    names: tuple[str, ...]  # ids, or numbers of rows
    clusters: IntArray  # (m,) position in the list of groups
    novelty: FloatArray  # (m,)
    classes: FloatArray  # (m, J + 1) probabilities of the known classes and of novelty
    scores: FloatArray  # (m, components) principal components
    truth: tuple[str, ...] | None
    score: FloatArray | None = None  # (m,) how novel, beyond the digits of a probability


@dataclass(frozen=True)
class LabelledPoints:
    """Labelled rows on the same map."""

    classes: IntArray  # (m,) position in the list of groups
    scores: FloatArray  # (m, components) on the principal components of the rows that were discovered


@dataclass(frozen=True)
class Climb:
    """How the bound rose."""

    trace: FloatArray  # the bound after every sweep that was kept
    moves: tuple[Move, ...]


@dataclass(frozen=True)
class Facts:
    """All that a picture needs to know."""

    sentence: str
    source: str  # the name of the table; may be empty
    rows: int
    groups: tuple[Group, ...]  # known classes, then novel groups; explained by the columns that matter most
    count: GroupCount
    notes: tuple[str, ...]
    threshold: float
    novelty_counts: (
        IntArray  # (bins, 3) rows by P(novel) from 0 to 1, of known classes, novel groups, and doubtful or outlier ones
    )
    points: Points
    profiles: Profiles
    climb: Climb | None  # None if there is no bound
    confusion: Confusion | None
    scores: tuple[tuple[str, float], ...]  # names and values, if the truth is known
    check: Check | None = None  # how far to trust the answer
    labelled: LabelledPoints | None = None  # None where no labelled row is at hand
    levels: LevelShares | None = None  # None where no column is one of categories
    log: EventLog = NO_EVENTS  # what became of groups, batch after batch

    @property
    def known(self) -> int:
        """Return the number of known classes."""
        return sum(group.kind == GroupKind.KNOWN for group in self.groups)

    @property
    def trust(self) -> str:
        """Return how far to trust the answer, in words: the headline of whatever shows it."""
        return UNCHECKED if self.check is None else str(self.check)


def facts_of(
    table: Any,
    clusters: IntArray,
    novelty: FloatArray,
    score: FloatArray,
    class_probabilities: Callable[[IntArray], FloatArray],
    groups: tuple[Group, ...],
    yardstick: Yardstick,
    *,
    sentence: str,
    count: GroupCount,
    notes: tuple[str, ...],
    threshold: float,
    climb: Climb | None,
    source: str = "",
    names: Sequence[str | None] | None = None,
    truth: Any = None,
    scores: tuple[tuple[str, float], ...] = (),
    check: Check | None = None,
    witnesses: Witnesses | None = None,
    log: EventLog = NO_EVENTS,
) -> Facts:
    """Return the facts; `class_probabilities` returns the probabilities of the rows it is given.

    `witnesses` are labelled rows, of which some are shown on the map.
    """
    drawn = with_telling(rows_to_draw(clusters), novelty, score, threshold)
    scores_drawn, labelled = _placed(table[drawn], witnesses, yardstick)
    true = None if truth is None else np.asarray(truth)
    confusion = None if true is None else confusion_of(true, clusters, [group.name for group in groups])

    return Facts(
        sentence=sentence,
        source=source,
        rows=clusters.size,
        groups=tuple(_shortened(group) for group in groups),
        count=count,
        notes=notes,
        threshold=threshold,
        novelty_counts=_novelty_counts(novelty, clusters, groups),
        points=Points(
            names=tuple(str(i) for i in drawn.tolist())
            if names is None
            else tuple(str(names[i] or i + 1) for i in drawn.tolist()),
            clusters=clusters[drawn],
            novelty=novelty[drawn],
            classes=class_probabilities(drawn),
            scores=scores_drawn,
            truth=None if true is None else tuple(str(value) for value in true[drawn].tolist()),
            score=score[drawn],
        ),
        profiles=profiles_of(table, clusters, groups, yardstick),
        levels=level_shares_of(table, clusters, groups, yardstick),
        climb=climb,
        confusion=confusion,
        scores=scores,
        check=check,
        labelled=labelled,
        log=log,
    )


def _placed(
    rows: NDArray[Any], witnesses: Witnesses | None, yardstick: Yardstick
) -> tuple[FloatArray, LabelledPoints | None]:
    """Return where rows lie on the map, and some labelled rows beside them."""
    white = yardstick.whitened(rows)
    if witnesses is None:
        return principal_scores(white), None
    some = rows_to_draw(witnesses.member, _MOST_LABELLED)
    scores, beside = principal_places(white, yardstick.whitened_working(witnesses.rows[some]))
    return scores, LabelledPoints(witnesses.member[some], beside)


def _shortened(group: Group) -> Group:
    if group.explanation is None:
        return group
    explanation = replace(group.explanation, contributions=group.explanation.contributions[:_CONTRIBUTIONS])
    return replace(group, explanation=explanation)


def _novelty_counts(novelty: FloatArray, clusters: IntArray, groups: tuple[Group, ...]) -> IntArray:
    kinds = tuple(GroupKind)
    # a doubtful group is not shown as if it were sure
    kind = np.array([kinds.index(GroupKind.OUTLIER if group.doubtful else group.kind) for group in groups])
    counts = np.zeros(BINS * len(kinds), dtype=np.int64)
    for chunk in chunks(clusters.size):
        cell = novelty_bin(novelty[chunk])
        counts += np.bincount(cell * len(kinds) + kind[clusters[chunk]], minlength=counts.size)
    return counts.reshape(BINS, len(kinds))
