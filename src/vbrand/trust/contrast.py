"""Trees that tell unlabelled rows from labelled ones: how unlike the labelled rows a row is, without any kernel.

A row is asked of the trees that were grown without it. Which those are follows from what it holds, so that a row gets
the same answer wherever and whenever it is met again, and copies of it are not told from it.
"""

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vbrand.samples import by_content, evenly, mixed
from vbrand.trust.tuning import CheckTuning
from vbrand.types import BoolArray, FloatArray, IntArray

# each bit of two numbers says whether a tree sees a row
TREES = 128
# more would not fit into memory
_MOST_LEVELS = 10**6
# rows that agree to so much of the scales of columns are one measurement
_SAME = 1e-3

# column, edge, right and share of the nodes of one tree
_Nodes = tuple[Any, Any, Any, Any]

_jit = numba.njit(cache=True, nogil=True)


@dataclass(frozen=True)
class Contrast:
    """The trees, one after the other; of a node the next one is the left branch."""

    roots: IntArray  # (trees,) the first node of each
    column: IntArray  # (m,) that a node looks at, -1 in a leaf
    edge: FloatArray  # (m,) cells up to it go left
    right: IntArray  # (m,)
    share: FloatArray  # (m,) of the weight in a node that unlabelled rows have
    levels: tuple[int, ...] = ()  # how many levels the last columns of a row have, which are categories

    def log_odds(self, rows: FloatArray) -> FloatArray:
        """Return the log odds that rows in working coordinates are unlabelled ones, (n,)."""
        rows = _with_levels(rows, self.levels)
        total, asked = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])
        _ask(rows, _seen_by(rows), self.roots, self.column, self.edge, self.right, self.share, total, asked)
        # (9.17)  t(y) = log (1/2 + sum of shares) - log (1/2 + sum of 1 - shares), of trees without y
        return np.asarray(np.log(0.5 + total) - np.log(0.5 + asked - total))


def wrong_with_trees(trees: Contrast, columns: int) -> str:
    """Return what is wrong with trees of a file, for rows of so many numbers; nothing if all is well."""
    nodes, inner = trees.column.size, np.flatnonzero(trees.column >= 0)
    parts = (trees.column, trees.edge, trees.right, trees.share)
    if trees.roots.shape != (TREES,) or any(part.shape != (nodes,) for part in parts):
        return "its trees have other numbers of nodes"
    if any(not 0 < size < _MOST_LEVELS for size in trees.levels):
        return "a column has no levels"
    if trees.column.min() < -1 or trees.column.max() >= columns + sum(trees.levels):
        return "a tree looks at no column"
    # both ways lead on, so that there is an end
    leads = (trees.right[inner] > inner).all() and (np.append(trees.right[inner], inner + 1) < nodes).all()
    if not leads or trees.roots.min() < 0 or trees.roots.max() >= nodes:
        return "a tree has no end"
    if not (np.isfinite(trees.edge).all() and (trees.share >= 0.0).all() and (trees.share <= 1.0).all()):
        return "a share is not between 0 and 1"
    return ""


