"""The search for a partition with the least expected loss, and the tables of groups by clusters that it keeps.

Compiled loops carry no annotations: their types are those of the arrays.
"""

from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from vbrand.samples import evenly
from vbrand.types import FloatArray, IntArray
from vbrand.types import SmallInts as Codes

Loss = Literal["vi", "binder"]

# sums may be reordered, so that they run in vector registers
_jit = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})

# a partition may have more than twice the groups of any draw as long as one scan takes no more steps: half a second
_SCAN_STEPS = 2**28
_MAX_CELLS = 2**27  # of the tables of one run: half a gigabyte
_MEDOID_STEPS = 200_000_000  # spent on finding the draw to start from: about half a second
_LEAST_GAIN = 1e-12  # smaller gains are rounding errors, and would let rows move for ever


class Problem(NamedTuple):
    """What the runs of a search share. Rows that lie together in every draw are one item: see `problem_of`."""

    codes: Codes  # (items, D) cluster of an item in a draw
    offset: IntArray  # (D,) where the clusters of a draw begin in the table of a group
    weight: IntArray  # (items,) rows of an item
    curve: FloatArray  # (n + 1,) g
    medoid: IntArray  # (items,) clusters in the draw that is nearest to the others
    item: IntArray  # (n,) item of each row
    cells: int  # clusters in all draws
    groups: int  # at most


class _State(NamedTuple):
    """A partition in the making. A group is a slot of the tables, empty or not."""

    codes: Codes
    offset: IntArray
    weight: IntArray
    curve: FloatArray
    label: IntArray  # (items,) slot of each item, or -1: in none yet
    size: IntArray  # (groups,) rows
    table: NDArray[np.int32]  # (groups, cells) rows in the clusters of the draws


def loss_curve(n: int, loss: Loss) -> FloatArray:
    """Return g(0), .., g(n): the loss is made of sums of g over tables."""
    x = np.arange(n + 1.0)
    if loss == "vi":
        # (11.2) g(x) = x log x / n
        return np.asarray(x * np.log(np.maximum(x, 1.0)) / max(n, 1))
    # (11.2) g(x) = x^2 / (n (n - 1))
    return np.asarray(x**2 / max(n * (n - 1), 1))


def renumbered(draws: NDArray[Any]) -> Codes:
    """Return the draws with clusters 0, 1, .. by first appearance, in the smallest unsigned integers: (D, n)."""
    highest = int(draws.max(initial=0))
    if highest > max(draws.size, 2**16):  # a table of all numbers would be larger than the draws
        values, inverse = np.unique(draws, return_inverse=True)
        highest, draws = len(values), inverse.reshape(draws.shape)

    codes = np.empty(draws.shape, dtype=np.min_scalar_type(min(highest, draws.shape[1])))
    number = np.full(highest + 1, -1)
    for draw, code in zip(draws, codes, strict=True):
        code[:] = _by_appearance(draw.astype(np.int64), number)
    return codes.astype(np.min_scalar_type(codes.max(initial=0)), copy=False)


def mean_loss(labels: NDArray[Any], codes: Codes, curve: FloatArray) -> float:
    """Return the mean loss of labels 0, 1, .. over draws."""
    # (11.1) sum_c g(n_c) + sum_z g(n_z) - 2 sum_cz g(n_cz), the last two averaged over draws
    size = np.bincount(labels)
    rest = _cross_terms(np.argsort(labels, kind="stable"), np.cumsum(size), codes, curve)
    return max(float(curve[size].sum() + rest), 0.0)


def by_size(labels: IntArray) -> IntArray:
    """Return labels with groups numbered by size, largest first; of equal ones by first appearance."""
    _, first, inverse, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(size), dtype=np.int64)
    rank[np.lexsort((first, -size))] = np.arange(len(size))
    return rank[inverse]


