"""Trees that tell kinds of rows apart without any kernel, and who is asked of which.

A row is asked of the trees that were grown without it. Which those are follows from what it holds, so that a row gets
the same answer wherever and whenever it is met again, and copies of it are not told from it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.compiling import inner, jit
from vbrand.samples import by_content, columns_by_lot, mixed, parts_of
from vbrand.types import FloatArray, IntArray

# each bit of two numbers says whether a tree sees a row
TREES = 128
# more would not fit into memory
_MOST_LEVELS = 10**6
# rows that agree to so much of the scales of columns are one measurement; beyond so many steps all are
_SAME, _MOST_STEPS = 1e-3, 2.0**62
# of edges whose gains differ by less of themselves the first one drawn is taken: the last digits of weights, which may
# follow from a fit, change with the units of columns
_TIED = 1e-9
# rows that one tree is asked of before the next
_ASKED_AT_ONCE = 512

# column, edge and right of the nodes of one tree, and the weight of each kind in them
_Nodes = tuple[Any, Any, Any, Any]


@dataclass(frozen=True)
class Trees:
    """The trees, one after the other; of a node the next one is the left branch."""

    roots: IntArray  # (trees,) the first node of each
    column: IntArray  # (m,) that a node looks at, -1 in a leaf
    edge: FloatArray  # (m,) cells up to it go left
    right: IntArray  # (m,)
    levels: tuple[int, ...] = ()  # how many levels the last columns of a row have, which are categories

    def sums(self, rows: FloatArray, side: IntArray, amount: FloatArray, sides: int) -> tuple[FloatArray, FloatArray]:
        """Return what the leaves of rows in working coordinates add up to, (n, sides), and how many trees are asked.

        A node adds an amount, (m,), on a side, (m,). A row that lacks the cell which a node asks for stays there.
        """
        total, asked = np.zeros((rows.shape[0], sides)), np.zeros(rows.shape[0])
        seen, rows = _seen_by(rows, self.levels), _with_levels(rows, self.levels)
        _ask(rows, seen, self.roots, self.column, self.edge, self.right, side, amount, total, asked)
        return total, asked


@dataclass(frozen=True)
class Grower:
    """What trees are grown from: rows of several kinds, and what is to be told."""

    table: FloatArray  # (n, p)
    kind: IntArray  # (n,)
    worth: FloatArray  # what each kind weighs, in any tree
    side: IntArray  # the side that each kind is on: sides are told apart
    levels: tuple[int, ...]  # the numbers of levels of the last columns, which are categories
    leaf_rows: int  # in a leaf, at the least


def grown(given: Grower, generator: np.random.Generator) -> tuple[Trees, FloatArray]:
    """Return trees, and the weight of each side in each of their nodes, (m, sides)."""
    order = by_content(given.table)
    rows, kind = given.table[order], given.kind[order]
    seen, table = _seen_by(rows, given.levels), _with_levels(rows, given.levels)
    # trees draw columns, by content, not by place
    columns = np.lexsort((_column_lots(rows, given.levels), np.nansum(np.abs(table), axis=0)))
    table = np.ascontiguousarray(table[:, columns].T)  # (p, n): a node looks at few columns

    parts, side = list[_Nodes](), given.side[kind]
    for tree, seed in enumerate(generator.integers(1, 2**63, size=TREES, dtype=np.uint64)):
        own = np.flatnonzero((seen[:, tree // 64] >> np.uint64(tree % 64)) & np.uint64(1))
        # what a tree does not see must not make its kind smaller: it would be told from the others by that
        counts = np.bincount(kind[own], minlength=given.worth.size)
        weight = (given.worth / np.maximum(counts, 1))[kind]
        parts.append(_tree(table, side, weight, own, seed, given))

    sizes = np.array([part[0].size for part in parts])
    roots = np.cumsum(sizes) - sizes
    column, edge, right, held = (np.concatenate([part[k] for part in parts]) for k in range(4))
    column = np.where(column < 0, -1, columns[column])
    return Trees(roots, column, edge, right + np.repeat(roots, sizes), given.levels), held


def wrong_with_trees(trees: Trees, columns: int) -> str:
    """Return what is wrong with trees of a file, for rows of so many numbers; nothing if all is well."""
    nodes, inner = trees.column.size, np.flatnonzero(trees.column >= 0)
    if trees.roots.shape != (TREES,) or any(part.shape != (nodes,) for part in (trees.column, trees.edge, trees.right)):
        return "its trees have other numbers of nodes"
    if any(not 0 < size < _MOST_LEVELS for size in trees.levels):
        return "a column has no levels"
    if trees.column.min() < -1 or trees.column.max() >= columns + sum(trees.levels):
        return "a tree looks at no column"
    # both ways lead on, so that there is an end
    leads = (trees.right[inner] > inner).all() and (np.append(trees.right[inner], inner + 1) < nodes).all()
    if not leads or trees.roots.min() < 0 or trees.roots.max() >= nodes:
        return "a tree has no end"
    return "" if np.isfinite(trees.edge).all() else "an edge of a tree is no number"


def _tree(
    table: FloatArray, side: IntArray, weight: FloatArray, own: IntArray, seed: np.uint64, given: Grower
) -> _Nodes:
    """Return the nodes of one tree, grown from some of the rows."""
    most = max(1, 2 * (own.size // given.leaf_rows) - 1)
    nodes = np.full(most, -1, dtype=np.int64), np.zeros(most), np.zeros(most, dtype=np.int64)
    held = np.zeros((most, int(given.side.max()) + 1))
    room = np.arange(table.shape[0]), np.zeros((3, own.size + 1), np.int64), np.zeros((2, held.shape[1]))
    last = _grow(table, side, weight, own, seed, given.leaf_rows, *nodes, held, *room)
    # copies: there was room for three times as many nodes, and all trees are held
    column, edge, right = (part[:last].copy() for part in nodes)
    return column, edge, right, held[:last].copy()


def _with_levels(rows: FloatArray, levels: tuple[int, ...]) -> FloatArray:
    """Return rows with a column for each level, 1 in rows that have it: the order of levels says nothing.

    Where the level is missing, which -1 stands for, all of them are.
    """
    if not levels:
        return rows
    numbers = rows.shape[1] - len(levels)
    own = [(rows[:, [numbers + k]] == np.arange(size)).astype(np.float64) for k, size in enumerate(levels)]
    for k, columns in enumerate(own):
        columns[~(rows[:, numbers + k] >= 0.0)] = np.nan
    return np.column_stack([rows[:, :numbers], *own])


def _seen_by(rows: FloatArray, levels: tuple[int, ...] = ()) -> NDArray[np.uint64]:
    """Return, bit by bit, which trees see a row if it is there when they are grown, (n, 2): by lot every other tree."""
    lot = np.empty(rows.shape[0], np.uint64)
    for part in parts_of(rows):
        lot[part] = _lots(rows[part], levels).sum(axis=1)
    first = mixed(lot)
    return np.column_stack([first, mixed(first)])


def _lots(rows: FloatArray, levels: tuple[int, ...]) -> NDArray[np.uint64]:
    """Return a number for each cell, (n, p), the same for one measurement, and for levels of columns with as many."""
    steps = np.nan_to_num(np.rint(rows / (_SAME * np.pi))).clip(-_MOST_STEPS, _MOST_STEPS)
    lots = mixed(steps.astype(np.int64).astype(np.uint64))
    numbers = rows.shape[1] - len(levels)
    lots[:, numbers:] = mixed(lots[:, numbers:] + np.array(levels, dtype=np.uint64))
    return lots


def _column_lots(rows: FloatArray, levels: tuple[int, ...]) -> NDArray[np.uint64]:
    """Return a number for each column that trees look at: what it holds beside what, and which level it stands for."""
    lots = columns_by_lot(_lots(rows, levels))
    numbers = rows.shape[1] - len(levels)
    own = [mixed(lots[numbers + k] + np.arange(size, dtype=np.uint64)) for k, size in enumerate(levels)]
    return np.concatenate([lots[:numbers], *own])


@jit
def _ask(rows, seen, roots, column, edge, right, side, amount, total, asked):  # type: ignore[no-untyped-def]
    """Add up what the leaves say that rows (n, p) fall into, in the trees that do not see them.

    A row whose cell is missing stays in the node that asks for it. Some rows are asked of one tree after the other: it
    stays in cache meanwhile.
    """
    for first in range(0, rows.shape[0], _ASKED_AT_ONCE):
        last = min(first + _ASKED_AT_ONCE, rows.shape[0])
        for tree in range(roots.size):
            for i in range(first, last):
                if (seen[i, tree // 64] >> np.uint64(tree % 64)) & np.uint64(1):
                    continue
                node = roots[tree]
                while column[node] >= 0 and not math.isnan(rows[i, column[node]]):
                    node = node + 1 if rows[i, column[node]] <= edge[node] else right[node]
                total[i, side[node]] += amount[node]
                asked[i] += 1.0


@jit
def _grow(table, side, weight, own, seed, leaf, column, edge, right, held, columns, waiting, branches):  # type: ignore[no-untyped-def]
    """Grow a tree from the rows `own`, which are sorted on the way; return the number of its nodes.

    A node looks at the best of the edges drawn for sqrt(p) columns, one between the ends of each. `columns` are all of
    them; `waiting` is room for what is to be a node: where its rows begin and end, and of which node it is the right;
    `branches` is room for what two of them hold.
    """
    p = columns.size
    waiting[0, 0], waiting[1, 0], waiting[2, 0] = 0, own.size, -1
    left, node, state = 1, 0, seed

    while left > 0:
        left -= 1
        begin, end, parent = waiting[0, left], waiting[1, left], waiting[2, left]
        if parent >= 0:
            right[parent] = node
        for place in range(begin, end):
            held[node, side[own[place]]] += weight[own[place]]
        there = 0
        for s in range(held.shape[1]):
            there += held[node, s] != 0.0

        best, tried = 0.0, 0
        if end - begin >= 2 * leaf and there > 1:
            for k in range(p):
                state = _next(state)
                other = k + np.int64(state % np.uint64(p - k))
                columns[k], columns[other] = columns[other], columns[k]
                low, high = _ends(table, own, begin, end, columns[k])
                if not low < high:
                    continue
                state = _next(state)
                cut = low + (high - low) * (np.float64(state >> np.uint64(11)) / 9007199254740992.0)
                gain = _gain(table, side, weight, own, begin, end, columns[k], cut, leaf, branches)
                if gain > best * (1.0 + _TIED):
                    best, column[node], edge[node] = gain, columns[k], cut
                tried += 1
                if (tried + 1) * (tried + 1) > p:
                    break
        if best > 0.0:
            middle, last = _sorted_by(table, own, begin, end, column[node], edge[node])
            waiting[0, left], waiting[1, left], waiting[2, left] = middle, last, node
            waiting[0, left + 1], waiting[1, left + 1], waiting[2, left + 1] = begin, middle, -1
            left += 2
        node += 1
    return node


@inner
def _next(state):  # type: ignore[no-untyped-def]
    """Return the next of numbers as if drawn by lot."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@inner
