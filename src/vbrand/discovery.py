"""What was found: a known class or a novel group for every row, with probabilities."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp
from sklearn.utils import check_random_state

from vbrand.explain import Explanation, Yardstick
from vbrand.inference.cavi import Stopped
from vbrand.inference.growth import Move
from vbrand.labelling import Memberships
from vbrand.model.posterior import Bound, Posterior
from vbrand.model.predictive import log_component_weights
from vbrand.types import BoolArray, FloatArray, IntArray

_DRAWS = 200
_ROWS_TO_EXPLAIN = 1_000
# probabilities of up to so many rows x groups are computed at once
_AT_ONCE = 5_000_000
# a row whose best component has at least this probability is taken as certain when labels are drawn
_CERTAIN = 1.0 - 1e-9


@dataclass(frozen=True)
class Group:
    """One line of the summary: a known class or a novel group."""

    name: str
    rows: int
    weight: float  # the share of all rows that the model expects of it
    novelty_probability: float  # mean over its rows
    kind: str  # "known class", "novel group" or "outlier group"
    centre: FloatArray  # (p,) mean of its rows, in the user's units
    explanation: Explanation | None  # where its centre lies beside the known classes; None for those


@dataclass(frozen=True)
class GroupCount:
    """Number of novel groups, of at least `min_group` rows each: mean and 90 % interval over draws of labels.

    The draws of a variational fit hold its components fixed and only redraw which rows belong to them, so the interval
    is too narrow: it knows nothing of other ways to split the rows. Those of the sampler are draws of the posterior.
    """

    mean: float
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class Discovery:
    """The answer of `discover`.

    `clusters` are 0..J-1 for the known classes in the order of `classes`, and J.. for the novel groups, largest first.
    A group exists if at least one row is labelled with it; the probability of other novel components goes to the
    best group of the row. Where no group exists the columns of `probabilities` are the known classes given that the
    row is known. Groups of fewer than `min_group` rows are outlier groups.
    """

    classes: NDArray[Any]  # (J,)
    labels: NDArray[Any]  # (n,) known label, or -1 / "novel"
    clusters: IntArray  # (n,)
    novelty_probability: FloatArray  # (n,)
    novelty_score: FloatArray  # (n,) log-odds of novelty above those of the threshold
    groups: tuple[Group, ...]  # known classes, then novel groups
    n_groups: GroupCount
    columns: tuple[str, ...]
    notes: tuple[str, ...]  # what was done to the table, in sentences
    _table: NDArray[Any] = field(repr=False)
    _yardstick: Yardstick = field(repr=False)

    @property
    def probabilities(self) -> FloatArray:
        """Return probabilities of known classes and novel groups, (n, J + groups); rows sum to 1."""
        raise NotImplementedError

    @property
    def class_probabilities(self) -> FloatArray:
        """Return probabilities of the known classes and of novelty (last), (n, J + 1); rows sum to 1."""
        raise NotImplementedError

    def label_draws(self, n_draws: int = 1_000, random_state: Any = None) -> IntArray:
        """Return draws of `clusters`, (draws, n): what `vbrand.partition` works on."""
        raise NotImplementedError

    def has_rows_of(self, other: "Discovery") -> bool:
        """Return whether another discovery is of the same rows."""
        return bool(np.array_equal(self._table, other._table))

    def explain(self, row: int) -> Explanation:
        """Return how far a row lies from the nearest known class, and the columns that make the distance.

        `row` is its position among the rows that were discovered.
        """
        if not -self.labels.size <= row < self.labels.size:
            raise IndexError(
                f"row {row} was asked for; the rows that were discovered count from 0 to {self.labels.size - 1}."
            )
        return self._yardstick.explain(self._table[[row]].astype(np.float64))

    def summary(self) -> "Summary":
        """Return a table of the groups: rows, weight, mean novelty probability, and what each is.

        Below it, where the novel groups lie beside the known classes, and what was done to the table.
        """
        return Summary(self.groups, self.notes)

    def __repr__(self) -> str:
        known = int((self.clusters < self.classes.size).sum())
        novel = [group.rows for group in self.groups if group.kind == "novel group"]
        outliers = sum(group.rows for group in self.groups if group.kind == "outlier group")
        return (
            f"{_plural(known, 'row belongs', 'rows belong')} to the "
            f"{_plural(self.classes.size, 'known class', 'known classes')}, "
            f"{sum(novel):,} to {_plural(len(novel), 'novel group', 'novel groups')}, "
            f"{_plural(outliers, 'looks like an outlier', 'look like outliers')}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class VariationalDiscovery(Discovery):
    """The answer of `VBrand.discover`.

    For a large table probabilities are computed when first asked for, from the table as it then is.
    """

    elbo: float  # in the user's units, every constant kept
    bound: Bound  # its terms, in working coordinates
    traces: list[FloatArray]  # the bound of every sweep of every start (moves: of those kept), in the user's units
    history: tuple[Move, ...]  # the moves of the search, kept or not
    stopped: Stopped
    _members: Callable[[], Iterator[tuple[slice, Memberships]]]
    _places: IntArray  # novel components that are groups, in their order

    @cached_property
    def probabilities(self) -> FloatArray:
        """Return probabilities of known classes and novel groups, (n, J + groups); rows sum to 1."""
        result = np.empty((self.labels.size, len(self.groups)))
        for block, members in self._members():
            result[block] = _probabilities(members, self._places)
        return result

    @property
    def class_probabilities(self) -> FloatArray:
        """Return probabilities of the known classes and of novelty (last), (n, J + 1); rows sum to 1."""
        known = [np.exp(members.known) for _, members in self._members()]
        return np.column_stack([np.concatenate(known), self.novelty_probability])

    def label_draws(self, n_draws: int = 1_000, random_state: Any = None) -> IntArray:
        """Return draws of `clusters`, (draws, n), each row by its probabilities and on its own, as the fit has it."""
        generator = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        steps = np.cumsum(self.probabilities, axis=1)[:, :-1]  # (n, J + groups - 1)
        return np.stack([(steps < generator.random((steps.shape[0], 1))).sum(axis=1) for _ in range(n_draws)])


@dataclass(frozen=True)
class Summary:
    """The groups as a table that prints."""

    groups: tuple[Group, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        width = max(5, *(len(group.name) for group in self.groups))
        lines = [f"{'group':{width}}  {'rows':>7}  {'weight':>6}  {'P(novel)':>8}  kind"]
        lines += [
            f"{g.name:{width}}  {g.rows:>7,}  {g.weight:>6.3f}  {g.novelty_probability:>8.3f}  {g.kind}"
            for g in self.groups
        ]
        for group in self.groups:
            if group.kind == "novel group" and group.explanation is not None:
                lines.append(f"{group.name}: {group.explanation}")
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__


def discovery_of(
    table: NDArray[Any],
    members: Callable[[], Iterator[tuple[slice, Memberships]]],
    posterior: Posterior,
    class_of: IntArray,
    *,
    classes: NDArray[Any],
    threshold: float,
    min_group: int,
    generator: np.random.Generator,
    yardstick: Yardstick,
    **fit: Any,
) -> VariationalDiscovery:
    """Return the discovery for rows in the user's units; `fit` holds what is passed through.

    `members` gives memberships block by block, each time anew: no array of rows by components is kept.
    """
    n = table.shape[0]
    clusters, score = np.empty(n, dtype=np.int64), np.empty(n)
    doubtful = list[FloatArray]()
    certain = np.zeros(posterior.components.dof.size - class_of.size + 1, dtype=np.int64)
    for block, part in members():
        novel = part.is_novel(threshold)
        clusters[block] = np.where(novel, classes.size + part.novel.argmax(axis=1), part.best_class)
        score[block] = part.novelty_score(threshold)
        shares = np.exp(np.column_stack([part.novel, logsumexp(part.known, axis=1)]))  # (b, T + 1)
        sure = shares.max(axis=1) >= _CERTAIN
        certain += np.bincount(shares[sure].argmax(axis=1), minlength=certain.size)
        doubtful.append(shares[~sure])
    places = _groups_by_size(clusters[clusters >= classes.size] - classes.size)
    rank = np.arange(classes.size + certain.size)
    rank[classes.size + places] = classes.size + np.arange(places.size)
    clusters = rank[clusters]
    novelty = expit(score + np.log(threshold / (1.0 - threshold)))
    found = VariationalDiscovery(
        classes=classes,
        labels=label_names(classes)[np.minimum(clusters, classes.size)],
        clusters=clusters,
        novelty_probability=novelty,
        novelty_score=score,
        groups=describe_groups(
            table, clusters, _weights(posterior, class_of, places), novelty, classes, min_group, yardstick
        ),
        n_groups=_count_groups(certain, np.concatenate(doubtful), min_group, generator),
        _table=table,
        _yardstick=yardstick,
        _members=members,
        _places=places,
        **fit,
    )
    if n * len(found.groups) <= _AT_ONCE:
        _ = found.probabilities
    return found


def labels_of(members: Memberships, classes: NDArray[Any], threshold: float) -> NDArray[Any]:
    """Return the known label of each row, or -1 ("novel" where labels are text)."""
    return np.asarray(label_names(classes)[np.where(members.is_novel(threshold), classes.size, members.best_class)])


def label_names(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of the known classes, and that of novelty."""
    return np.append(classes, "novel" if classes.dtype.kind in "US" else -1)