def grown(
    rows: FloatArray,
    labelled: FloatArray,
    member: IntArray,
    shares: FloatArray,
    levels: tuple[int, ...],
    generator: np.random.Generator,
    tuning: CheckTuning,
) -> Contrast:
    """Return trees grown from unlabelled and from labelled rows, both in working coordinates.

    `member` are the classes of the labelled rows, which count for as much as the `shares` of the classes, (J,), say;
    `levels` are the numbers of levels of the last columns, which are categories.
    """
    some, few = evenly(rows.shape[0], tuning.tree_rows), evenly(labelled.shape[0], tuning.tree_rows)
    table = _with_levels(np.vstack([rows[some], labelled[few]]), levels)
    kind = np.append(np.zeros(some.size, dtype=np.int64), 1 + member[few])  # 0: unlabelled
    order = by_content(table)
    columns = np.argsort(
        np.abs(table[order]).sum(axis=0), kind="stable"
    )  # trees draw columns, by content, not by place
    table, kind = table[np.ix_(order, columns)], kind[order]
    seen, worth = _seen_by(table), np.append(1.0, shares / shares[np.unique(member[few])].sum())

    parts = list[_Nodes]()
    for tree, seed in enumerate(generator.integers(1, 2**63, size=TREES, dtype=np.uint64)):
        own = np.flatnonzero((seen[:, tree // 64] >> np.uint64(tree % 64)) & np.uint64(1))
        # what a tree does not see must not make its kind smaller: it would be told from the others by that
        weight = (worth / np.maximum(np.bincount(kind[own], minlength=worth.size), 1))[kind]
        parts.append(_tree(table, kind == 0, weight, own, seed, tuning.leaf_rows))

    sizes = np.array([part[0].size for part in parts])
    roots = np.cumsum(sizes) - sizes
    column, edge, right, share = (np.concatenate([part[k] for part in parts]) for k in range(4))
    column = np.where(column < 0, -1, columns[column])
    right = right + np.repeat(roots, sizes)
    return Contrast(roots, column, edge, right, share, levels)


def _tree(
    table: FloatArray, unlabelled: BoolArray, weight: FloatArray, own: IntArray, seed: np.uint64, leaf: int
) -> _Nodes:
    """Return the nodes of one tree, grown from some of the rows."""
    most = max(1, 2 * (own.size // leaf) - 1)
    nodes = np.full(most, -1, dtype=np.int64), np.zeros(most), np.zeros(most, dtype=np.int64), np.full(most, 0.5)
    last = _grow(table, unlabelled, weight, own, seed, leaf, *nodes)
    column, edge, right, share = (part[:last] for part in nodes)
    return column, edge, right, share


def _with_levels(rows: FloatArray, levels: tuple[int, ...]) -> FloatArray:
    """Return rows with a column for each level, 1 in rows that have it: the order of levels says nothing."""
    if not levels:
        return rows
    numbers = rows.shape[1] - len(levels)
    own = [rows[:, [numbers + k]] == np.arange(size) for k, size in enumerate(levels)]
    return np.column_stack([rows[:, :numbers], *own]).astype(np.float64)


def _seen_by(rows: FloatArray) -> NDArray[np.uint64]:
    """Return, bit by bit, which trees see a row if it is there when they are grown, (n, 2): by lot every other tree."""
    steps = np.rint(rows / (_SAME * np.pi)).astype(np.int64).astype(np.uint64)
    first = mixed(mixed(steps).sum(axis=1))
    return np.column_stack([first, mixed(first)])


@_jit
def _ask(rows, seen, roots, column, edge, right, share, total, asked):  # type: ignore[no-untyped-def]
    """Add up the shares of the leaves that rows (n, p) fall into, in the trees that do not see them."""
    for i in range(rows.shape[0]):
        for tree in range(roots.size):
            if (seen[i, tree // 64] >> numba.uint64(tree % 64)) & numba.uint64(1):
                continue
            node = roots[tree]
            while column[node] >= 0:
                node = node + 1 if rows[i, column[node]] <= edge[node] else right[node]
            total[i] += share[node]
            asked[i] += 1.0


@_jit
def _grow(table, unlabelled, weight, own, seed, leaf, column, edge, right, share):  # type: ignore[no-untyped-def]
    """Grow a tree from the rows `own`, which are sorted on the way; return the number of its nodes.

    A node looks at the best of the edges drawn for sqrt(p) columns, one between the ends of each.
    """
    p = table.shape[1]
    columns, tries = np.arange(p), max(1, int(np.sqrt(p)))
    begins, ends, parents = np.zeros((3, own.size + 1), np.int64)
    ends[0], parents[0], waiting, node, state = own.size, -1, 1, 0, seed

    while waiting > 0:
        waiting -= 1
        begin, end, parent = begins[waiting], ends[waiting], parents[waiting]
        if parent >= 0:
            right[parent] = node
        of_unlabelled, total = 0.0, 0.0
        for i in own[begin:end]:
            total += weight[i]
            of_unlabelled += weight[i] * unlabelled[i]
        share[node] = of_unlabelled / total if total > 0.0 else 0.5

        best, tried = 0.0, 0
        if end - begin >= 2 * leaf and 0.0 < of_unlabelled < total:
            for k in range(p):
                state = _next(state)
                other = k + int(state % np.uint64(p - k))
                columns[k], columns[other] = columns[other], columns[k]
                low, high = _ends(table, own[begin:end], columns[k])
                if not low < high:
                    continue
                state = _next(state)
                cut = low + (high - low) * (float(state >> np.uint64(11)) / 9007199254740992.0)
                gain = _gain(table, unlabelled, weight, own[begin:end], columns[k], cut, leaf)
                if gain > best:
                    best, column[node], edge[node] = gain, columns[k], cut
                tried += 1
                if tried == tries:
                    break
        if best > 0.0:
            middle = _sorted_by(table, own, begin, end, column[node], edge[node])
            begins[waiting], ends[waiting], parents[waiting] = middle, end, node
            begins[waiting + 1], ends[waiting + 1], parents[waiting + 1] = begin, middle, -1
            waiting += 2
        node += 1
    return node


@_jit
def _next(state):  # type: ignore[no-untyped-def]
    """Return the next of numbers as if drawn by lot."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@_jit
def _ends(table, rows, k):  # type: ignore[no-untyped-def]
    low, high = np.inf, -np.inf
    for i in rows:
        low, high = min(low, table[i, k]), max(high, table[i, k])
    return low, high


@_jit
def _gain(table, unlabelled, weight, rows, k, cut, leaf):  # type: ignore[no-untyped-def]
    """Return how pure both sides of an edge are; 0 if one has too few rows."""
    kinds, counts = np.zeros((2, 2)), np.zeros(2, np.int64)
    for i in rows:
        side = 0 if table[i, k] <= cut else 1
        kinds[side, 1 if unlabelled[i] else 0] += weight[i]
        counts[side] += 1
    if counts.min() < leaf:
        return 0.0
    pure = 0.0
    for side in range(2):
        pure += (kinds[side, 0] ** 2 + kinds[side, 1] ** 2) / (kinds[side, 0] + kinds[side, 1])
    return pure


@_jit
def _sorted_by(table, own, begin, end, k, cut):  # type: ignore[no-untyped-def]
    """Put the rows on the left of an edge first, and return where the others begin."""
    last = end
    i = begin
    while i < last:
        if table[own[i], k] <= cut:
            i += 1
        else:
            last -= 1
            own[i], own[last] = own[last], own[i]
    return last
