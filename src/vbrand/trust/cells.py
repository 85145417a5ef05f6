"""Cells: the components of a fit, cut by how unlike the labelled rows a row is.

The known components share their cells: there novelty can only show in rows that are unlike the labelled ones.
"""

from dataclasses import dataclass

import numpy as np

from vbrand.trust.standing import Standing
from vbrand.trust.tuning import CheckTuning
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Cells:
    """Where the cells of the known components, and of each novel one, end: (9.2)  unlike <= edge."""

    known: FloatArray  # (cells - 1,)
    novel: tuple[FloatArray, ...]  # T of them

    @property
    def starts(self) -> IntArray:
        """Return the first cell of the known components, of each novel one, and the number of cells, (T + 2,)."""
        return np.cumsum([0, self.known.size + 1, *(edges.size + 1 for edges in self.novel)])

    def mass(self, standing: Standing, class_of: IntArray) -> FloatArray:
        """Return the share of each row in each cell, (n, C); `class_of` is -1 for novel components."""
        shares, unlike = np.exp(standing.log_shares), standing.order
        known = shares[:, class_of >= 0].sum(axis=1)
        of_novel = shares[:, class_of < 0]  # (n, T)

        mass = np.zeros((unlike.size, self.starts[-1]))
        every = np.arange(unlike.size)
        mass[every, np.searchsorted(self.known, unlike)] = known
        for t, (edges, first) in enumerate(zip(self.novel, self.starts[1:].tolist(), strict=False)):
            mass[every, first + np.searchsorted(edges, unlike)] = of_novel[:, t]
        return mass


def cells_of(standing: Standing, class_of: IntArray, hidden: FloatArray, tuning: CheckTuning) -> Cells:
    """Return cells of about equal numbers of the given rows, as many as there are rows for.

    `hidden` are hidden rows in the known components together, and in each novel one, (T + 1,).
    """
    best = standing.log_shares.argmax(axis=1)
    novel = np.flatnonzero(class_of < 0).tolist()
    known = standing.order[class_of[best] >= 0]
    return Cells(
        _edges(known, hidden[0], tuning),
        tuple(
            _edges(standing.order[best == k], witnesses, tuning)
            for k, witnesses in zip(novel, hidden[1:].tolist(), strict=True)
        ),
    )


def _edges(unlike: FloatArray, hidden: float, tuning: CheckTuning) -> FloatArray:
    enough = min(unlike.size // tuning.cell_rows, int(hidden) // tuning.cell_witnesses)
    count = int(np.clip(enough, 1, tuning.cells))
    return np.unique(np.quantile(unlike, np.arange(1, count) / count)) if count > 1 else np.empty(0)