def _ends(table, own, begin, end, k):  # type: ignore[no-untyped-def]
    low, high = np.inf, -np.inf
    for place in range(begin, end):
        cell = table[k, own[place]]
        low = cell if cell < low else low
        high = cell if cell > high else high
    return low, high


@inner
def _gain(table, side, weight, own, begin, end, k, cut, leaf, held):  # type: ignore[no-untyped-def]
    """Return how pure both branches of an edge are; 0 if one has too few rows. What they hold is stored in `held`."""
    for s in range(held.shape[1]):
        held[0, s], held[1, s] = 0.0, 0.0
    below, above = 0, 0
    for place in range(begin, end):
        i = own[place]
        if math.isnan(table[k, i]):
            continue
        branch = 0 if table[k, i] <= cut else 1
        held[branch, side[i]] += weight[i]
        below, above = below + 1 - branch, above + branch
    if below < leaf or above < leaf:
        return 0.0
    pure = 0.0
    for branch in range(2):
        squares, total = 0.0, 0.0
        for s in range(held.shape[1]):
            squares += held[branch, s] * held[branch, s]
            total += held[branch, s]
        pure += squares / total
    return pure


@inner
def _sorted_by(table, own, begin, end, k, cut):  # type: ignore[no-untyped-def]
    """Put the rows on the left of an edge first, and return where those on the right begin and end.

    Rows without the cell come after them: they go neither way.
    """
    last = end
    i = begin
    while i < last:
        if math.isnan(table[k, own[i]]):
            last -= 1
            own[i], own[last] = own[last], own[i]
        else:
            i += 1
    middle = last
    i = begin
    while i < middle:
        if table[k, own[i]] <= cut:
            i += 1
        else:
            middle -= 1
            own[i], own[middle] = own[middle], own[i]
    return middle, last
