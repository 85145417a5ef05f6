"""Point partitions: one clustering that sums up many posterior draws of it.

Draws are an integer array (D, n): the cluster of each of n rows in each of D draws. The same number may
mean different clusters in different draws.

The answer is the partition with the least expected distance to the draws (Wade and Ghahramani 2018). Both distances,
variation of information and Binder's, read sum_c g(n_c) + sum_z g(n_z) - 2 sum_cz g(n_cz) over the table of groups c
by clusters z, with a convex g. A greedy search with restarts (after Dahl, Johnson and Mueller 2022) keeps these tables
only, so that moving a row costs O(D) per group.

>>> import numpy as np
>>> draws = np.array([[0, 0, 1, 1, 2], [1, 1, 0, 0, 0], [3, 3, 7, 7, 7]])
>>> similarity(draws)[4].round(2)
array([0.  , 0.  , 0.67, 0.67, 1.  ])
>>> best_partition(draws, random_state=0).labels
array([1, 1, 0, 0, 0])
"""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, get_args

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from vbrand.partition._search import (
    Loss,
    agreement,
    best_of_run,
    by_size,
    loss_curve,
    mean_loss,
    problem_of,
    renumbered,
)
from vbrand.samples import evenly
from vbrand.types import FloatArray, IntArray

_MAX_ROWS = 10_000  # of a similarity matrix in one piece: 0.8 GB
_STRIP = 64  # rows of the matrix computed at a time: their draws stay in the cache
_SEARCH_DRAWS = 2_000  # more draws hardly change where the search goes


@dataclass(frozen=True)
class Partition:
    """A partition of rows that sums up posterior draws.

    Parameters
    ----------
    labels : array of shape (n,)
        The group of each row; largest group first, equal ones by first appearance.
    expected_loss : float
        The mean loss over the draws.
    loss : "vi" or "binder"
        Which loss it is.
    runs : array of shape (n_runs,)
        Expected loss at the end of each run; trust the least loss more if many runs reach it.

    Examples
    --------
    >>> best_partition(np.array([[0, 0, 1], [0, 0, 1], [0, 1, 1]]), random_state=0).labels
    array([0, 0, 1])
    """

    labels: IntArray
    expected_loss: float
    loss: Loss
    runs: FloatArray


def similarity(draws: NDArray[Any], rows: NDArray[Any] | None = None) -> FloatArray:
    """Return the share of draws in which two rows lie together, for all pairs of rows, or of the given ones.

    Parameters
    ----------
    draws : integer array of shape (D, n)
        The cluster of each row in each draw; `label_draws()` of a discovery gives them.
    rows : array of positions, optional
        Some of the rows; more than 10,000 at once are refused.

    Returns
    -------
    array of shape (n, n)
        From 0 (never) to 1 (always).

    Examples
    --------
    >>> similarity(np.array([[0, 0, 1], [0, 1, 1]]))
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    draws = _checked(draws)
    if rows is not None:
        draws = draws[:, rows]
    elif draws.shape[1] > _MAX_ROWS:
        raise ValueError(
            f"the similarity of {draws.shape[1]:,} rows is a matrix of as many columns; at most {_MAX_ROWS:,} rows are "
            "done at once. Pass a sample of the rows as rows=, or walk through the matrix with similarity_blocks."
        )

    codes = np.ascontiguousarray(renumbered(draws).T)  # (m, D)
    result = np.empty((len(codes), len(codes)))
    for begin in range(0, len(codes), _STRIP):
        end = min(begin + _STRIP, len(codes))
        result[begin:end, :end] = agreement(codes[begin:end], codes[:end])
        result[:begin, begin:end] = result[begin:end, :begin].T
    return result


def similarity_blocks(draws: NDArray[Any], block: int = 1_024) -> Iterator[tuple[slice, FloatArray]]:
    """Return an iterator over the similarity matrix, for tables of any length.

    Parameters
    ----------
    draws : integer array of shape (D, n)
        The cluster of each row in each draw; `label_draws()` of a discovery gives them.
    block : int, default 1,024
        Rows at a time.

    Returns
    -------
    iterator of (slice, array of shape (block, n))
        Which rows come next, and their shares.

    Examples
    --------
    >>> [(rows, shares.shape) for rows, shares in similarity_blocks(np.array([[0, 0, 1], [0, 1, 1]]), block=2)]
    [(slice(0, 2, None), (2, 3)), (slice(2, 3, None), (1, 3))]
    """
    draws = _checked(draws)
    if block < 1:
        raise ValueError(f"block is {block}; a block has at least one row. Leave it at its default of 1,024.")
    codes = np.ascontiguousarray(renumbered(draws).T)  # (n, D)
    strips = (slice(begin, min(begin + block, len(codes))) for begin in range(0, len(codes), block))
    return ((strip, agreement(codes[strip], codes)) for strip in strips)


def expected_loss(labels: NDArray[Any], draws: NDArray[Any], loss: Loss = "vi") -> float:
    """Return the mean distance of a partition to the draws.

    Parameters
    ----------
    labels : array of shape (n,)
        The partition.
    draws : integer array of shape (D, n)
        The cluster of each row in each draw; `label_draws()` of a discovery gives them.
    loss : "vi" or "binder", default "vi"
        The variation of information in nats, or the share of ordered pairs of rows on which two partitions disagree.

    Returns
    -------
    float
        0 if all draws are that partition.

    Examples
    --------
    >>> round(expected_loss([0, 0, 1, 1], np.array([[0, 0, 1, 1], [0, 0, 1, 2]]), loss="binder"), 3)
    0.083
    """
    draws = _checked(draws)
    _check_loss(loss)
    labels = np.asarray(labels)
    if labels.shape != draws.shape[1:]:
        raise ValueError(
            f"labels has shape {labels.shape} but the draws have {draws.shape[1]} columns. "
            "Pass one label for each row that the draws cover."
        )
    return mean_loss(np.unique(labels, return_inverse=True)[1], renumbered(draws), loss_curve(draws.shape[1], loss))


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

    Without `max_groups` a search may use twice as many groups as any draw has, and more on short tables. More than
    2,000 draws are thinned evenly for the search; the losses returned are those over all of them.

    Parameters
    ----------
    draws : integer array of shape (D, n)
        The cluster of each row in each draw; `label_draws()` of a discovery gives them.
    loss : "vi" or "binder", default "vi"
        As in `expected_loss`.
    max_groups : int, optional
        The most groups that the answer may have.
    n_runs : int, default 16
        Searches; the best of them wins.
    n_jobs : int, optional
        Searches at a time; the answer does not depend on it.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Partition
        Its `labels`, its loss, and the losses of all runs.

    Examples
    --------
    >>> best_partition(np.array([[0, 0, 1], [0, 0, 1], [0, 1, 1]]), random_state=0).labels
    array([0, 0, 1])
    """
    draws = _checked(draws)
    _check_loss(loss)
    for name, count in (("n_runs", n_runs), ("max_groups", 1 if max_groups is None else max_groups)):
        if count < 1:
            raise ValueError(f"{name} is {count}; the search needs at least 1. Leave it out for the default.")

    codes = renumbered(draws)  # (D, n)
    curve = loss_curve(codes.shape[1], loss)
    problem = problem_of(codes[evenly(len(codes), _SEARCH_DRAWS)], curve, max_groups)
    generators = np.random.default_rng(random_state).spawn(n_runs)
    found = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(best_of_run)(problem, run, generator) for run, generator in enumerate(generators)
    )

    found = [by_size(labels) for labels in found]
    losses = {labels.tobytes(): mean_loss(labels, codes, curve) for labels in found}
    runs = np.array([losses[labels.tobytes()] for labels in found])
    best = int(np.argmin(runs))
    return Partition(found[best], float(runs[best]), loss, runs)


