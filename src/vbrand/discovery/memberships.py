"""From scores to answers: which known class or novel component a row belongs to, and how surely."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.rows import Rows
from vbrand.sums import log_sum
from vbrand.trust.meaning import Meaning, Memberships, judged
from vbrand.types import FloatArray, IntArray

# rows; what is computed of them on the way, some dozen numbers per component, stays near the processor
_AT_ONCE = 2_048


@dataclass(frozen=True)
class Answers:
    """The answer for each row."""

    labels: NDArray[Any]  # (n,) known label, or -1 / "novel"
    clusters: IntArray  # (n,) 0..J-1 the known classes, J.. the groups, and the next number for rows like no group
    novelty_probability: FloatArray  # (n,)
    class_probabilities: FloatArray  # (n, J + 1) of the known classes and of novelty


def answers_of(members: Memberships, classes: NDArray[Any], threshold: float, group_components: IntArray) -> Answers:
    """Return the answers for rows with these memberships, given which novel components are groups."""
    rank = np.full(members.novel.shape[1], classes.size + group_components.size)
    rank[group_components] = classes.size + np.arange(group_components.size)
    novel = members.is_novel(threshold)
    probability = members.novelty_probability
    return Answers(
        labels=np.asarray(label_names(classes)[np.where(novel, classes.size, members.best_class)]),
        clusters=np.where(novel, rank[members.novel.argmax(axis=1)], members.best_class),
        novelty_probability=probability,
        class_probabilities=np.column_stack([np.exp(members.known), probability]),
    )


def label_names(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of the known classes, and that of novelty."""
    return np.append(classes, "novel" if classes.dtype.kind in "US" else -1)


class Predictive(Protocol):
    """The components by which rows are predicted, and what each of them means."""

    @property
    def meaning(self) -> Meaning:
        """Return what the components mean."""

    def log_parts(self, rows: FloatArray) -> FloatArray:
        """Return the log density of rows in working coordinates jointly with each component, (n, K)."""


def memberships(rows: Rows, predictive: Predictive) -> Iterator[tuple[slice, Memberships]]:
    """Return the memberships of rows part by part, by their posterior predictive densities.

    The responsibilities of the fit are not used: they average the log density of an empty novel component over all
    places where it may lie. That average is so low that a row far from everything would count as known.
    """
    for block in rows.blocks():
        working = rows.working(block)
        for first in range(0, working.shape[0], _AT_ONCE):
            own = working[first : first + _AT_ONCE]
            start = block.start + first
            yield (
                slice(start, start + own.shape[0]),
                judged(own, predictive.log_parts(own), predictive.meaning),
            )


def group_probabilities(rows: Rows, predictive: Predictive, group_components: IntArray) -> FloatArray:
    """Return probabilities of known classes and groups for some rows, block by block."""
    return np.concatenate([_probabilities(own, group_components) for _, own in memberships(rows, predictive)])


def _probabilities(members: Memberships, group_components: IntArray) -> FloatArray:
    """Return probabilities of known classes and groups; that of other novel components goes to the best group."""
    if group_components.size == 0:
        return np.asarray(np.exp(members.known - log_sum(members.known, axis=1, keepdims=True)))
    inside = np.exp(members.novel[:, group_components])  # (n, groups)
    elsewhere = np.exp(np.delete(members.novel, group_components, axis=1)).sum(axis=1)
    inside[np.arange(inside.shape[0]), members.novel[:, group_components].argmax(axis=1)] += elsewhere
    return np.column_stack([np.exp(members.known), inside])
