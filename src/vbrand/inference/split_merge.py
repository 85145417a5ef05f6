"""Splits and merges: moves of many rows at once, between which sweeps of single rows hardly ever find a way.

A pair of rows is picked. If they lie together, their component is split in two, one row in each and the others dealt
out one after the other, each to where those before it make it likelier (Dahl 2005); if they lie apart, the two
components are merged. Means, covariances and weights are integrated out, so that what is compared are partitions. A
known component may lose rows to a novel one, and take in all rows of one.
"""

import math
from dataclasses import dataclass

import numpy as np

from vbrand.compiling import numbers
from vbrand.inference.lanes import jit
from vbrand.inference.rows import Rows
from vbrand.inference.tuning import TUNED_SAMPLER, SamplerTuning
from vbrand.model.components import Components
from vbrand.model.levels import codes_of
from vbrand.model.prior import Prior
from vbrand.model.weights import log_split_odds
from vbrand.types import FloatArray, IntArray, Labels


@dataclass(frozen=True)
class Pair:
    """Two components that a move is about: the rows of both, the two that were picked first."""

    rows: IntArray  # (m,) their numbers
    first: int  # component of the first row; a known one stays where it is
    second: int  # component of the second row; equal to the first where a split is proposed


def moves_per_sweep(n: int, p: int, tuning: SamplerTuning = TUNED_SAMPLER) -> int:
    """Return how many moves a sweep is worth: several where they cost next to nothing."""
    cost = (p * p + tuning.beside_columns) * tuning.usual_part * n
    return min(tuning.most_moves, max(1, round(tuning.cheap / cost)))


def reseated(
    rows: Rows,
    prior: Prior,
    labels: Labels,
    concentration: float,
    generator: np.random.Generator,
    tuning: SamplerTuning = TUNED_SAMPLER,
) -> Labels | None:
    """Return the labels after a split or a merge, or None if they stay as they are.

    Novel clusters are numbered from J, all of them hold rows, and a new one gets the next number.
    """
    pair = _picked(rows, prior.known, labels, generator, tuning)
    if pair is None:
        return None

    splits, known = pair.first == pair.second, pair.first < prior.known
    counts = np.bincount(labels, minlength=prior.known)
    # novel rows of the merged partition
    novel = int(counts[prior.known :].sum() - (counts[pair.second] if known and not splits else 0))
    given = np.full(pair.rows.size, -1) if splits else (labels[pair.rows] == pair.second).astype(np.int64)
    given[:2] = 0, 1

    # what rows that have been dealt are added to: alpha_k; alpha_0 + N and gamma + N where a known class is left
    dirichlet = prior.weights.dirichlet
    shares = np.array(
        [dirichlet[pair.first], dirichlet[-1] + novel, concentration + novel] if known else [0.0, -1.0, -1.0]
    )
    own = min(pair.first, prior.known)  # the first component, the second, and both together
    log_choice, logs, seats = _dealt(
        rows.working(pair.rows),
        prior.components,
        np.array([own, prior.known, own]),
        shares,
        given,
        generator.random(pair.rows.size),
    )

    second = int(seats.sum())
    alphas = (float(dirichlet[pair.first]), float(dirichlet[-1])) if known else None
    prior_odds = log_split_odds(seats.size - second, second, concentration, alphas, novel)
    # (10.13)  r = odds x p(rows_a) p(rows_b) / p(rows_a and rows_b) / P(dealt like this)
    log_ratio = prior_odds + logs[0] + logs[1] - logs[2]
    accepted = np.log1p(-generator.random()) < (log_ratio - log_choice if splits else log_choice - log_ratio)
    if not accepted:
        return None
    new = labels.copy()
    new[pair.rows[seats == 1]] = max(counts.size, prior.known) if splits else pair.first
    return new


def _picked(
    rows: Rows, known: int, labels: Labels, generator: np.random.Generator, tuning: SamplerTuning
) -> Pair | None:
    """Return a pair to try, in random order but for the two rows, or None if the pick allows no move.

    Long moves are tried less often. How long one is does not depend on its direction.
    """
    n = labels.size
    i, j = generator.integers(n, size=2).tolist()
    first, second = int(labels[i]), int(labels[j])
    if i == j or (first != second and second < known):
        return None
    members = np.flatnonzero((labels == first) | (labels == second))
    most = max(tuning.largest_part * n, tuning.cheap / (rows.columns * rows.columns + tuning.beside_columns))
    if generator.random() * members.size > most:
        return None
    others = generator.permutation(members[(members != i) & (members != j)])
    return Pair(np.concatenate([[i, j], others]), first, second)


def _dealt(
    rows: FloatArray,
    components: Components,
    three: IntArray,
    shares: FloatArray,
    given: IntArray,
    uniforms: FloatArray,
) -> tuple[float, FloatArray, IntArray]:
    """Return log P(dealt like this), log marginal likelihoods of the two and of both together, and who went where.

    Levels of categories come after the numbers of rows.
    """
    seats, logs, p = given.copy(), np.zeros(3), components.columns
    believed = components.mean[three], components.precision[three], components.dof[three], components.factor[three]
    codes, seen, totals, fixed = (
        np.empty((len(rows), 0), np.int64),
        np.empty((3, 0)),
        np.empty((3, 0)),
        np.zeros(3, bool),
    )
    if components.levels is not None:
        own = components.levels.reordered(three)
        codes, fixed = codes_of(rows[:, p:], own.sizes), own.fixed
        seen, totals = own.counts.copy(), own.by_column(own.counts)
    beside = codes, seen, totals, fixed
    log_choice = _seat(np.ascontiguousarray(rows[:, :p]), *believed, beside, shares, seats, uniforms, logs)
    return log_choice, logs, seats