def vote(draws: NDArray[Any], known: int, threshold: float = 0.5) -> IntArray:
    """Return the known class with most votes for each row, or `known` if more than `threshold` of draws call it novel.

    Of classes with equally many votes the first wins.

    Parameters
    ----------
    draws : integer array of shape (D, n)
        The cluster of each row in each draw; `label_draws()` of a discovery gives them.
    known : int
        The number of known classes: smaller numbers in the draws are known classes, all others are novel.
    threshold : float, default 0.5
        A row is novel if a larger share of the draws calls it novel.

    Returns
    -------
    array of shape (n,)
        0..known - 1, or `known` for novelty.

    Examples
    --------
    >>> vote(np.array([[0, 1, 5], [0, 0, 7], [0, 1, 1]]), known=2)
    array([0, 1, 2])
    """
    draws = _checked(draws)
    if not isinstance(known, Integral) or known < 0:
        raise ValueError(f"known is {known!r}; it is the number of known classes. Pass 0 if there are none.")
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
    """Return known classes by vote, and novel groups by the best partition.

    Parameters
    ----------
    draws : integer array of shape (D, n)
        The cluster of each row in each draw; `label_draws()` of a discovery gives them.
    known : int
        The number of known classes, as in `vote`.
    threshold : float, default 0.5
        As in `vote`.
    loss, n_runs, n_jobs, random_state
        As in `best_partition`.

    Returns
    -------
    array of shape (n,)
        Known classes, and novel groups `known`, `known` + 1, .., largest first.

    Examples
    --------
    >>> point_partition(np.array([[0, 2, 2, 3], [0, 3, 3, 2]]), known=1, random_state=0)
    array([0, 1, 1, 2])
    """
    draws = np.asarray(draws)
    labels = vote(draws, known, threshold)
    novel = labels == known
    groups = best_partition(draws[:, novel], loss, n_runs=n_runs, n_jobs=n_jobs, random_state=random_state)
    labels[novel] = known + groups.labels
    return labels


def _checked(draws: NDArray[Any]) -> NDArray[Any]:
    """Return the draws, or raise a ValueError unless they are one row of cluster numbers per draw."""
    draws = np.asarray(draws)
    if draws.ndim != 2 or not len(draws):
        raise ValueError(
            f"draws has shape {draws.shape}; expected one row per draw and one column per row of the table, with at "
            "least one draw. A discovery gives them with label_draws()."
        )
    if not np.issubdtype(draws.dtype, np.integer):
        raise ValueError(
            f"draws has dtype {draws.dtype}; clusters are whole numbers. A discovery gives them with label_draws()."
        )
    if draws.size and draws.min() < 0:
        raise ValueError(
            f"draws contains {draws.min()}; cluster numbers start at 0. Give rows without a cluster new numbers."
        )
    return draws


def _check_loss(loss: str) -> None:
    """Raise a ValueError unless the loss is a known one."""
    if loss not in get_args(Loss):
        raise ValueError(f"loss is {loss!r}; expected 'vi' or 'binder'. Leave it out for 'vi'.")