def problem_of(codes: Codes, curve: FloatArray, max_groups: int | None) -> Problem:
    """Return the problem of the search.

    Rows that lie together in every draw do so in a best partition too, and are one item. Let t of w such rows be in
    group A and w - t in B, beside a and b others, a_z <= a and b_z <= b of which share their cluster. The loss has the
    second derivative g''(a + t) + g''(b + w - t) - 2 mean(g''(a_z + t) + g''(b_z + w - t)) in t, which is negative as
    g'' > 0 never rises: it is least at t = 0 or t = w.
    """
    columns = np.ascontiguousarray(codes.T)  # (n, D)
    place: dict[bytes, int] = {}
    item = np.array([place.setdefault(column.tobytes(), len(place)) for column in columns], dtype=np.int64)
    weight = np.bincount(item)
    items = columns[np.unique(item, return_index=True)[1]]

    clusters = codes.max(axis=1, initial=0).astype(np.int64) + 1  # (D,)
    cells = int(clusters.sum())
    free = max(2 * int(clusters.max()), _SCAN_STEPS // max(items.size, 1))
    free = min(free, max(_MAX_CELLS // cells, 2))
    groups = max(min(free if max_groups is None else max_groups, len(items)), 1)

    # the medoid among as many draws as there is time for
    candidates = evenly(len(codes), max(_MEDOID_STEPS // max(codes.size, 1), 1))
    losses = [mean_loss(codes[draw], codes, curve) for draw in candidates]
    medoid = items[:, candidates[np.argmin(losses)]].astype(np.int64)
    return Problem(items, np.cumsum(clusters) - clusters, weight, curve, medoid, item, cells, groups)


def best_of_run(problem: Problem, run: int, rng: np.random.Generator) -> IntArray:
    """Return the partition of the rows with which one run of the search ends."""
    items = len(problem.codes)
    state = _State(
        *problem[:4],
        label=np.full(items, -1),
        size=np.zeros(problem.groups, dtype=np.int64),
        table=np.zeros((problem.groups, problem.cells), dtype=np.int32),
    )

    _assign(state, _start(problem, run, rng))
    _scan(state, rng.permutation(np.flatnonzero(state.label < 0)))
    _sweeten(state, rng)
    while _dissolve_each(state, rng):
        pass
    return state.label[problem.item]


def _start(problem: Problem, run: int, rng: np.random.Generator) -> IntArray:
    """Return the groups to start a run from; -1 leaves an item to be allocated in turn."""
    items = len(problem.codes)
    if run == 1:
        return np.zeros(items, dtype=np.int64)
    if run == 2 and items <= problem.groups:
        return np.arange(items)
    if run and run % 2 == 0:
        return np.full(items, -1)

    labels = problem.codes[:, rng.integers(len(problem.offset))].astype(np.int64) if run else problem.medoid
    labels = by_size(labels)
    return np.where(labels < problem.groups, labels, -1)


def _sweeten(state: _State, rng: np.random.Generator) -> None:
    """Move single items, then merge groups, until neither lowers the loss."""
    while True:
        while _scan(state, rng.permutation(len(state.label))):
            pass
        if not _merge(state):
            return


def _dissolve_each(state: _State, rng: np.random.Generator) -> bool:
    """Dissolve each group and allocate its items again; keep what lowers the loss, and return whether anything did."""
    improved = False
    least = _level(state)
    for group in rng.permutation(np.flatnonzero(state.size)):
        before = state.label.copy()
        members = np.flatnonzero(before == group)
        _assign(state, np.where(before == group, -1, before))
        while _scan(state, rng.permutation(members)):
            pass
        if _level(state) < least - _LEAST_GAIN:
            _sweeten(state, rng)
            least, improved = _level(state), True
        else:
            _assign(state, before)
    return improved


@_jit
def _by_appearance(labels, number):  # type: ignore[no-untyped-def]
    """Return labels numbered by first appearance; `number` holds -1 for each label, before and after."""
    result = np.empty_like(labels)
    found = 0
    for i in range(labels.size):
        if number[labels[i]] < 0:
            number[labels[i]] = found
            found += 1
        result[i] = number[labels[i]]

    for label in labels:
        number[label] = -1
    return result


@_jit
def agreement(left, right):  # type: ignore[no-untyped-def]
    """Return the share of columns in which rows of left and right agree."""
    result = np.empty((left.shape[0], right.shape[0]))
    for j in range(right.shape[0]):
        for i in range(left.shape[0]):
            a, b = left[i], right[j]
            count = np.int32(0)  # 64 bits would halve the lanes of the loop
            for draw in range(a.size):
                count = np.int32(count + np.int32(a[draw] == b[draw]))
            result[i, j] = count / a.size
    return result


@_jit
def _cross_terms(order, ends, codes, curve):  # type: ignore[no-untyped-def]
    """Return the mean over draws of sum_z g(n_z) - 2 sum_cz g(n_cz); `order` lists the rows group by group."""
    total = 0.0
    cluster = np.zeros(order.size, np.int64)
    cell = np.zeros(order.size, np.int64)

    for draw in range(codes.shape[0]):
        code = codes[draw]
        cluster[:] = 0
        begin = 0
        for end in ends:
            for i in order[begin:end]:
                cell[code[i]] += 1
            for i in order[begin:end]:
                total -= 2.0 * curve[cell[code[i]]]
                cluster[code[i]] += cell[code[i]]
                cell[code[i]] = 0
            begin = end

        for z in range(cluster.size):
            total += curve[cluster[z]]
    return total / codes.shape[0]


@_jit
def _level(state):  # type: ignore[no-untyped-def]
    """Return sum_c g(n_c) - 2 mean sum_cz g(n_cz): the loss without the terms that are the same for all partitions."""
    total = 0.0
    for group in range(state.size.size):
        if state.size[group]:
            inside = 0.0
            for count in state.table[group]:
                inside += state.curve[count]
            total += state.curve[state.size[group]] - 2.0 * inside / state.offset.size
    return total


@_jit
def _move(state, item, group):  # type: ignore[no-untyped-def]
    """Move an item from its group to another; group -1 means nowhere."""
    w, own, code = state.weight[item], state.label[item], state.codes[item]
    if own >= 0:
        state.size[own] -= w
        for draw in range(code.size):
            state.table[own, state.offset[draw] + code[draw]] -= w

    if group >= 0:
        state.size[group] += w
        for draw in range(code.size):
            state.table[group, state.offset[draw] + code[draw]] += w
    state.label[item] = group


@_jit
def _assign(state, label):  # type: ignore[no-untyped-def]
    """Move every item to the group that `label` gives it."""
    for item in range(label.size):
        if state.label[item] != label[item]:
            _move(state, item, label[item])


@_jit
def _scan(state, order):  # type: ignore[no-untyped-def]
    """Move each item in turn to the group where it costs least, which may be an empty one; return how many moved."""
    moved = 0
    where = np.empty(state.offset.size, np.int64)
    for item in order:
        w, own, code = state.weight[item], state.label[item], state.codes[item]
        for draw in range(where.size):
            where[draw] = state.offset[draw] + code[draw]

        best, least, empty = own, np.inf, -1
        if own >= 0:
            least = _cost(state, own, where, w, -w) - _LEAST_GAIN

        for group in range(state.size.size):
            if state.size[group] == 0:
                empty = group
            elif group != own:
                cost = _cost(state, group, where, w, 0)
                if cost < least:
                    best, least = group, cost
        # alone in a group: g(w) - 2 g(w)
        if empty >= 0 and -state.curve[w] < least:
            best = empty

        if best != own:
            _move(state, item, best)
            moved += 1
    return moved


@_jit
def _cost(state, group, where, w, shift):  # type: ignore[no-untyped-def]
    """Return what an item of w rows adds to the loss in a group; shift is -w if it is in there already, else 0."""
    curve, table = state.curve, state.table[group]
    inside = 0.0
    for draw in range(where.size):
        count = table[where[draw]] + shift
        inside += curve[count + w] - curve[count]
    n = state.size[group] + shift
    # g(n_c + w) - g(n_c) - 2 mean (g(n_cz + w) - g(n_cz))
    return curve[n + w] - curve[n] - 2.0 * inside / where.size


@_jit
def _merge(state):  # type: ignore[no-untyped-def]
    """Merge pairs of groups if that lowers the loss; return how many merged."""
    merged = 0
    curve, size = state.curve, state.size
    for a in range(size.size):
        for b in range(a):
            if size[a] == 0 or size[b] == 0:
                continue

            first, second = state.table[a], state.table[b]
            inside = 0.0
            for cell in range(first.size):
                inside += curve[first[cell] + second[cell]] - curve[first[cell]] - curve[second[cell]]
            gain = 2.0 * inside / state.offset.size - curve[size[a] + size[b]] + curve[size[a]] + curve[size[b]]

            if gain > _LEAST_GAIN:
                for item in range(state.label.size):
                    if state.label[item] == b:
                        _move(state, item, a)
                merged += 1
    return merged
