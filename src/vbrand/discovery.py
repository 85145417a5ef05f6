"""What was found: a known class or a novel group for every row, with probabilities."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from vbrand.inference.cavi import Stopped
from vbrand.labelling import Memberships
from vbrand.model.posterior import Bound
from vbrand.types import BoolArray, FloatArray, IntArray

_DRAWS = 200
# a row whose best component has at least this probability is taken as certain when labels are drawn
_CERTAIN = 1.0 - 1e-9


@dataclass(frozen=True)
class Group:
    """One line of the summary: a known class or a novel group."""

    name: str
    rows: int
    weight: float  # share of the rows, by probability
    novelty_probability: float  # mean over its rows
    kind: str  # "known class", "novel group" or "outlier group"
    centre: FloatArray  # (p,) mean of its rows, in the user's units


@dataclass(frozen=True)
class GroupCount:
    """Number of novel groups: mean and 90 % interval over draws of labels.

    The draws hold the fitted components fixed and only redraw which rows belong to them, so the interval is too
    narrow: it knows nothing of other ways to split the rows. The sampler gives the honest one.
    """

    mean: float
    low: int
    high: int


@dataclass(frozen=True)
class Discovery:
    """The answer of `VBrand.discover`.

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
    probabilities: FloatArray  # (n, J + groups)
    groups: tuple[Group, ...]  # known classes, then novel groups
    n_groups: GroupCount
    elbo: float  # in the user's units, every constant kept
    bound: Bound  # its terms, in working coordinates
    traces: list[FloatArray]  # the bound of every sweep of every start, in the user's units
    stopped: Stopped
    columns: tuple[str, ...]

    def summary(self) -> "Summary":
        """Return a table of the groups: rows, weight, mean novelty probability, and what each is."""
        return Summary(self.groups)

    def __repr__(self) -> str:
        known = int((self.clusters < self.classes.size).sum())
        novel = [group for group in self.groups[self.classes.size :] if group.kind == "novel group"]
        outliers = sum(group.rows for group in self.groups[self.classes.size :] if group.kind == "outlier group")
        return (
            f"{known:,} rows belong to the {_plural(self.classes.size, 'known class', 'known classes')}, "
            f"{sum(group.rows for group in novel):,} to {_plural(len(novel), 'novel group', 'novel groups')}, "
            f"{outliers:,} look like outliers."
        )


@dataclass(frozen=True)
class Summary:
    """The groups as a table that prints."""

    groups: tuple[Group, ...]

    def __str__(self) -> str:
        width = max(5, *(len(group.name) for group in self.groups))
        lines = [f"{'group':{width}}  {'rows':>7}  {'weight':>6}  {'P(novel)':>8}  kind"]
        lines += [
            f"{g.name:{width}}  {g.rows:>7,}  {g.weight:>6.3f}  {g.novelty_probability:>8.3f}  {g.kind}"
            for g in self.groups
        ]
        return "\n".join(lines)

    __repr__ = __str__


def discovery_of(
    rows: FloatArray,
    members: Memberships,
    *,
    classes: NDArray[Any],
    threshold: float,
    min_group: int,
    generator: np.random.Generator,
    **fit: Any,
) -> Discovery:
    """Return the discovery for rows in the user's units; `fit` holds what is passed through."""
    novel = members.is_novel(threshold)
    best = members.novel.argmax(axis=1)
    places = _groups_by_size(best[novel])  # novel components that have rows, largest first
    clusters = members.best_class.copy()
    clusters[novel] = classes.size + np.argsort(places)[np.searchsorted(np.sort(places), best[novel])]
    probabilities = _probabilities(members, places)
    return Discovery(
        classes=classes,
        labels=labels_of(members, classes, threshold),
        clusters=clusters,
        novelty_probability=members.novelty_probability,
        novelty_score=members.novelty_score(threshold),
        probabilities=probabilities,
        groups=_describe(rows, clusters, probabilities, members.novelty_probability, classes, min_group),
        n_groups=_count_groups(members, min_group, generator),
        **fit,
    )


def labels_of(members: Memberships, classes: NDArray[Any], threshold: float) -> NDArray[Any]:
    """Return the known label of each row, or -1 ("novel" where labels are text)."""
    names = np.append(classes, "novel" if classes.dtype.kind in "US" else -1)
    return np.asarray(names[np.where(members.is_novel(threshold), classes.size, members.best_class)])


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


def _describe(
    rows: FloatArray,
    clusters: IntArray,
    probabilities: FloatArray,
    novelty: FloatArray,
    classes: NDArray[Any],
    min_group: int,
) -> tuple[Group, ...]:
    groups = list[Group]()
    for k in range(probabilities.shape[1]):
        inside: BoolArray = clusters == k
        size = int(inside.sum())
        known = k < classes.size
        kind = "known class" if known else "novel group" if size >= min_group else "outlier group"
        groups.append(
            Group(
                name=str(classes[k]) if known else f"novel {k - classes.size + 1}",
                rows=size,
                weight=float(probabilities[:, k].mean()),
                novelty_probability=float(novelty[inside].mean()) if size else 0.0,
                kind=kind,
                centre=rows[inside].mean(axis=0) if size else np.full(rows.shape[1], np.nan),
            )
        )
    return tuple(groups)


def _count_groups(members: Memberships, min_group: int, generator: np.random.Generator) -> GroupCount:
    """Draw the component of every row and count the novel ones with at least `min_group` rows."""
    novel = members.novel.shape[1]
    shares = np.exp(np.column_stack([members.novel, logsumexp(members.known, axis=1)]))  # (n, T + 1)
    certain = shares.max(axis=1) >= _CERTAIN
    sure = np.bincount(shares[certain].argmax(axis=1), minlength=novel + 1)
    steps = np.cumsum(shares[~certain], axis=1)
    steps /= steps[:, -1:]
    counts = np.empty(_DRAWS, dtype=np.int64)
    for draw in range(_DRAWS):
        drawn = (steps < generator.random((steps.shape[0], 1))).sum(axis=1)
        sizes = sure + np.bincount(drawn, minlength=novel + 1)
        counts[draw] = (sizes[:novel] >= min_group).sum()
    low, high = np.quantile(counts, [0.05, 0.95], method="nearest")
    return GroupCount(float(counts.mean()), int(low), int(high))


def _plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
