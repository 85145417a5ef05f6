"""True classes against what was found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbrand.types import IntArray


@dataclass(frozen=True)
class Confusion:
    """True classes against clusters.

    Parameters
    ----------
    truth, clusters : tuples of str
        Names of the rows of the table, true classes, and of its columns, known classes and novel groups.
    counts : array of shape (classes, clusters)
        Numbers of rows.

    Examples
    --------
    >>> Confusion(("oat", "rye"), ("oat", "novel 1"), np.array([[9, 1], [0, 5]]))
               oat  novel 1
    oat          9        1
    rye          0        5
    """

    truth: tuple[str, ...]  # names of the rows of the table: true classes
    clusters: tuple[str, ...]  # names of its columns: known classes, then novel groups
    counts: IntArray

    def __str__(self) -> str:
        width = max(5, *(len(str(name)) for name in self.truth))
        lines = [" " * width + "".join(f"  {name:>7}" for name in self.clusters)]
        lines += [
            f"{name!s:{width}}"
            + "".join(f"  {count:>{max(7, len(cluster))}}" for count, cluster in zip(row, self.clusters, strict=True))
            for name, row in zip(self.truth, self.counts, strict=True)
        ]
        return "\n".join(lines)

    __repr__ = __str__


def confusion_of(truth: Any, clusters: IntArray, names: Sequence[str]) -> Confusion:
    """Return how many rows of each true class are in each cluster."""
    true = np.asarray(truth)
    if true.shape != clusters.shape:
        raise ValueError(f"truth has the shape {true.shape}; one value for each of {clusters.size} rows is expected.")
    classes, row = np.unique(true, return_inverse=True)
    counts = np.zeros((classes.size, len(names)), dtype=np.int64)
    np.add.at(counts, (row, clusters), 1)
    return Confusion(tuple(str(name) for name in classes.tolist()), tuple(names), counts)
