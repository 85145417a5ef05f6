"""The draws of all chains: votes, counts and label-invariant quantities.

No array of floats with an entry per draw and row is ever made.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vbrand.inference.sampler import Leg
from vbrand.samples import evenly
from vbrand.types import FloatArray, IntArray, SmallInts


@dataclass(frozen=True)
class Chains:
    """Kept draws, chain by chain; labels may lie on disk."""

    legs: list[list[Leg]]
    known: int  # J: smaller labels are known classes

    @property
    def count(self) -> int:
        """Return the number of chains."""
        return len(self.legs)

    @property
    def draws(self) -> int:
        """Return the number of kept draws per chain."""
        return sum(leg.draws for leg in self.legs[0])

    @cached_property
    def weights(self) -> FloatArray:
        """Return the weights of the known classes and of novelty (last), (chains, draws, J + 1)."""
        return np.stack([np.concatenate([leg.weights for leg in chain]) for chain in self.legs])

    @cached_property
    def concentration(self) -> FloatArray:
        """Return the concentration, (chains, draws)."""
        return np.stack([np.concatenate([leg.concentration for leg in chain]) for chain in self.legs])

    @cached_property
    def known_means(self) -> FloatArray:
        """Return the means of the known classes in working coordinates, (chains, draws, J, p)."""
        return np.stack([np.concatenate([leg.known_means for leg in chain]) for chain in self.legs])

    @cached_property
    def votes(self) -> IntArray:
        """Return in how many draws each row was in each known class, and in how many novel (last), (n, J + 1)."""
        n = self.legs[0][0].last_labels.size
        votes = np.zeros((n, self.known + 1), dtype=np.int64)
        for labels in self.blocks():
            for k in range(self.known):
                votes[:, k] += (labels == k).sum(axis=0)
        votes[:, -1] = self.count * self.draws - votes[:, :-1].sum(axis=1)
        return votes

    def blocks(self) -> Iterator[SmallInts]:
        """Return the labels leg by leg and chain by chain, each of shape (draws of the leg, n)."""
        return (leg.labels for chain in self.legs for leg in chain)

    def novel_rows(self) -> IntArray:
        """Return the number of novel rows per draw, (chains, draws)."""
        counts = [(labels >= self.known).sum(axis=1) for labels in self.blocks()]
        return np.concatenate(counts).reshape(self.count, self.draws)

    def novel_groups(self, smallest: int = 1) -> IntArray:
        """Return the number of novel clusters with at least `smallest` rows per draw, (chains, draws)."""
        counts = [
            int((np.bincount(one, minlength=self.known)[self.known :] >= smallest).sum())
            for labels in self.blocks()
            for one in labels
        ]
        return np.array(counts, dtype=np.int64).reshape(self.count, self.draws)

    def ends(self, most: int) -> list[Leg]:
        """Return at most `most` of the legs that hold kept draws, evenly over all chains."""
        held = [leg for chain in self.legs for leg in chain if leg.draws]
        return [held[k] for k in evenly(len(held), most).tolist()]

    def chosen(self, most: int) -> IntArray:
        """Return the numbers of at most `most` draws, evenly over all chains; they count on from chain to chain."""
        return evenly(self.count * self.draws, most)

    def labels(self, chosen: IntArray, rows: Any = slice(None)) -> SmallInts:
        """Return the labels in the chosen draws, whose numbers must ascend, (chosen, rows)."""
        parts, first = list[SmallInts](), 0
        for labels in self.blocks():
            inside = chosen[(chosen >= first) & (chosen < first + labels.shape[0])] - first
            parts.append(np.asarray(labels[inside])[:, rows])
            first += labels.shape[0]
        return np.concatenate(parts)
