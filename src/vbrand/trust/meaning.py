"""What components mean: probabilities over the known classes and novelty, and what follows for rows."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from vbrand.sums import log_sum
from vbrand.trust.cells import Cells
from vbrand.trust.rareness import Rareness
from vbrand.trust.standing import Labelled, Standing, by_class, standing_of
from vbrand.trust.votes import Votes
from vbrand.types import BoolArray, FloatArray, IntArray

# nats; a row that is so much more unlike the labelled rows than any hidden one was is novel, whatever its cell says,
# and the more surely the farther beyond it is
BEYOND = 10.0
FAR_BEYOND = 30.0
# how much the log-odds of novelty are stretched by how unlike the labelled rows a row is: enough that rows do not tie
STRETCH = 0.1


@dataclass(frozen=True)
class Checked:
    """What hidden labelled rows taught about the cells of a fit."""

    labelled: Labelled
    cells: Cells
    classes: FloatArray  # (C, J) shares of the known classes among the rows of each cell
    novel: FloatArray  # (C,) share of novelty
    farthest: float  # the most that a hidden row was unlike the others
    fit_weight: float  # how much the fit, beside the labelled rows alone, says which known class a row is of
    rareness: Rareness | None = None  # orders the rows of a component; None: how unlike the labelled rows they are does
    votes: Votes | None = None  # trees' opinion on which known class a row is of


@dataclass(frozen=True)
class Meaning:
    """What the components of a fit mean."""

    class_of: IntArray  # (K,) the class that each component stands for, -1 for the novel ones
    checked: Checked | None = None  # None: components mean what they stand for

    @property
    def matrix(self) -> FloatArray:
        """Return the probabilities of the known classes and of novelty (last) for rows of each component, (K, J + 1).

        Those of its cells are averaged: of equal numbers of rows each.
        """
        classes = int(self.class_of.max()) + 1
        matrix = np.zeros((self.class_of.size, classes + 1))
        matrix[np.arange(self.class_of.size), self.class_of] = 1.0
        if self.checked is None:
            return matrix

        starts, shares = self.checked.cells.starts, np.column_stack([self.checked.classes, self.checked.novel])
        of_known = shares[: starts[1], -1].mean()
        matrix[self.class_of >= 0] *= 1.0 - of_known
        matrix[self.class_of >= 0, -1] = of_known
        for k, first, last in zip(np.flatnonzero(self.class_of < 0), starts[1:], starts[2:], strict=False):
            matrix[k] = shares[first:last].mean(axis=0)
        return matrix


@dataclass(frozen=True)
class Memberships:
    """Log probabilities of known classes and of kinds of novelty; a row's sum to one over both."""

    known: FloatArray  # (n, J)
    novel: FloatArray  # (n, T) by novel component; if checked one column more: novelty among the known components
    unlike: FloatArray | None = None  # (n,) how unlike the labelled rows they are; None if nothing was checked
    log_odds: FloatArray | float = 0.0  # (n,) the same by trees, if there are any
    cells: FloatArray | None = None  # (n, C) shares of the cells
    doubt: FloatArray | None = None  # (n,) how far what is known of cells goes for a row: less where it is too far out

    @property
    def novelty_logit(self) -> FloatArray:
        """Return log P(novel) - log P(known) of each row."""
        return np.asarray(log_sum(self.novel, axis=1) - log_sum(self.known, axis=1))

    @property
    def novelty_probability(self) -> FloatArray:
        """Return P(novel) of each row."""
        return np.asarray(expit(self.novelty_logit))

    @property
    def best_class(self) -> IntArray:
        """Return the most probable known class of each row."""
        return np.asarray(self.known.argmax(axis=1))

    def novelty_score(self, threshold: float) -> FloatArray:
        """Return the log-odds of novelty above those of the threshold: above 0 is novel.

        Probabilities of a checked answer are those of cells. So that rows of one cell do not tie, their log-odds are
        stretched by how unlike the labelled rows a row is; the sign stays.
        """
        # (8.8)  logit P(novel) - logit(threshold)
        score = np.asarray(self.novelty_logit - np.log(threshold / (1.0 - threshold)))
        if self.unlike is None:
            return score
        # (9.15)  s exp(+- e (asinh u + t)): more if unlike, whatever the sign of s
        return np.asarray(score * np.exp(np.sign(score) * STRETCH * (np.arcsinh(self.unlike) + self.log_odds)))

    def is_novel(self, threshold: float) -> BoolArray:
        """Return which rows are novel: P(novel) above the threshold."""
        return self.novelty_score(threshold) > 0.0


