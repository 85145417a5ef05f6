"""Trees that tell unlabelled rows from labelled ones: how unlike the labelled rows a row is, without any kernel.

A row is asked of the trees that were grown without it. Which those are follows from what it holds, so that a row gets
the same answer wherever and whenever it is met again, and copies of it are not told from it.
"""

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray
from sklearn.tree import ExtraTreeClassifier

from vbrand.samples import by_content, evenly, mixed
from vbrand.trust.tuning import CheckTuning
from vbrand.types import FloatArray, IntArray

# one bit of a number says whether a tree has seen a row
TREES = 64
# rows that agree to so much of the scales of columns are one measurement
_SAME = 1e-3


@dataclass(frozen=True)
class Contrast:
    """The trees, one after the other; of a node the next one is the left branch."""

    roots: IntArray  # (64,) the first node of each tree
    column: IntArray  # (m,) that a node looks at, -1 in a leaf
    edge: FloatArray  # (m,) cells up to it go left
    right: IntArray  # (m,)
    share: FloatArray  # (m,) of the weight in a leaf that unlabelled rows have

    def log_odds(self, rows: FloatArray) -> FloatArray:
        """Return the log odds that rows in working coordinates are unlabelled ones, (n,)."""
        total, asked = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])
        seen = _seen_by(rows)
        _ask(rows.astype(np.float32), seen, self.roots, self.column, self.edge, self.right, self.share, total, asked)
        # (9.17)  t(y) = log (1/2 + sum of shares) - log (1/2 + sum of 1 - shares), of trees without y
        return np.asarray(np.log(0.5 + total) - np.log(0.5 + asked - total))


def grown(
    rows: FloatArray, labelled: FloatArray, weights: FloatArray, seed: np.random.Generator, tuning: CheckTuning
) -> Contrast:
    """Return trees grown from unlabelled and from labelled rows, both in working coordinates; these have weights."""
    table, unlabelled, weight = _sampled(rows, labelled, weights, tuning)
    order = by_content(table)
    columns = by_content(np.ascontiguousarray(table.T))  # trees draw columns: by content, not by place
    table, unlabelled, weight = table[np.ix_(order, columns)], unlabelled[order], weight[order]
    seen = _seen_by(table)

    nodes = 0
    parts = list[tuple[int, IntArray, FloatArray, IntArray, FloatArray]]()
    for tree, number in enumerate(seed.integers(2**31, size=TREES).tolist()):
        own = (seen >> np.uint64(tree)) & np.uint64(1) == 1
        found = ExtraTreeClassifier(max_features="sqrt", min_samples_leaf=tuning.leaf_rows, random_state=number)
        of = found.fit(table[own], unlabelled[own], weight[own]).tree_
        leaf = of.feature < 0
        share = of.value[:, 0, -1] / of.value[:, 0].sum(axis=1) if found.classes_.size == 2 else np.full(leaf.size, 0.5)
        column = np.where(leaf, -1, columns[np.maximum(of.feature, 0)])
        parts.append((nodes, column, of.threshold, of.children_right + nodes, share))
        nodes += leaf.size
    roots, column, edge, right, share = zip(*parts, strict=True)
    return Contrast(
        np.array(roots, dtype=np.int32),
        np.concatenate(column).astype(np.int32),
        np.concatenate(edge),
        np.concatenate(right).astype(np.int32),
        np.concatenate(share),
    )


def _sampled(
    rows: FloatArray, labelled: FloatArray, weights: FloatArray, tuning: CheckTuning
) -> tuple[FloatArray, NDArray[np.bool_], FloatArray]:
    """Return at most so many rows of either kind, which kind, and weights: both kinds weigh the same in all."""
    some, few = evenly(rows.shape[0], tuning.tree_rows), evenly(labelled.shape[0], tuning.tree_rows)
    of_labelled = weights[few] / weights[few].sum()
    weight = np.concatenate([np.full(some.size, 1.0 / some.size), of_labelled])
    return np.vstack([rows[some], labelled[few]]), np.arange(weight.size) < some.size, weight


def _seen_by(rows: FloatArray) -> NDArray[np.uint64]:
    """Return, bit by bit, which trees see a row if it is there when they are grown: by chance each other tree."""
    steps = np.rint(rows / (_SAME * np.pi)).astype(np.int64).astype(np.uint64)
    return np.asarray(mixed(mixed(steps).sum(axis=1)))


@numba.njit(cache=True, nogil=True)
def _ask(rows, seen, roots, column, edge, right, share, total, asked):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        for tree in range(roots.size):
            if (seen[i] >> numba.uint64(tree)) & numba.uint64(1):
                continue
            node = roots[tree]
            while column[node] >= 0:
                node = node + 1 if rows[i, column[node]] <= edge[node] else right[node]
            total[i] += share[node]
            asked[i] += 1.0
