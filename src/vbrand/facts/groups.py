"""The groups of a discovery: known classes and novel groups, one line each."""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.facts.explain import Explanation, Yardstick
from vbrand.inference.kernel import each_piece
from vbrand.inference.rows import Rows
from vbrand.samples import some_members
from vbrand.types import FloatArray, IntArray

_ROWS_TO_EXPLAIN = 1_000
# quantiles of draws: the ends of a 90 % interval
INTERVAL = (0.05, 0.95)


class GroupKind(StrEnum):
    """What a group is."""

    KNOWN = "known class"
    NOVEL = "novel group"
    OUTLIER = "outlier group"  # a novel group of few rows


@dataclass(frozen=True)
class Group:
    """One line of the summary: a known class or a novel group."""

    name: str
    rows: int
    weight: float  # the share of all rows that the model expects it to have
    novelty_probability: float  # mean over its rows
    kind: GroupKind
    centre: FloatArray  # (p,) mean of its rows, in the user's units
    explanation: Explanation | None  # how far its centre lies from the known classes; None for a known class
    doubtful: bool = False  # it may well be mostly known rows
    alone: bool = True  # it has a component of its own, so that it can be named

    @property
    def what(self) -> str:
        """Return what it is, in words."""
        return f"{self.kind}, doubtful" if self.doubtful else str(self.kind)


@dataclass(frozen=True)
class GroupCount:
    """Number of novel groups, of at least `min_group` rows each: mean and 90 % interval over draws of labels.

    The draws of a variational fit hold its components fixed and only redraw which rows belong to them, so the interval
    is too narrow: it ignores other ways to split the rows. The draws of the sampler are draws of the posterior.
    """

    mean: float
    low: int
    high: int

    @classmethod
    def of(cls, draws: IntArray) -> "GroupCount":
        """Return what so many draws of the number say."""
        low, high = np.quantile(draws, INTERVAL, method="nearest")
        return cls(float(draws.mean()), int(low), int(high))


@dataclass(frozen=True)
class Past:
    """What was known of a novel group before."""

    name: str
    rows: float = 0.0  # in earlier batches
    centre: FloatArray = field(default_factory=lambda: np.empty(0))  # (q,) where it lies, in working coordinates
    alone: bool = True  # it has a component of its own


def describe_groups(
    table: Any,
    clusters: IntArray,
    weights: FloatArray,
    novelty: FloatArray,
    classes: NDArray[Any],
    min_group: int,
    yardstick: Yardstick,
    doubtful: tuple[str, ...] = (),
    counted: IntArray | None = None,
    before: tuple["Past", ...] = (),
) -> tuple[Group, ...]:
    """Return the known classes and novel groups, one per line of the summary; `weights` are the expected ones.

    `table` is an array or lies on disk, `doubtful` are names of novel groups; `counted` are the rows that are no
    copies, if some are; `before` says what earlier batches knew of the groups.
    """
    sizes = np.bincount(clusters, minlength=weights.size)
    different = sizes if counted is None else np.bincount(clusters[counted], minlength=weights.size)
    past = before or tuple(Past(f"novel {number}") for number in range(1, weights.size - classes.size + 1))
    share = np.maximum(sizes, 1)
    mean_novelty = np.bincount(clusters, novelty, minlength=weights.size) / share
    sums, cells = _sums_by_cluster(table, clusters, weights.size)
    centres = np.where(cells > 0.0, sums / np.maximum(cells, 1.0), np.nan)

    groups = list[Group]()
    for k, size in enumerate(sizes.tolist()):
        known = k < classes.size
        own = Past(str(classes[k])) if known else past[k - classes.size]
        name, so_far = own.name, own.rows + different[k]
        if size:
            explain = partial(yardstick.explain, some_rows(table, clusters, k))
        else:
            explain = partial(yardstick.explain_place, own.centre)
        groups.append(
            Group(
                name=name,
                rows=size,
                weight=float(weights[k]),
                novelty_probability=float(mean_novelty[k]),
                kind=GroupKind.KNOWN if known else GroupKind.NOVEL if so_far >= min_group else GroupKind.OUTLIER,
                centre=centres[k] if size else np.full(table.shape[1], np.nan),
                explanation=None if known else explain(),
                doubtful=not known and name in doubtful,
                alone=own.alone,
            )
        )

    return tuple(groups)


def some_rows(table: Any, clusters: IntArray, cluster: int) -> FloatArray:
    """Return the rows of a cluster, or an even sample of them if they are many."""
    return np.asarray(table[some_members(clusters, clusters.size, cluster, _ROWS_TO_EXPLAIN)], dtype=np.float64)


def _sums_by_cluster(table: Any, clusters: IntArray, count: int) -> FloatArray:
    """Return the sums of the cells of each cluster, and how many there are, (2, count, p)."""
    rows = Rows(table, np.zeros(table.shape[1]), np.ones(table.shape[1]), np.inf)
    if not hasattr(table, "each"):
        return _sums(rows, clusters, count)
    parts = each_piece(rows, _sums, lambda piece: (clusters[piece], count), lambda piece, found: found)
    return np.asarray(np.sum(parts, axis=0))


def _sums(rows: Rows, clusters: IntArray, count: int) -> FloatArray:
    """Return the same of some rows, added one row after the other."""
    sums, cells = np.zeros((2, count, rows.columns))
    for block in rows.blocks():
        # the sums so far come first: the order of additions is that of the rows, whatever the blocks
        member = np.append(np.arange(count), clusters[block])
        for j, column in enumerate(rows.table[block].T):
            here = ~np.isnan(column)
            sums[:, j] = np.bincount(member, np.append(sums[:, j], np.where(here, column, 0.0)), minlength=count)
            cells[:, j] += np.bincount(clusters[block], here, minlength=count)
    return np.stack([sums, cells])


def plural(count: int, one: str, many: str) -> str:
    """Return a count with its word.

    >>> plural(1_512, "row", "rows")
    '1,512 rows'
    """
    return f"{count:,} {one if count == 1 else many}"
