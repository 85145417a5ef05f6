"""What the variational fit found: labels, groups and probabilities from the predictive densities of its components."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp
from sklearn.utils import check_random_state

from vbrand.discovery.base import Context, Discovery
from vbrand.discovery.memberships import Memberships, Predictive, label_names, memberships
from vbrand.facts.facts import Climb
from vbrand.facts.groups import GroupCount, describe_groups
from vbrand.inference.cavi import Stopped
from vbrand.inference.growth import Move
from vbrand.inference.rows import Rows
from vbrand.model.posterior import Bound
from vbrand.types import FloatArray, IntArray

_DRAWS = 200
# probabilities of up to so many rows x groups are computed at once
_AT_ONCE = 5_000_000
# a row whose best component has at least this probability is taken as certain when labels are drawn
_CERTAIN = 1.0 - 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class VariationalDiscovery(Discovery):
    """The answer of `VBrand.discover`.

    For a large table probabilities are computed when they are first asked for, from the table as it is at that time.
    """

    elbo: float  # in the user's units, every constant kept
    bound: Bound  # its terms, in working coordinates
    traces: list[FloatArray]  # the bound of every sweep of every start (moves: of those kept), in the user's units
    history: tuple[Move, ...]  # the moves of the search, kept or not
    stopped: Stopped
    group_components: IntArray  # novel components that are groups, in their order
    _rows: Rows  # the table as the model sees it
    _predictive: Predictive

    @cached_property
    def probabilities(self) -> FloatArray:
        """Return probabilities of known classes and novel groups, (n, J + groups); rows sum to 1."""
        result = np.empty((self.labels.size, len(self.groups)))
        for block, members in memberships(self._rows, self._predictive):
            result[block] = _probabilities(members, self.group_components)
        return result

    @property
    def class_probabilities(self) -> FloatArray:
        """Return probabilities of the known classes and of novelty (last), (n, J + 1); rows sum to 1."""
        return self._class_probabilities_of(np.arange(self.labels.size))

    def _class_probabilities_of(self, rows: IntArray) -> FloatArray:
        some = self._rows if rows.size == len(self._rows) else replace(self._rows, table=self._rows.table[rows])
        known = [np.exp(members.known) for _, members in memberships(some, self._predictive)]
        return np.column_stack([np.concatenate(known), self.novelty_probability[rows]])

    def _climb(self) -> Climb:
        return Climb(max(self.traces, key=lambda trace: float(trace[-1])), self.history)

    def label_draws(self, n_draws: int = 1_000, random_state: Any = None) -> IntArray:
        """Return draws of `clusters`, (draws, n), each row by its own probabilities, independently of the others."""
        generator = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        steps = np.cumsum(self.probabilities, axis=1)[:, :-1]  # (n, J + groups - 1)
        return np.stack([(steps < generator.random((steps.shape[0], 1))).sum(axis=1) for _ in range(n_draws)])


@dataclass(frozen=True)
class Fit:
    """What the search found and how it got there, bounds in the user's units."""

    elbo: float
    bound: Bound  # the terms of the bound, in working coordinates
    traces: list[FloatArray]
    history: tuple[Move, ...]
    stopped: Stopped


def discovery_of(
    context: Context, rows: Rows, fit: Fit, predictive: Predictive, weights: FloatArray, generator: np.random.Generator
) -> VariationalDiscovery:
    """Return the discovery for a table in the user's units.

    `rows` is the table as the model sees it, `weights` are the expected weights of the components (K,). Memberships
    are computed block by block whenever they are needed: no array of rows by components is kept.
    """
    n, classes, threshold = len(rows), context.classes, context.threshold
    clusters, score = np.empty(n, dtype=np.int64), np.empty(n)
    doubtful = list[FloatArray]()
    certain = np.zeros((predictive.meaning < 0).sum() + 1, dtype=np.int64)
    for block, part in memberships(rows, predictive):
        novel = part.is_novel(threshold)
        clusters[block] = np.where(novel, classes.size + part.novel.argmax(axis=1), part.best_class)
        score[block] = part.novelty_score(threshold)
        shares = np.exp(np.column_stack([part.novel, logsumexp(part.known, axis=1)]))  # (b, T + 1)
        sure = shares.max(axis=1) >= _CERTAIN
        certain += np.bincount(shares[sure].argmax(axis=1), minlength=certain.size)
        doubtful.append(shares[~sure])

    group_components = _groups_by_size(clusters[clusters >= classes.size] - classes.size)
    rank = np.arange(classes.size + certain.size)
    rank[classes.size + group_components] = classes.size + np.arange(group_components.size)
    clusters = rank[clusters]
    novelty = expit(score + np.log(threshold / (1.0 - threshold)))

    found = VariationalDiscovery(
        context=context,
        labels=label_names(classes)[np.minimum(clusters, classes.size)],
        clusters=clusters,
        novelty_probability=novelty,
        novelty_score=score,
        groups=describe_groups(
            context.table,
            clusters,
            _weights_of_groups(weights, predictive.meaning, group_components),
            novelty,
            classes,
            context.min_group,
            context.yardstick,
        ),
        n_groups=_count_groups(certain, np.concatenate(doubtful), context.min_group, generator),
        elbo=fit.elbo,
        bound=fit.bound,
        traces=fit.traces,
        history=fit.history,
        stopped=fit.stopped,
        group_components=group_components,
        _rows=rows,
        _predictive=predictive,
    )
    if n * len(found.groups) <= _AT_ONCE:
        _ = found.probabilities
    return found


def _weights_of_groups(weights: FloatArray, meaning: IntArray, group_components: IntArray) -> FloatArray:
    """Return the weights of known classes and novel groups, from those of components."""
    known = meaning >= 0
    return np.append(np.bincount(meaning[known], weights[known]), weights[~known][group_components])


def _groups_by_size(best: IntArray) -> IntArray:
    components, sizes = np.unique(best, return_counts=True)
    return np.asarray(components[np.argsort(-sizes, kind="stable")])


def _probabilities(members: Memberships, group_components: IntArray) -> FloatArray:
    """Return probabilities of known classes and groups; that of other novel components goes to the best group."""
    if group_components.size == 0:
        return np.asarray(np.exp(members.known - logsumexp(members.known, axis=1, keepdims=True)))
    inside = np.exp(members.novel[:, group_components])  # (n, groups)
    elsewhere = np.exp(np.delete(members.novel, group_components, axis=1)).sum(axis=1)
    inside[np.arange(inside.shape[0]), members.novel[:, group_components].argmax(axis=1)] += elsewhere
    return np.column_stack([np.exp(members.known), inside])


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

    return GroupCount.of(counts)