def _weights(posterior: Posterior, class_of: IntArray, places: IntArray) -> FloatArray:
    """Return the expected weights of known classes and novel groups."""
    expected = np.exp(log_component_weights(posterior))
    return np.append(np.bincount(class_of, expected[: class_of.size]), expected[class_of.size + places])


def _groups_by_size(best: IntArray) -> IntArray:
    components, sizes = np.unique(best, return_counts=True)
    return np.asarray(components[np.argsort(-sizes, kind="stable")])


def _probabilities(members: Memberships, places: IntArray) -> FloatArray:
    """Return probabilities of known classes and groups; what other novel components hold goes to the best group."""
    if places.size == 0:
        return np.asarray(np.exp(members.known - logsumexp(members.known, axis=1, keepdims=True)))
    inside = np.exp(members.novel[:, places])  # (n, groups)
    elsewhere = np.exp(np.delete(members.novel, places, axis=1)).sum(axis=1)
    inside[np.arange(inside.shape[0]), members.novel[:, places].argmax(axis=1)] += elsewhere
    return np.column_stack([np.exp(members.known), inside])


def describe_groups(
    table: NDArray[Any],
    clusters: IntArray,
    weights: FloatArray,
    novelty: FloatArray,
    classes: NDArray[Any],
    min_group: int,
    yardstick: Yardstick,
) -> tuple[Group, ...]:
    """Return known classes and novel groups, line by line of the summary; `weights` are those that are expected."""
    sizes = np.bincount(clusters, minlength=weights.size)
    share = np.maximum(sizes, 1)
    mean_novelty = np.bincount(clusters, novelty, minlength=weights.size) / share
    centres = np.stack([np.bincount(clusters, column, minlength=weights.size) / share for column in table.T], axis=1)
    groups = list[Group]()
    for k, size in enumerate(sizes.tolist()):
        known = k < classes.size
        groups.append(
            Group(
                name=str(classes[k]) if known else f"novel {k - classes.size + 1}",
                rows=size,
                weight=float(weights[k]),
                novelty_probability=float(mean_novelty[k]),
                kind="known class" if known else "novel group" if size >= min_group else "outlier group",
                centre=centres[k] if size else np.full(table.shape[1], np.nan),
                explanation=None if known else yardstick.explain(_some(table, clusters == k)),
            )
        )
    return tuple(groups)


def _some(table: NDArray[Any], chosen: BoolArray) -> FloatArray:
    """Return the chosen rows, of many an even sample."""
    rows = np.flatnonzero(chosen)
    return np.asarray(table[rows[:: -(-rows.size // _ROWS_TO_EXPLAIN)]], dtype=np.float64)


def _count_groups(
    certain: IntArray, doubtful: FloatArray, min_group: int, generator: np.random.Generator
) -> GroupCount:
    """Draw the component of every doubtful row and count the novel ones with at least `min_group` rows."""
    steps = np.cumsum(doubtful, axis=1)
    steps /= steps[:, -1:]
    counts = np.empty(_DRAWS, dtype=np.int64)
    for draw in range(_DRAWS):
        drawn = (steps < generator.random((steps.shape[0], 1))).sum(axis=1)
        sizes = certain + np.bincount(drawn, minlength=certain.size)
        counts[draw] = (sizes[:-1] >= min_group).sum()
    low, high = np.quantile(counts, [0.05, 0.95], method="nearest")
    return GroupCount(float(counts.mean()), int(low), int(high))


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
