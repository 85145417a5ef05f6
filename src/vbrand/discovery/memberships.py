"""From scores to answers: which known class or novel component a row belongs to, and how surely."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from vbrand.inference.rows import Rows
from vbrand.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Memberships:
    """Log probabilities of known classes and novel components; a row's sum to one over both."""

    known: FloatArray  # (n, classes)
    novel: FloatArray  # (n, T)

    @property
    def novelty_logit(self) -> FloatArray:
        """Return log P(novel) - log P(known) of each row: it does not saturate where probabilities do."""
        return np.asarray(logsumexp(self.novel, axis=1) - logsumexp(self.known, axis=1))

    @property
    def novelty_probability(self) -> FloatArray:
        """Return P(novel) of each row."""
        return np.asarray(expit(self.novelty_logit))

    @property
    def best_class(self) -> IntArray:
        """Return the most probable known class of each row."""
        return np.asarray(self.known.argmax(axis=1))

    def novelty_score(self, threshold: float) -> FloatArray:
        """Return how far each row is from the threshold: above 0 is novel."""
        # (8.8)  log P(novel) - log P(known) - logit(threshold)
        return np.asarray(self.novelty_logit - np.log(threshold / (1.0 - threshold)))

    def is_novel(self, threshold: float) -> BoolArray:
        """Return which rows are novel: P(novel) above the threshold."""
        return self.novelty_score(threshold) > 0.0


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
    def meaning(self) -> IntArray:
        """Return the known class of each component, -1 for novelty, (K,)."""

    def log_parts(self, rows: FloatArray) -> FloatArray:
        """Return the log density of rows in working coordinates jointly with each component, (n, K)."""


def memberships(rows: Rows, predictive: Predictive) -> Iterator[tuple[slice, Memberships]]:
    """Return the memberships of rows block by block, by their posterior predictive densities.

    The responsibilities of the fit are not used: they average the log density of an empty novel component over all
    places where it may lie. That average is so low that a row far from everything would count as known.
    """
    for block in rows.blocks():
        yield block, _shared_out(predictive.log_parts(rows.working(block)), predictive.meaning)


def _shared_out(score: FloatArray, meaning: IntArray) -> Memberships:
    """Return log probabilities in proportion to exp(score), (n, K), known components summed by class."""
    # (8.7)  P(k | y) = E[w_k] p(y | k) / sum of all,  P(class j | y) = sum_{k in C(j)} P(k | y)
    score -= logsumexp(score, axis=1, keepdims=True)
    known = np.stack([logsumexp(score[:, meaning == j], axis=1) for j in range(int(meaning.max()) + 1)], axis=1)
    return Memberships(known, score[:, meaning < 0])
