"""What each labelled row taught, so that it can be forgotten again: stage 1 without some rows is an update."""

from dataclasses import dataclass, replace

import numpy as np

from vbrand.inference.cavi import ascend
from vbrand.inference.kernel import sweep
from vbrand.inference.rows import FARTHEST, Rows
from vbrand.model.components import Components, posterior_from
from vbrand.model.posterior import Posterior, scores_of
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.model.weights import prior_weights
from vbrand.types import BoolArray, FloatArray, IntArray


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
    shares: FloatArray | None = None  # (n,) how far each row counts for levels of categories; None: there are none

    def of_rows(self, chosen: IntArray) -> "Lessons":
        """Return the lessons of some of the rows; what the modes are does not change."""
        shares = None if self.shares is None else self.shares[chosen]
        return replace(self, mode_of=self.mode_of[chosen], shares=shares)


def forgotten(lessons: Lessons, rows: FloatArray, hidden: BoolArray, vague: Components) -> Statistics:
    """Return the statistics of the modes without the hidden ones of their rows, (n, p), in working coordinates.

    `vague` is what was believed of a mode before its rows. In heavy tails the weights of all rows at hand follow: a
    scatter that keeps the weights which hidden rows made would know half of what they taught.
    """
    statistics = lessons.statistics
    parts = {name: getattr(statistics, name).copy() for name in ("counts", "weights", "sums", "squares")}
    # with missing cells coordinates are the working ones
    white = np.clip(rows if lessons.sphere is not None else rows @ lessons.inverse.T, -FARTHEST, FARTHEST)

    for k in np.unique(lessons.mode_of[hidden & (lessons.mode_of >= 0)]).tolist():
        own = lessons.mode_of == k
        mode = np.array([k])
        alone = Posterior(lessons.components.reordered(mode), prior_weights(np.ones(1), 1.0, 1))
        origin = statistics.origin[mode]
        all_own = sweep(Rows.plain(np.ascontiguousarray(white[own])), scores_of(alone), None, 1).statistics
        # (5.3)  N, R, s and Q of all rows are the sums of those of parts of them; some may not be at hand
        absent = statistics.reordered(mode) + all_own.about(origin).scaled(-1.0)
        left = Rows.plain(np.ascontiguousarray(white[own & ~hidden]))
        before = Prior(posterior_from(vague, absent), alone.weights, np.zeros(0, dtype=np.int64))
        found = (
            ascend(left, before, alone, winners=np.zeros(len(left), dtype=np.int32)).statistics.about(origin) + absent
        )
        for name, part in parts.items():
            part[k] = getattr(found, name)[0]

    return Statistics(origin=statistics.origin, evidence=0.0, **parts)
