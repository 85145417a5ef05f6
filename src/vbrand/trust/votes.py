"""Trees that tell the known classes apart: a second opinion on which of them a row is of, without any kernel."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from vbrand.samples import evenly
from vbrand.sums import log_sum
from vbrand.trust.trees import Grower, Trees, grown, wrong_with_trees
from vbrand.trust.tuning import CheckTuning
from vbrand.types import FloatArray, IntArray

# votes are not sharpened more than that
_SHARPEST = 10.0


@dataclass(frozen=True)
class Votes:
    """The trees, what their leaves say, and what that is worth."""

    trees: Trees
    said: IntArray  # (m,) the class that most of the weight in a node is of
    heard: IntArray  # the classes that they know all about: labelled rows show them, and nobody put a group into them
    power: float = 1.0  # how far votes are sharpened: trees that agree by two thirds may well be sure
    weight: float = 0.0  # how much they say, beside the fit and the labelled rows

    def shares(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probabilities of the classes that trees know, (n, heard), and the share of trees that vote, (n,).

        Rows are in working coordinates. A tree that asks for a cell which a row lacks has no vote.
        """
        count, voted = self.counted(rows)
        return self.sharpened(count), voted

    def counted(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the votes for the classes that trees know, (n, heard), and the share of trees that vote, (n,)."""
        sides = max(int(self.said.max()), int(self.heard[-1])) + 1
        of_leaves = (self.trees.column < 0).astype(np.float64)
        count, asked = self.trees.sums(rows, self.said, of_leaves, sides)
        voted = count.sum(axis=1) / np.maximum(asked, 1.0)
        return np.asarray(count[:, self.heard]), np.asarray(voted)

    def sharpened(self, count: FloatArray) -> FloatArray:
        """Return the probabilities of the classes that trees know, (n, heard), given the votes for them."""
        # (9.19)  P(j | y, trees) ~ (1/2 + votes for j)^a,  of trees without y
        sharp = ((0.5 + count) / (0.5 + count).max(axis=1, keepdims=True)) ** self.power
        return np.asarray(sharp / sharp.sum(axis=1, keepdims=True))

    def stacked(self, others: FloatArray, rows: FloatArray) -> FloatArray:
        """Return the probabilities of known classes with what trees say, given those without it, (n, J)."""
        if self.weight == 0.0:
            return others
        shares, voted = self.shares(rows)
        # classes that the trees do not know keep what they have
        own, both, weight = others[:, self.heard], others.copy(), (self.weight * voted)[:, None]
        both[:, self.heard] = (1.0 - weight) * own + weight * own.sum(axis=1, keepdims=True) * shares
        return both

    def without(self, j: int) -> "Votes | None":
        """Return the same once class j is more than its labelled rows show; None if too few are left."""
        left = self.heard[self.heard != j]
        return replace(self, heard=left) if left.size > 1 else None


def votes_of(
    labelled: FloatArray,
    member: IntArray,
    taught: tuple[int, ...],
    levels: tuple[int, ...],
    generator: np.random.Generator,
    tuning: CheckTuning,
) -> Votes | None:
    """Return trees grown from labelled rows in working coordinates, `member` their classes; None of a single class.

    Of classes that a person has put a group into, `taught`, labelled rows do not show all.
    """
    few = evenly(labelled.shape[0], tuning.tree_rows)
    found = np.bincount(member[few])
    heard = np.setdiff1d(np.flatnonzero(found), taught)
    if heard.size < 2:
        return None
    own = few[np.isin(member[few], heard)]
    side = np.arange(found.size)
    # down to leaves of one class: votes, not shares
    given = Grower(labelled[own], member[own], found.astype(np.float64), side, levels, 1)
    trees, held = grown(given, generator)
    return Votes(trees, held.argmax(axis=1), heard)


def weighed(votes: Votes, rows: FloatArray, member: IntArray, others: FloatArray) -> Votes:
    """Return votes with what they are worth beside another opinion, judged by labelled rows that neither has seen.

    `others` are the chances of the own class of each row by that other opinion, (n,).
    """
    heard = np.flatnonzero(np.isin(member, votes.heard))
    if heard.size == 0:
        return votes
    own = np.arange(heard.size), np.searchsorted(votes.heard, member[heard])
    count, voted = votes.counted(rows[heard])
    log_votes = np.log(votes.sharpened(count))

    def loss(power: float) -> float:
        # (9.20)  a makes the classes of the hidden rows most likely, and is 1 give or take 1 before they are seen
        return float((log_sum(power * log_votes, axis=1) - power * log_votes[own]).sum() + 0.5 * (power - 1.0) ** 2)

    power = float(minimize_scalar(loss, bounds=(0.0, _SHARPEST), method="bounded").x)
    sharper = replace(votes, power=power)
    mixed = voted * sharper.sharpened(count)[own] + (1.0 - voted) * others[heard]
    return replace(sharper, weight=likeliest_weight(mixed, others[heard]))


def likeliest_weight(first: FloatArray, second: FloatArray) -> float:
    """Return the weight of the first of two opinions that makes what was seen most likely: they gave it this chance."""

    def loss(weight: float) -> float:
        # (9.14)  w makes the classes of the hidden rows most likely
        return -float(np.log(weight * first + (1.0 - weight) * second + 1e-9).sum())

    return float(minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded").x)


def wrong_with_votes(votes: Votes, columns: int, classes: int) -> str:
    """Return what is wrong with what was read from a file, for rows of so many numbers; nothing if all is well."""
    wrong = wrong_with_trees(votes.trees, columns)
    if wrong:
        return wrong
    heard, said = votes.heard, votes.said
    if said.shape != votes.trees.column.shape or said.min() < 0 or said.max() >= classes:
        return "a tree says no class"
    if heard.ndim != 1 or heard.size < 2 or heard.min() < 0 or heard.max() >= classes or (np.diff(heard) <= 0).any():
        return "its trees know other classes"
    if not (0.0 <= votes.weight <= 1.0 and 0.0 <= votes.power <= _SHARPEST):
        return "a share is not between 0 and 1"
    return ""