def judged(rows: FloatArray, log_parts: FloatArray, meaning: Meaning) -> Memberships:
    """Return what rows in working coordinates are, given their log densities jointly with each component, (n, K)."""
    class_of, checked = meaning.class_of, meaning.checked
    if checked is None:
        # (8.7)  P(k | y) = E[w_k] p(y | k) / sum, summed over the components of a class
        shares = log_parts - log_sum(log_parts, axis=1, keepdims=True)
        return Memberships(by_class(shares, class_of), shares[:, class_of < 0])

    standing = standing_of(log_parts, checked.labelled.log_parts(rows))
    log_odds: FloatArray | float = 0.0
    if checked.rareness is not None:
        log_odds = checked.rareness.contrast.log_odds(rows)
        standing = replace(standing, order=checked.rareness.of(standing.unlike, log_odds))
    mass = checked.cells.mass(standing, class_of)
    known, novel = by_meaning(standing, checked, class_of)

    known, novel, left = _at_least(known, novel, _floor(standing.unlike, checked.farthest))

    # (9.13)  P(j | y, known) = (1 - v) (w P(j | y, known, fit) + (1 - w) P(j | y, labelled rows)) + v P(j | y, trees)
    all_known = log_sum(known, axis=1, keepdims=True)
    classes = stacked_classes(known - all_known, standing.log_labelled, checked.fit_weight)
    known = all_known + np.log(classes if checked.votes is None else checked.votes.stacked(classes, rows))
    return Memberships(known, novel, standing.unlike, log_odds, mass, left)


def stacked_classes(by_fit: FloatArray, by_labels: FloatArray, weight: float) -> FloatArray:
    """Return the probabilities of known classes by the fit and by the labelled rows alone, both (n, J), averaged."""
    tiny = np.finfo(np.float64).tiny
    return np.asarray(np.maximum(weight * np.exp(by_fit) + (1.0 - weight) * np.exp(by_labels), tiny))


def _floor(unlike: FloatArray, farthest: float) -> FloatArray:
    """Return the least P(novel) of rows that are more unlike the labelled rows than any hidden one was."""
    # (9.12)  P(novel) >= 1 - 1/2 30 / (30 + v),  v = u - 10 - the largest u of a hidden row, if that is positive
    beyond = np.maximum(unlike - farthest - BEYOND, 0.0)
    return np.where(beyond > 0.0, 1.0 - 0.5 * FAR_BEYOND / (FAR_BEYOND + beyond), 0.0)


def _at_least(known: FloatArray, novel: FloatArray, floor: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log probabilities that sum to one, with P(novel) raised to the floor where it is below.

    The last is by what factor P(known) falls, (n,).
    """
    all_known, all_novel = log_sum(known, axis=1), log_sum(novel, axis=1)
    total = np.logaddexp(all_known, all_novel)
    low = floor > np.exp(all_novel - total)
    with np.errstate(divide="ignore"):
        to_novel = np.where(low, np.log(floor) - all_novel, -total)
    to_known = np.where(low, np.log1p(-floor) - all_known, -total)
    return known + to_known[:, None], novel + to_novel[:, None], np.exp(to_known + total)


def by_meaning(standing: Standing, checked: Checked, class_of: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return log probabilities of the known classes, (n, J), and of novelty by component, (n, T + 1)."""
    shares, cells = standing.log_shares, checked.cells
    tiny = np.finfo(np.float64).tiny
    log_classes, log_novel = np.log(np.maximum(checked.classes, tiny)), np.log(np.maximum(checked.novel, tiny))

    own = np.searchsorted(cells.known, standing.order)  # (n,)
    parts = [by_class(shares, class_of) + np.log1p(-np.minimum(checked.novel[own], 1.0 - 1e-16))[:, None]]
    novel = list[FloatArray]()
    for k, edges, first in zip(np.flatnonzero(class_of < 0), cells.novel, cells.starts[1:], strict=False):
        at = first + np.searchsorted(edges, standing.order)
        # (9.3)  P(j | y) = sum over cells of P(cell | y) P(j | cell), and likewise for novelty
        parts.append(shares[:, [k]] + log_classes[at])
        novel.append(shares[:, k] + log_novel[at])
    inside = log_sum(shares[:, class_of >= 0], axis=1) + log_novel[own]
    return np.asarray(log_sum(np.stack(parts), axis=0)), np.column_stack([*novel, inside])
