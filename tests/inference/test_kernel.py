"""The kernel: statistics of blocks add up, labels are a special case, shares sum to one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import pulls, random_problem, score_rows

from vbrand.inference.kernel import statistics_of_labels, sweep
from vbrand.inference.rows import Rows
from vbrand.model.kernels import Gaussian, Student
from vbrand.model.posterior import RowScores, scores_of


def close(first, second):
    for name in ("counts", "weights", "sums", "squares", "evidence"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-10, atol=1e-10)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 39))
def test_statistics_of_two_blocks_add_up(seed, cut):
    rows, _, posterior = random_problem(seed)
    scores = scores_of(posterior)
    first, second, both = (sweep(Rows.plain(part), scores).statistics for part in (rows[:cut], rows[cut:], rows))
    close(first + second, both)


def test_statistics_agree_with_a_plain_loop():
    rows, _, posterior = random_problem(1, n=5_000)  # more than one block
    scores = scores_of(posterior)
    total = sweep(Rows.plain(rows), scores).statistics
    log_shares = score_rows(Rows.plain(rows), scores)
    evidence = np.logaddexp.reduce(log_shares, axis=1)
    shares = np.exp(log_shares - evidence[:, None])
    for k in range(5):
        deviation = rows - scores.centre[k]
        np.testing.assert_allclose(total.sums[k], shares[:, k] @ deviation, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(total.squares[k], (shares[:, k] * deviation.T) @ deviation, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(total.counts, shares.sum(axis=0))
    assert total.counts.sum() == pytest.approx(5_000)
    assert total.evidence == pytest.approx(evidence.sum())


def test_statistics_about_different_origins_do_not_add():
    rows, _, posterior = random_problem(1)
    rows = Rows.plain(rows)
    first = sweep(rows, scores_of(posterior)).statistics
    with pytest.raises(ValueError, match="different origins"):
        _ = first + statistics_of_labels(rows, np.zeros(40, int), 5)


def dense(rows, scores):
    """Return counts, sums, squares and evidence by plain arrays, nothing left out."""
    score = score_rows(Rows.plain(rows), scores)
    evidence = np.logaddexp.reduce(score, axis=1)
    shares = np.exp(score - evidence[:, None])
    deviation = rows[:, None] - scores.centre  # (n, K, p)
    weights = shares * pulls(Rows.plain(rows), scores)
    sums = np.einsum("nk,nki->ki", weights, deviation)
    squares = np.einsum("nk,nki,nkj->kij", weights, deviation, deviation)
    return shares.sum(axis=0), weights.sum(axis=0), sums, squares, evidence.sum(), score.argmax(axis=1)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6, 7, 9, 10, 15, 16, 17, 24, 33])
@pytest.mark.parametrize("apart", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("heavy", [False, True])
def test_pruned_sweep_equals_the_dense_one(p, apart, heavy):
    rng = np.random.default_rng(p)
    k, n = 7, 1500
    centres = apart * rng.normal(size=(k, p))
    rows = centres[rng.integers(0, k, n)] + rng.normal(size=(n, p))
    root = np.tril(rng.normal(size=(k, p, p)) * 0.3) + np.eye(p)
    tail = rng.uniform(1.0, 40.0, size=k)
    kind = np.full(k, Student.code if heavy else Gaussian.code)
    kind[0] = Gaussian.code  # one Gaussian among them
    scores = RowScores(centres, root, rng.normal(size=k), kind, tail, 0.5 * (tail + p))
    counts, weights, sums, squares, evidence, best = dense(rows, scores)
    for winners in (None, best.astype(np.int32), rng.integers(0, k, n).astype(np.int32)):
        swept = sweep(Rows.plain(rows), scores, winners)
        assert swept.statistics.evidence == pytest.approx(evidence, rel=1e-12)
        np.testing.assert_allclose(swept.statistics.counts, counts, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(swept.statistics.weights, weights, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(swept.statistics.sums, sums, rtol=1e-10, atol=1e-9)
        np.testing.assert_allclose(swept.statistics.squares, squares, rtol=1e-10, atol=1e-9)
        np.testing.assert_array_equal(swept.winners, best)


def test_neither_threads_nor_layout_nor_memory_of_winners_changes_the_statistics():
    rows, _, posterior = random_problem(5, n=40_000)
    scores = scores_of(posterior)
    plain = sweep(Rows.plain(rows), scores)
    again = sweep(Rows.plain(np.asfortranarray(rows)), scores, plain.winners, threads=3)
    once = sweep(Rows.plain(rows), scores, plain.winners, threads=1)
    for name in ("counts", "sums", "squares", "evidence"):
        np.testing.assert_array_equal(getattr(again.statistics, name), getattr(once.statistics, name))
    close(plain.statistics, once.statistics)


def test_float32_rows_are_swept_in_working_coordinates():
    rng = np.random.default_rng(0)
    table = (rng.normal(size=(500, 3)) * [1.0, 10.0, 100.0] + 5.0).astype(np.float32)
    centre, unit = np.array([5.0, 5.0, 5.0]), np.array([1.0, 0.1, 0.01])
    _, _, posterior = random_problem(2)
    scores = scores_of(posterior)
    close(
        sweep(Rows(table, centre, unit), scores).statistics,
        sweep(Rows.plain((table.astype(float) - centre) * unit), scores).statistics,
    )


def test_a_far_and_narrow_group_keeps_its_scatter():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(200, 2)), 1e6 + 1e-3 * rng.normal(size=(200, 2))])
    found = statistics_of_labels(Rows.plain(rows), np.repeat([0, 1], 200), 2)
    np.testing.assert_allclose(found.squares[1] / 199, np.cov(rows[200:].T), rtol=1e-6)
    none = np.zeros(2)
    kind = np.full(2, Gaussian.code)
    scores = RowScores(found.origin, np.stack([np.eye(2), 1e3 * np.eye(2)]), none, kind, none, none)
    swept = sweep(Rows.plain(rows), scores).statistics
    np.testing.assert_allclose(swept.squares[1] / 199, np.cov(rows[200:].T), rtol=1e-6)


@pytest.mark.parametrize("mixed", [False, True])
def test_rows_that_come_from_far_away_keep_their_scatter(mixed):
    """Deviations are taken from the mean of the component that won a row last: here the wrong one, 1e6 away."""
    rng = np.random.default_rng(0)
    rows = np.vstack([1e-2 * rng.normal(size=(200, 2)), 1e6 + 1e-2 * rng.normal(size=(200, 2))])
    origin, none = np.array([[0.0, 0.0], [1e6, 1e6]]), np.zeros(2)
    scores = RowScores(origin, np.stack([1e2 * np.eye(2)] * 2), none, np.full(2, Gaussian.code), none, none)
    wrong = rng.integers(0, 2, 400) if mixed else np.repeat([1, 0], 200)
    swept = sweep(Rows.plain(rows), scores, wrong.astype(np.int32))
    np.testing.assert_array_equal(swept.winners, np.repeat([0, 1], 200))
    for k, own in enumerate([rows[:200], rows[200:] - 1e6]):
        np.testing.assert_allclose(swept.statistics.squares[k], own.T @ own, rtol=1e-6, atol=1e-6)
