"""Rows that are copies of others: equal in all columns, more often than rounding and few levels make it likely."""

from dataclasses import dataclass
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.robust.rounding import rounding_steps
from vbrand.types import BoolArray, FloatArray, IntArray

Prints = NDArray[np.uint64]

# rows that are hashed at once, so that a large table is not in memory twice
_BLOCK = 65_536
# bits that whole numbers and short decimals leave empty: what is above them is mixed into those below
_SHIFT = np.uint64(41)


@dataclass(frozen=True)
class Repeats:
    """Which rows of a table count, and how many do not."""

    counted: IntArray  # (m,) positions of the rows that count
    twice: int  # rows that are copies of an earlier one
    labelled: int  # rows that are copies of a labelled one


def fingerprints(table: NDArray[Any]) -> Prints:
    """Return a number for each row, the same for rows that are equal, (n,)."""
    result = np.empty(table.shape[0], dtype=np.uint64)
    for first in range(0, table.shape[0], _BLOCK):
        block = slice(first, first + _BLOCK)
        # modulo 2^64: sums of odd multiples, so that a column can be taken off again
        result[block] = _mixed(table[block]) @ _odd(table.shape[1])
    return result


def repeats_of(table: NDArray[Any], labelled: Prints | None = None) -> Repeats | None:
    """Return which rows count, where some are copies: of each other, or of rows with the fingerprints `labelled`.

    Of a table in which every row stands several times each counts once. Else equal rows are copies if there are more
    pairs of them than of rows that agree in all columns but one: values that are rounded coarsely, or have few levels,
    make more of the second kind. Nor are they copies where the levels of all columns have not room for so many rows.
    Rows that equal labelled ones no oftener than those equal each other are what comes again: they stay.
    """
    prints = fingerprints(table)
    known = np.zeros(0, dtype=np.uint64) if labelled is None else np.sort(labelled)
    if _pairs(prints) == 0.0 and not np.isin(prints, known).any():
        return None

    number, times = _numbered(prints)
    kept = np.flatnonzero(number < times // _times_all(number, times))
    own = prints[kept]
    if _pairs(own) > 0.0 and _beyond_chance(_of_rows(table, kept), own, _pairs(own), 1.0):
        kept = kept[_numbered(own)[0] == 0]

    unlike = np.ones(kept.size, dtype=bool)
    if known.size > 0 and _oftener_than_each_other(prints, known):
        unlike = _unlike_labelled(_of_rows(table, kept), prints[kept], np.unique(known))
    counted = kept[unlike] if unlike.any() else kept  # nothing but labelled rows: they are what there is
    if counted.size == prints.size:
        return None
    return Repeats(counted, prints.size - kept.size, kept.size - counted.size)


def _of_rows(table: NDArray[Any], rows: IntArray) -> NDArray[Any]:
    """Return some rows of a table; of all of them no second copy."""
    return table if rows.size == table.shape[0] else table[rows]


def _oftener_than_each_other(prints: Prints, known: Prints) -> bool:
    """Return whether rows equal labelled ones oftener than labelled rows equal each other.

    Of values that come again some stand in both tables. Were they left out of one, that would hold the rare ones.
    """
    # a row that comes as labelled rows do equals one of them as likely as each of them another. Twice as often is more
    # than chance; models of old know different labelled rows only
    number, times = _numbered(known)
    again = times > _times_all(number, times)
    return bool(np.isin(prints, known).sum() * known.size > 2.0 * again.sum() * prints.size)


def _unlike_labelled(table: NDArray[Any], prints: Prints, known: Prints) -> BoolArray:
    """Return which rows are no copies of labelled ones."""
    equal = np.searchsorted(known, prints, "right") - np.searchsorted(known, prints, "left")
    # pairs of a row and a labelled one, beside pairs of rows: as many times more as there are of them
    more = 2.0 * known.size / max(prints.size - 1, 1)
    if equal.any() and _beyond_chance(table, prints, float(equal.sum()), more):
        return np.asarray(equal == 0)
    return np.ones(prints.size, dtype=bool)


def _numbered(prints: Prints) -> tuple[IntArray, IntArray]:
    """Return for each row how many equal ones stand before it, and how many there are with it."""
    order = np.argsort(prints, kind="stable")
    starts = np.flatnonzero(np.append(True, prints[order][1:] != prints[order][:-1]))
    sizes = np.diff(np.append(starts, prints.size))
    number, times = np.empty(prints.size, dtype=np.int64), np.empty(prints.size, dtype=np.int64)
    number[order] = np.arange(prints.size) - np.repeat(starts, sizes)
    times[order] = np.repeat(sizes, sizes)
    return number, times


def _times_all(number: IntArray, times: IntArray) -> int:
    """Return how many times the whole table stands there: each of its rows a multiple of it.

    By chance all of m different rows would stand there an even number of times in one of 2^m tables.
    """
    sizes = times[number == 0]
    return int(np.gcd.reduce(sizes)) if sizes.size > log(times.size) / log(2.0) else 1


def _beyond_chance(table: NDArray[Any], prints: Prints, equal: float, more: float) -> bool:
    """Return whether so many pairs of rows are equal that it is no chance.

    `more` is the number of pairs among which they were found, over that of the pairs of the table's rows.
    """
    n, near = prints.size, 0.0
    if _log_room(np.asarray(table, dtype=np.float64)) <= lgamma(n + 1.0) - lgamma(max(n - 1.0, 1.0)) - log(2.0):
        return False
    same = _pairs(prints)
    odd = _odd(table.shape[1])
    for j in range(table.shape[1]):
        near += more * (_pairs(prints - _mixed(table[:, [j]])[:, 0] * odd[j]) - same)
        if near >= equal:
            return False
    return True


def _log_room(table: FloatArray) -> float:
    """Return the logarithm of the number of different rows that the levels of all columns have room for."""
    reach, step = np.ptp(table, axis=0), rounding_steps(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = np.where(reach > 0.0, reach / step + 1.0, 1.0)
    return float(np.log(levels).sum())


def _pairs(prints: Prints) -> float:
    """Return the number of pairs of equal ones."""
    ordered = np.sort(prints)
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    sizes = np.diff(np.concatenate([[0], changes, [ordered.size]])).astype(np.float64)
    return float((sizes * (sizes - 1.0)).sum() / 2.0)


def _mixed(values: NDArray[Any]) -> Prints:
    """Return the bits of values, such that those of whole numbers reach down to the last ones; of two zeros one."""
    bits = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    raw = bits.view(np.uint64)
    return np.asarray(raw ^ (raw >> _SHIFT))


def _odd(columns: int) -> Prints:
    """Return one odd number per column, always the same."""
    return np.random.default_rng(0).integers(0, 2**63, columns, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
