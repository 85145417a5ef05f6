"""What each labelled row taught, so that it can be forgotten again: stage 1 without some rows is an update."""

from dataclasses import dataclass, replace

import numpy as np

from vbrand.inference.kernel import sweep
from vbrand.inference.rows import FARTHEST, Rows
from vbrand.model.components import Components
from vbrand.model.posterior import Posterior, scores_of
from vbrand.model.statistics import Statistics
from vbrand.model.weights import prior_weights
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Witnesses:
    """Labelled rows that answers are checked against: all of a class, or an even sample where there are many."""

    rows: FloatArray  # (n, p) in working coordinates
    member: IntArray  # (n,) the class of each


@dataclass(frozen=True)
class Lessons:
    """The modes of the known classes as their rows made them, in whitened coordinates."""

    mode_of: IntArray  # (n,) the mode that each labelled row belongs to, -1 for none
    components: Components  # (K,) one per mode
    statistics: Statistics  # (K,) of the rows of each mode
    root: FloatArray  # (p, p) from whitened to working coordinates
    inverse: FloatArray  # (p, p) and back
    sphere: FloatArray | None = None  # (p, p) the average scatter within modes there; None: the identity

    def of_rows(self, chosen: IntArray) -> "Lessons":
        """Return the lessons of some of the rows; what the modes are does not change."""
        return replace(self, mode_of=self.mode_of[chosen])


def forgotten(lessons: Lessons, rows: FloatArray, mode_of: IntArray) -> Statistics:
    """Return the statistics of the modes without rows in working coordinates, (n, p), each of its mode, or -1.

    Statistics add up, so what a row added is taken off; the weights of other rows in heavy tails stay as they are.
    """
    statistics = lessons.statistics
    counts, weights = statistics.counts.copy(), statistics.weights.copy()
    sums, squares = statistics.sums.copy(), statistics.squares.copy()
    # with missing cells coordinates are the working ones
    white = np.clip(rows if lessons.sphere is not None else rows @ lessons.inverse.T, -FARTHEST, FARTHEST)

    for k in np.unique(mode_of[mode_of >= 0]).tolist():
        alone = Posterior(lessons.components.reordered(np.array([k])), prior_weights(np.ones(1), 1.0, 1))
        own = sweep(Rows.plain(np.ascontiguousarray(white[mode_of == k])), scores_of(alone), None, 1).statistics
        own = own.about(statistics.origin[[k]])
        # (5.3)  N, R, s and Q of all rows are the sums of those of parts of them
        counts[k] -= own.counts[0]
        weights[k] -= own.weights[0]
        sums[k] -= own.sums[0]
        squares[k] -= own.squares[0]

    return Statistics(counts, weights, statistics.origin, sums, squares, 0.0)
