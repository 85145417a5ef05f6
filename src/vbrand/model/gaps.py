"""Rows with missing cells: what to expect in them, given a component and the cells that there are.

With P the expected precision of a component in blocks of observed (o) and missing (m) columns, the missing deviations
have mean -P_mm^-1 P_mo e_o and covariance P_mm^-1 / tau. Nothing is imputed: both go into the statistics, and the score
of a row is that of its observed cells.
"""

import math
from dataclasses import dataclass

import numpy as np

from vbrand.compiling import inner, jit, numbers
from vbrand.types import FloatArray, IntArray

# share of its diagonal below which a pivot of P_mm is rounding
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Spread:
    """Covariances of missing cells, entry by entry."""

    row: IntArray  # (e,) the row
    cell: IntArray  # (e,) a p + b for the columns a and b
    value: FloatArray  # (e,)


def absent_cells(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """Return where the missing cells (NaN) of each row begin, (n + 1,), and their columns, row after row."""
    row, column = np.nonzero(np.isnan(rows))
    return np.searchsorted(row, np.arange(rows.shape[0] + 1)), column


@inner
def decompose(precision, k, columns, begin, m, lower):  # type: ignore[no-untyped-def]
    """Store L of P_mm = L L' for the m missing columns from `begin` on, and return log |P_mm|."""
    product, total = 1.0, 0.0
    for a in range(m):
        i = columns[begin + a]
        for b in range(a):
            rest = precision[k, i, columns[begin + b]]
            for c in range(b):
                rest -= lower[a, c] * lower[b, c]
            lower[a, b] = rest / lower[b, b]
        rest, least = precision[k, i, i], _ROUNDING * precision[k, i, i]
        for c in range(a):
            rest -= lower[a, c] * lower[a, c]
        rest = rest if rest > least else least
        lower[a, a] = math.sqrt(rest)
        product *= rest
        if not 1e-100 < product < 1e100:  # one logarithm for many
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@inner
def forward(lower, m, right):  # type: ignore[no-untyped-def]
    """Overwrite r by L^-1 r, and return its square."""
    total = 0.0
    for a in range(m):
        rest = right[a]
        for c in range(a):
            rest -= lower[a, c] * right[c]
        right[a] = rest / lower[a, a]
        total += right[a] * right[a]
    return total


@inner
def backward(lower, m, right):  # type: ignore[no-untyped-def]
    """Overwrite r by L'^-1 r."""
    for a in range(m - 1, -1, -1):
        rest = right[a]
        for b in range(a + 1, m):
            rest -= lower[b, a] * right[b]
        right[a] = rest / lower[a, a]


@inner
def expect(precision, k, columns, begin, m, deviation, lower, right):  # type: ignore[no-untyped-def]
    """Set the m missing deviations, zero before, to their expectation given the others; `lower` is L of P_mm."""
    for a in range(m):
        i, pull = columns[begin + a], 0.0
        for j in range(deviation.size):
            pull -= precision[k, i, j] * deviation[j]
        right[a] = pull
    # (5.21)  e_m = -P_mm^-1 P_mo e_o
    forward(lower, m, right)
    backward(lower, m, right)
    for a in range(m):
        deviation[columns[begin + a]] = right[a]


@inner
def invert_lower(lower, m, inverse):  # type: ignore[no-untyped-def]
    """Store (L L')^-1, m x m, lower triangle."""
    for a in range(m):
        for b in range(a + 1):
            rest = 1.0 if a == b else 0.0
            for c in range(b, a):
                rest -= lower[a, c] * inverse[c, b]
            inverse[a, b] = rest / lower[a, a]
    # L^-1 so far; then L'^-1 L^-1, row after row, of which only those from a on are needed
    for a in range(m):
        for b in range(a + 1):
            rest = 0.0
            for c in range(a, m):
                rest += inverse[c, a] * inverse[c, b]
            inverse[a, b] = rest


@inner
def hidden_loss(around, k, columns, begin, m, inverse):  # type: ignore[no-untyped-def]
    """Return by how much less rounding hides of a row because cells are missing: tr(P D) - tr(P^o D_oo).

    `around` is P D P of each component, `inverse` is P_mm^-1.
    """
    # (5.23)  P^o = P_oo - P_om P_mm^-1 P_mo,  so that the loss is tr(P_mm^-1 (P D P)_mm)
    loss = 0.0
    for a in range(m):
        i = columns[begin + a]
        loss += inverse[a, a] * around[k, i, i]
        for b in range(a):
            loss += 2.0 * inverse[a, b] * around[k, i, columns[begin + b]]
    return loss


@inner
def add_hidden(around, k, columns, begin, m, inverse, weight, square, right):  # type: ignore[no-untyped-def]
    """Add the last part of (5.25), what rounding of the observed cells hides of the missing ones (lower triangle)."""
    # (5.25)  C (P D P)_mm C,  C = P_mm^-1
    for b in range(m):
        for c in range(m):
            right[c] = 0.0
            for d in range(m):
                right[c] += around[k, columns[begin + c], columns[begin + d]] * inverse[d, b]
        for a in range(b, m):
            total = 0.0
            for c in range(m):
                total += inverse[a, c] * right[c]
            square[columns[begin + a], columns[begin + b]] += weight * total


@inner
def deviate(rows, i, mean, columns, begin, m, deviation):  # type: ignore[no-untyped-def]
    """Store how far the cells of a row lie from the mean, (1, p); 0 where they are missing."""
    for j in range(mean.shape[1]):
        deviation[j] = rows[i, j] - mean[0, j]
    for a in range(m):
        deviation[columns[begin + a]] = 0.0


@jit
def expect_all(rows, first, columns, mean, precision, spread, logs, lower, inverse):  # type: ignore[no-untyped-def]
    """Set the missing cells of rows to their expectation given one component, (1, p) and (1, p, p).

    Their covariances, m x m each, and log |P_mm| are stored, too; `lower` and `inverse` are room for squares.
    """
    n, p = rows.shape
    right, deviation, at = numbers(p), numbers(p), 0
    for i in range(n):
        begin, m = first[i], first[i + 1] - first[i]
        deviate(rows, i, mean, columns, begin, m, deviation)
        logs[i] = decompose(precision, 0, columns, begin, m, lower)
        expect(precision, 0, columns, begin, m, deviation, lower, right)
        invert_lower(lower, m, inverse)
        for a in range(m):
            column = columns[begin + a]
            rows[i, column] = mean[0, column] + deviation[column]
            for b in range(m if spread.size else 0):
                spread[at] = inverse[a, b] if b <= a else inverse[b, a]
                at += 1


@jit
def draw_all(rows, first, columns, mean, precision, noise, lower):  # type: ignore[no-untyped-def]
    """Draw the missing cells of rows given the others and one component, (1, p) and (1, p, p), from normal numbers."""
    n, p = rows.shape
    right, deviation = numbers(p), numbers(p)
    for i in range(n):
        begin, m = first[i], first[i + 1] - first[i]
        deviate(rows, i, mean, columns, begin, m, deviation)
        decompose(precision, 0, columns, begin, m, lower)
        expect(precision, 0, columns, begin, m, deviation, lower, right)
        for a in range(m):
            right[a] = noise[begin + a]
        backward(lower, m, right)
        # (10.15)  y_m = mu_m - P_mm^-1 P_mo (y_o - mu_o) + L'^-1 z,  P_mm = L L'
        for a in range(m):
            column = columns[begin + a]
            rows[i, column] = mean[0, column] + deviation[column] + right[a]


def completed(rows: FloatArray, mean: FloatArray, precision: FloatArray) -> tuple[FloatArray, Spread]:
    """Return rows with what is expected in their missing cells, given one component, and how it spreads.

    `precision` is the expected one, (p, p).
    """
    first, columns = absent_cells(rows)
    entries = np.repeat(np.arange(rows.shape[0]), np.square(np.diff(first)))
    own = [columns[a:b] for a, b in zip(first[:-1].tolist(), first[1:].tolist(), strict=True) if b > a]
    cells = [np.add.outer(each * rows.shape[1], each).ravel() for each in own]
    filled, value, logs = np.array(rows, order="C"), np.empty(entries.size), np.empty(rows.shape[0])
    believed, room = (np.array(mean)[None], np.array(precision, order="C")[None]), np.empty((2, *precision.shape))
    expect_all(filled, first, columns, *believed, value, logs, *room)
    return filled, Spread(entries, np.concatenate([np.empty(0, np.int64), *cells]), value)


def expected(rows: FloatArray, mean: FloatArray, precision: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rows with what is expected in their missing cells, given one component, and log |P_mm| of each.

    The squared distance of a row that is filled in so is that of its observed cells.
    """
    filled, logs = np.array(rows, order="C"), np.empty(rows.shape[0])
    absent = absent_cells(rows)
    believed, room = (np.array(mean)[None], np.array(precision, order="C")[None]), np.empty((2, *precision.shape))
    expect_all(filled, *absent, *believed, np.empty(0), logs, *room)
    return filled, logs


def by_moments(rows: FloatArray, component: IntArray, components: int) -> tuple[FloatArray, Spread]:
    """Return rows with the mean of their component in missing cells, and the variance there: a place to start from.

    A column of which a component has less than two cells takes moments of all rows.
    """
    p = rows.shape[1]
    filled, here = np.array(rows, order="C"), np.isnan(rows)
    variances = np.ones((components, p))
    for j in np.flatnonzero(here.any(axis=0)).tolist():
        value, of = rows[~here[:, j], j], component[~here[:, j]]
        count = np.bincount(of, minlength=components)
        mean, all_mean = np.bincount(of, value, minlength=components) / np.maximum(count, 1), _mean(value, 0.0)
        mean = np.where(count > 0, mean, all_mean)
        square = np.bincount(of, np.square(value - mean[of]), minlength=components) / np.maximum(count, 1)
        variances[:, j] = np.where(count > 1, square, _mean(np.square(value - all_mean), 1.0))
        filled[here[:, j], j] = mean[component[here[:, j]]]
    row, column = np.nonzero(here)
    return filled, Spread(row, column * (p + 1), variances[component[row], column])


def _mean(values: FloatArray, otherwise: float) -> float:
    return float(values.mean()) if values.size else otherwise
