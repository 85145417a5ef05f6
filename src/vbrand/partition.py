"""Point partitions: one clustering that sums up many posterior draws of it.

Draws are an integer array (D, n): the cluster of each of n rows in each of D draws. Numbers mean nothing across draws.

The answer is the partition with the least expected distance to the draws (Wade and Ghahramani 2018). Both distances,
variation of information and Binder's, read sum_c g(n_c) + sum_z g(n_z) - 2 sum_cz g(n_cz) over the table of groups c
by clusters z, with a convex g. A greedy search with restarts (after Dahl, Johnson and Mueller 2022) keeps these tables
only, so that moving a row costs O(D) a group.

>>> import numpy as np
>>> draws = np.array([[0, 0, 1, 1, 2], [1, 1, 0, 0, 0], [3, 3, 7, 7, 7]])
>>> similarity(draws)[4].round(2)
array([0.  , 0.  , 0.67, 0.67, 1.  ])
>>> best_partition(draws, random_state=0).labels
array([1, 1, 0, 0, 0])
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numba
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from vbrand.types import FloatArray, IntArray

Loss = Literal["vi", "binder"]
Codes = NDArray[np.unsignedinteger[Any]]

# sums may be reordered, so that they run in vector registers
_jit = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})

_MAX_ROWS = 10_000  # of a whole similarity matrix: 0.8 GB
_STRIP = 64  # rows of the matrix computed at a time: their draws stay in the cache
_SEARCH_DRAWS = 2_000  # more add little to where the search goes
_SCAN_STEPS = 2**28  # groups beyond twice those of any draw are tried while one scan takes no more: half a second
_MAX_CELLS = 2**27  # of the tables of one run: half a gigabyte
_MEDOID_STEPS = 200_000_000  # spent on the draw to start from: about half a second
_LEAST_GAIN = 1e-12  # smaller ones are rounding errors, and would let rows move for ever


@dataclass(frozen=True)
class Partition:
    """A partition of rows that sums up posterior draws.

    Attributes
    ----------
    labels : (n,) group of each row; 0 is the largest group, of equal ones that with the earlier first row
    expected_loss : mean loss over the draws
    loss : "vi" or "binder"
    runs : (n_runs,) expected loss that each run ended at; many equal to the least make it credible
    """

    labels: IntArray
    expected_loss: float
    loss: Loss
    runs: FloatArray


def similarity(draws: NDArray[Any], rows: NDArray[Any] | None = None) -> FloatArray:
    """Return the share of draws in which two rows lie together, for all pairs of rows, or of the given ones."""
    _check_draws(draws)
    if rows is not None:
        draws = draws[:, rows]
    elif draws.shape[1] > _MAX_ROWS:
        raise ValueError(
            f"the similarity of {draws.shape[1]:,} rows is a matrix of as many columns; at most {_MAX_ROWS:,} are made "
            "whole. Pass a sample of the rows as rows=, or walk through the matrix with similarity_blocks."
        )
    codes = np.ascontiguousarray(_renumbered(draws).T)  # (m, D)
    result = np.empty((len(codes), len(codes)))
    for begin in range(0, len(codes), _STRIP):
        end = min(begin + _STRIP, len(codes))
        result[begin:end, :end] = _agreement(codes[begin:end], codes[:end])
        result[:begin, begin:end] = result[begin:end, :begin].T
    return result


def similarity_blocks(draws: NDArray[Any], block: int = 1_024) -> Iterator[tuple[slice, FloatArray]]:
    """Return an iterator over the similarity matrix, `block` rows at a time: which rows, and their (block, n) shares."""
    _check_draws(draws)
    if block < 1:
        raise ValueError(f"block is {block}; a block has at least one row. Leave it at its default of 1,024.")
    codes = np.ascontiguousarray(_renumbered(draws).T)  # (n, D)
    places = (slice(begin, min(begin + block, len(codes))) for begin in range(0, len(codes), block))
    return ((place, _agreement(codes[place], codes)) for place in places)


def expected_loss(labels: NDArray[Any], draws: NDArray[Any], loss: Loss = "vi") -> float:
    """Return the mean distance of a partition to the draws.

    "vi" is the variation of information in nats, "binder" the share of ordered pairs of rows on which two partitions
    disagree.
    """
    _check_draws(draws)
    _check_loss(loss)
    labels = np.asarray(labels)
    if labels.shape != draws.shape[1:]:
        raise ValueError(
            f"labels has shape {labels.shape} but the draws have {draws.shape[1]} columns. "
            "Pass one label for each row that the draws cover."
        )
    return _mean_loss(np.unique(labels, return_inverse=True)[1], _renumbered(draws), _curve(draws.shape[1], loss))


def best_partition(
    draws: NDArray[Any],
    loss: Loss = "vi",
    *,
    max_groups: int | None = None,
    n_runs: int = 16,
    n_jobs: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Partition:
    """Return the partition with the least expected loss that `n_runs` greedy searches find.

    Without `max_groups` a search may use twice as many groups as any draw has, and more on short tables. More than 2,000 draws are thinned evenly for the search; the loss is then that over all of them. The answer depends
    on `random_state` but not on `n_jobs`.
    """
    _check_draws(draws)
    _check_loss(loss)
    for name, count in (("n_runs", n_runs), ("max_groups", 1 if max_groups is None else max_groups)):
        if count < 1:
            raise ValueError(f"{name} is {count}; the search needs at least 1. Leave it out for the default.")
    codes = _renumbered(draws)  # (D, n)
    curve = _curve(codes.shape[1], loss)
    problem = _problem(codes[_spread(len(codes), _SEARCH_DRAWS)], curve, max_groups)
    generators = np.random.default_rng(random_state).spawn(n_runs)
    found = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_run)(problem, run, generator) for run, generator in enumerate(generators)
    )
    found = [_by_size(labels) for labels in found]
    losses = {labels.tobytes(): _mean_loss(labels, codes, curve) for labels in found}
    runs = np.array([losses[labels.tobytes()] for labels in found])
    best = int(np.argmin(runs))
    return Partition(found[best], float(runs[best]), loss, runs)


def vote(draws: NDArray[Any], known: int, threshold: float = 0.5) -> IntArray:
    """Return the known class with most votes for each row, or `known` if more than a share of draws calls it novel.

    Numbers below `known` in the draws are known classes; all others are novel. Of classes with equally many votes the
    first wins.
    """
    _check_draws(draws)
    if known < 0:
        raise ValueError(f"known is {known}; it is the number of known classes. Pass 0 if there are none.")
    if not 0.0 <= threshold < 1.0:
        raise ValueError(f"threshold is {threshold}; it is a share of draws, from 0 to below 1. Leave it at 0.5.")
    winner = np.full(draws.shape[1], known, dtype=np.int64)
    most = np.zeros(draws.shape[1], dtype=np.int64)
    for label in range(known):
        votes = np.count_nonzero(draws == label, axis=0)  # (n,)
        winner[votes > most] = label
        most = np.maximum(most, votes)
    winner[np.mean(draws >= known, axis=0) > threshold] = known
    return winner


def point_partition(
    draws: NDArray[Any],
    known: int,
    *,
    threshold: float = 0.5,
    loss: Loss = "vi",
    n_runs: int = 16,
    n_jobs: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> IntArray:
    """Return known classes by vote, and novel groups `known`, `known` + 1, .., largest first, by the best partition."""
    labels = vote(draws, known, threshold)
    novel = labels == known
    groups = best_partition(draws[:, novel], loss, n_runs=n_runs, n_jobs=n_jobs, random_state=random_state)
    labels[novel] = known + groups.labels
    return labels


class _Problem(NamedTuple):
    """What the runs of a search share. Rows that lie together in every draw are one item: see `_problem`."""

    codes: Codes  # (items, D) cluster of an item in a draw
    offset: IntArray  # (D,) where the clusters of a draw begin in the table of a group
    weight: IntArray  # (items,) rows of an item
    curve: FloatArray  # (n + 1,) g
    medoid: IntArray  # (items,) clusters in the draw that is nearest to all others
    item: IntArray  # (n,) item of each row
    cells: int  # clusters in all draws
    groups: int  # at most


class _State(NamedTuple):
    """A partition in the making. A group is a slot of the tables, empty or not."""

    codes: Codes
    offset: IntArray
    weight: IntArray
    curve: FloatArray
    label: IntArray  # (items,) slot, or -1: nowhere yet
    size: IntArray  # (groups,) rows
    table: NDArray[np.int32]  # (groups, cells) rows in the clusters of the draws


def _check_draws(draws: NDArray[Any]) -> None:
    """Raise a ValueError unless draws are one row of cluster numbers a draw."""
    if draws.ndim != 2 or not len(draws):
        raise ValueError(
            f"draws has shape {draws.shape}; expected one row a draw and one column a row of the table, with at least "
            "one draw. Stack the labels of the draws with np.stack."
        )
    if not np.issubdtype(draws.dtype, np.integer):
        raise ValueError(
            f"draws has dtype {draws.dtype}; clusters are whole numbers. Convert them with draws.astype(int)."
        )
    if draws.size and draws.min() < 0:
        raise ValueError(
            f"draws contains {draws.min()}; cluster numbers start at 0. Give rows without a cluster a number of their own."
        )


def _check_loss(loss: str) -> None:
    """Raise a ValueError unless the loss is one of those known."""
    if loss not in get_args(Loss):
        raise ValueError(f"loss is {loss!r}; expected 'vi' or 'binder'. Leave it out for 'vi'.")


def _curve(n: int, loss: Loss) -> FloatArray:
    """Return g(0), .., g(n), whose sums over tables make the loss."""
    x = np.arange(n + 1.0)
    if loss == "vi":
        # g(x) = x log x / n
        return x * np.log(np.maximum(x, 1.0)) / max(n, 1)
    # g(x) = x^2 / (n (n - 1))
    return x**2 / max(n * (n - 1), 1)


def _renumbered(draws: NDArray[Any]) -> Codes:
    """Return the draws with clusters 0, 1, .. by first appearance, in the smallest unsigned integers: (D, n)."""
    highest = int(draws.max(initial=0))
    if highest > max(draws.size, 2**16):  # a table of all numbers would be larger than the draws
        values, draws = np.unique(draws, return_inverse=True)
        highest, draws = len(values), draws.reshape(draws.shape)
    codes = np.empty(draws.shape, dtype=np.min_scalar_type(min(highest, draws.shape[1])))
    number = np.full(highest + 1, -1)
    for draw, code in zip(draws, codes, strict=True):
        code[:] = _by_appearance(draw.astype(np.int64), number)
    return codes.astype(np.min_scalar_type(codes.max(initial=0)), copy=False)


def _spread(total: int, most: int) -> IntArray:
    """Return at most so many of 0, .., total - 1, evenly spread."""
    return np.arange(min(total, most)) * total // min(total, most)


def _mean_loss(labels: NDArray[Any], codes: Codes, curve: FloatArray) -> float:
    """Return the mean loss of labels 0, 1, .. over draws."""
    size = np.bincount(labels)
    rest = _cross_terms(np.argsort(labels, kind="stable"), np.cumsum(size), codes, curve)
    return max(float(curve[size].sum() + rest), 0.0)


def _by_size(labels: IntArray) -> IntArray:
    """Return the groups numbered from the largest, of equal ones from that with the earlier first row."""
    _, first, inverse, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(size), dtype=np.int64)
    rank[np.lexsort((first, -size))] = np.arange(len(size))
    return rank[inverse]


def _problem(codes: Codes, curve: FloatArray, max_groups: int | None) -> _Problem:
    """Return the problem of the search.

    Rows that lie together in every draw do so in a best partition too: with A_z <= A rows of cluster z in group A,
    moving t of them from B to A changes the loss by a function of t whose second derivative is g''(A + t) + g''(B - t)
    - 2 mean(g''(A_z + t) + g''(B_z - t)) < 0, as g'' >= 0 never rises; it is least where they are all in A, or in B.
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
    candidates = _spread(len(codes), max(_MEDOID_STEPS // max(codes.size, 1), 1))
    losses = [_mean_loss(codes[draw], codes, curve) for draw in candidates]
    medoid = items[:, candidates[np.argmin(losses)]].astype(np.int64)
    return _Problem(items, np.cumsum(clusters) - clusters, weight, curve, medoid, item, cells, groups)


def _run(problem: _Problem, run: int, rng: np.random.Generator) -> IntArray:
    """Return the partition of the rows at which one run of the search ends."""
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


def _start(problem: _Problem, run: int, rng: np.random.Generator) -> IntArray:
    """Return the groups to start a run from; -1 leaves an item to be allocated in turn."""
    items = len(problem.codes)
    if run == 1:
        return np.zeros(items, dtype=np.int64)
    if run == 2 and items <= problem.groups:
        return np.arange(items)
    if run and run % 2 == 0:
        return np.full(items, -1)
    labels = problem.codes[:, rng.integers(len(problem.offset))].astype(np.int64) if run else problem.medoid
    labels = _by_size(labels)
    return np.where(labels < problem.groups, labels, -1)


def _sweeten(state: _State, rng: np.random.Generator) -> None:
    """Move single items, then merge groups, until neither lowers the loss."""
    while True:
        while _scan(state, rng.permutation(len(state.label))):
            pass
        if not _merge(state):
            return


def _dissolve_each(state: _State, rng: np.random.Generator) -> bool:
    """Dissolve each group and allocate its items anew, keep what lowers the loss, and return if anything did."""
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
    """Return labels numbered by first appearance; number holds -1 for each label, before and after."""
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
def _agreement(left, right):  # type: ignore[no-untyped-def]
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
    """Return the mean over draws of sum_z g(n_z) - 2 sum_cz g(n_cz); order lists the rows group by group."""
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
    """Return sum_c g(n_c) - 2 mean sum_cz g(n_cz): the loss but for what no partition changes."""
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
    """Move an item to a group, from nowhere or to nowhere (-1) too."""
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
    """Move all items to where they shall be."""
    for item in range(label.size):
        if state.label[item] != label[item]:
            _move(state, item, label[item])


@_jit
def _scan(state, order):  # type: ignore[no-untyped-def]
    """Move each item in turn to the group, or an empty one, where it costs least; return how many moved."""
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
        # alone: g(w) - 2 g(w)
        if empty >= 0 and -state.curve[w] < least:
            best = empty
        if best != own:
            _move(state, item, best)
            moved += 1
    return moved


@_jit
def _cost(state, group, where, w, shift):  # type: ignore[no-untyped-def]
    """Return what w rows add to the loss in a group, counted without its own rows by a shift of -w or 0."""
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
    """Merge pairs of groups where that lowers the loss; return how many."""
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