@jit
def _seat(rows, mean, precision, dof, factor, beside, shares, seats, uniforms, logs):  # type: ignore[no-untyped-def]
    """Seat rows one after the other at the first component (0) or the second (1); the third takes all.

    Seats that are not -1 are given. Returns log of the probability of all choices; the first two rows make none.
    """
    n, p = rows.shape
    codes, seen, totals, fixed = beside
    unit, taken = numbers(p), numbers(2)
    taken[0], taken[1], log_choice = 0.0, 0.0, 0.0

    for i in range(n):
        log_first = _log_predictive(rows[i], mean[0], precision[0], dof[0], factor[0], unit)
        log_second = _log_predictive(rows[i], mean[1], precision[1], dof[1], factor[1], unit)
        logs[2] += _log_predictive(rows[i], mean[2], precision[2], dof[2], factor[2], unit)
        log_first += _log_levels(codes[i], seen[0], totals[0])
        log_second += _log_levels(codes[i], seen[1], totals[1])
        logs[2] += _log_levels(codes[i], seen[2], totals[2])
        if i >= 2:
            # (10.11)  N_a + alpha for the first, N_b (alpha_0 + N + N_b) / (gamma + N + N_b) out of a known class
            odds = math.log(taken[1]) - math.log(shares[0] + taken[0]) + log_second - log_first
            if shares[1] >= 0.0:
                odds += math.log(shares[1] + taken[1]) - math.log(shares[2] + taken[1])
            log_one = -math.log1p(math.exp(-odds)) if odds > 0.0 else odds - math.log1p(math.exp(odds))
            if seats[i] < 0:
                seats[i] = 1 if math.log(1.0 - uniforms[i]) < log_one else 0
            log_choice += log_one if seats[i] == 1 else log_one - odds

        seat = seats[i]
        logs[seat] += log_second if seat == 1 else log_first
        taken[seat] += 1.0
        _add_row(rows[i], mean[seat], precision, dof, factor[seat], seat)
        _add_row(rows[i], mean[2], precision, dof, factor[2], 2)
        for k in (seat, 2):
            if not fixed[k]:
                _add_levels(codes[i], seen[k], totals[k])
    return log_choice


@jit
def _log_levels(codes, seen, totals):  # type: ignore[no-untyped-def]
    """Return the log probability of the levels of a row, given those that were seen."""
    total = 0.0
    for j in range(codes.size):
        if codes[j] < seen.size:
            # (10.18)  sum over columns of log(a + n) - log sum (a + n)
            total += math.log(seen[codes[j]]) - math.log(totals[j])
    return total


@jit
def _add_levels(codes, seen, totals):  # type: ignore[no-untyped-def]
    """Take the levels of a row in."""
    for j in range(codes.size):
        if codes[j] < seen.size:
            seen[codes[j]] += 1.0
            totals[j] += 1.0


@jit
def _log_predictive(row, mean, precision, dof, factor, unit):  # type: ignore[no-untyped-def]
    """Return log t_{u-p+1}(y | m, S (1 + 1 / l) / (u - p + 1)), or log N(y | m, S) where l is infinite."""
    p = row.size
    distance, log_root = 0.0, 0.0
    for i in range(p):
        total = row[i] - mean[i]
        for j in range(i):
            total -= factor[i, j] * unit[j]
        unit[i] = total / factor[i, i]
        distance += unit[i] * unit[i]
        log_root += math.log(factor[i, i])
    if math.isinf(precision):
        return -0.5 * (p * math.log(2.0 * math.pi) + distance) - log_root
    stretch = 1.0 + 1.0 / precision
    constant = math.lgamma(0.5 * (dof + 1.0)) - math.lgamma(0.5 * (dof - p + 1.0))
    constant -= 0.5 * p * math.log(math.pi * stretch) + log_root
    return constant - 0.5 * (dof + 1.0) * math.log1p(distance / stretch)


@jit
def _add_row(row, mean, precision, dof, factor, k):  # type: ignore[no-untyped-def]
    """Take a row in; point masses stay."""
    # (10.12)  l + 1,  u + 1,  m + (y - m) / (l + 1),  S + l / (l + 1) (y - m)(y - m)'
    length = precision[k]
    if math.isinf(length):
        return
    p = row.size

    shift = numbers(p)
    scale = math.sqrt(length / (length + 1.0))
    for i in range(p):
        shift[i] = scale * (row[i] - mean[i])
        mean[i] += (row[i] - mean[i]) / (length + 1.0)
    precision[k] = length + 1.0
    dof[k] += 1.0

    # L L' + x x', column by column
    for j in range(p):
        old = factor[j, j]
        new = math.sqrt(old * old + shift[j] * shift[j])
        cosine, sine = old / new, shift[j] / new
        factor[j, j] = new
        for i in range(j + 1, p):
            below = factor[i, j]
            factor[i, j] = cosine * below + sine * shift[i]
            shift[i] = cosine * shift[i] - sine * below
