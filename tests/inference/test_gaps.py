"""Rows with missing cells: scores and statistics by another road, and a bound that never falls."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import random_problem
from scipy.special import logsumexp

from vbrand.inference.cavi import ascend
from vbrand.inference.gapped import gap_scores, gap_work
from vbrand.inference.gaps import sweep_gaps
from vbrand.inference.kernel import statistics_of_labels, sweep
from vbrand.inference.rows import Rows
from vbrand.model.components import expected_log_precision
from vbrand.model.kernels import Gaussian, Student
from vbrand.model.posterior import Posterior, scores_of, updated
from vbrand.model.weights import expected_log_weights

KERNELS = (Gaussian(), Student(4.0))


def blanked(rows, seed, share=0.3):
    """Return rows with cells missing at random, one at least left in each."""
    rng = np.random.default_rng(seed)
    holes = rng.random(rows.shape) < share
    holes[np.arange(len(rows)), rng.integers(0, rows.shape[1], len(rows))] = False
    return np.where(holes, np.nan, rows)


def by_blocks(row, posterior, k):
    """Return score, E[tau], completed deviation, and covariance (with what rounding hides) of a row in component k."""
    parts = posterior.components
    p, S = parts.mean.shape[1], parts.scale[k]
    u, noise = (1.0 if parts.fixed[k] else parts.dof[k]), np.zeros((p, p)) if parts.noise is None else parts.noise
    o, m = ~np.isnan(row), np.isnan(row)
    inside = np.linalg.inv(S[np.ix_(o, o)])
    deviation = (row - parts.mean[k])[o]
    delta = u * deviation @ inside @ deviation + p / parts.precision[k] + u * np.trace(inside @ noise[np.ix_(o, o)])
    missing = u * np.linalg.inv(S)[np.ix_(m, m)]
    own, _, _ = parts.kernels[k].score(np.array([delta]), int(o.sum()))
    score = own[0] + 0.5 * (expected_log_precision(parts)[k] - o.sum() * np.log(2 * np.pi))
    score += expected_log_weights(posterior.weights)[k] - 0.5 * np.linalg.slogdet(missing)[1]
    tail = getattr(parts.kernels[k], "dof", np.inf)
    pull = 1.0 if np.isinf(tail) else (tail + o.sum()) / (tail + delta)
    spread = np.zeros((p, p))
    spread[np.ix_(m, m)] = np.linalg.inv(missing)
    filling = np.zeros((p, o.sum()))
    filling[o], filling[m] = np.eye(o.sum()), S[np.ix_(m, o)] @ inside
    hidden = filling @ noise[np.ix_(o, o)] @ filling.T - noise
    return score, pull, filling @ deviation, spread + pull * hidden


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("noise", [None, [0.0, 0.2, 0.05, 0.0, 0.1]])
def test_statistics_and_evidence_agree_with_blocks_of_the_scatter(kernel, fixed, noise):
    rows, _, posterior = random_problem(3, n=60, p=5, kernel=kernel, fixed=fixed)
    rows = blanked(rows, 0)
    parts = replace(posterior.components, noise=None if noise is None else np.diag(noise))
    posterior = Posterior(parts, posterior.weights)
    found = sweep(Rows.plain(rows), scores_of(posterior))

    each = [[by_blocks(row, posterior, k) for k in range(5)] for row in rows]
    score = np.array([[one[0] for one in line] for line in each])
    evidence = logsumexp(score, axis=1)
    phi = np.exp(score - evidence[:, None])
    pull, deviation = (np.array([[one[i] for one in line] for line in each]) for i in (1, 2))
    spread = np.array([[one[3] for one in line] for line in each])
    statistics = found.statistics
    assert statistics.evidence == pytest.approx(evidence.sum(), rel=1e-12)
    np.testing.assert_allclose(statistics.counts, phi.sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(statistics.weights, (phi * pull).sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(statistics.sums, np.einsum("nk,nki->ki", phi * pull, deviation), rtol=1e-8, atol=1e-9)
    squares = np.einsum("nk,nki,nkj->kij", phi * pull, deviation, deviation) + np.einsum("nk,nkij->kij", phi, spread)
    np.testing.assert_allclose(statistics.squares, squares, rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(found.winners, score.argmax(axis=1))


def test_components_that_are_left_out_have_no_share():
    rows, _, posterior = random_problem(4, n=200, p=6, kernel=Gaussian())
    parts = replace(posterior.components, mean=posterior.components.mean * 30.0)
    posterior = Posterior(parts, posterior.weights)
    rows = blanked(rows + parts.mean[np.arange(200) % 5] * np.linspace(0.5, 1.5, 200)[:, None], 1)
    found = sweep(Rows.plain(rows), scores_of(posterior))
    score = np.array([[by_blocks(row, posterior, k)[0] for k in range(5)] for row in rows])
    assert found.statistics.evidence == pytest.approx(logsumexp(score, axis=1).sum(), rel=1e-12)
    np.testing.assert_array_equal(found.winners, score.argmax(axis=1))


def test_a_score_is_the_expected_log_density_with_missing_cells_integrated_out():
    """(5.22) by draws of mean and scatter: exp E log of the joint density, integrated over the missing cell by hand."""
    rows, _, posterior = random_problem(5, n=3, p=2)
    row = np.array([rows[0, 0], np.nan])
    scores = scores_of(posterior)
    grid = np.linspace(-60.0, 60.0, 24_001)
    complete = np.column_stack([np.full(grid.size, row[0]), grid])
    for k in range(5):
        distance = np.square((complete - scores.centre[k]) @ scores.root[k].T).sum(axis=1)
        log_joint = scores.constant[k] - 0.5 * distance
        integral = logsumexp(log_joint) + np.log(grid[1] - grid[0])
        assert by_blocks(row, posterior, k)[0] == pytest.approx(integral, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0.05, 0.8), st.sampled_from(KERNELS), st.booleans())
def test_the_bound_never_falls(seed, p, share, kernel, rounded):
    rows, prior, _ = random_problem(seed, n=50, p=p, kernel=kernel)
    if rounded:
        rows = np.round(rows, 1)
        prior = replace(prior, components=replace(prior.components, noise=np.eye(p) * 0.01 / 12.0))
    rows = Rows.plain(blanked(rows, seed, share))
    labels = np.random.default_rng(seed).integers(0, 5, len(rows))
    found = ascend(rows, prior, updated(prior, statistics_of_labels(rows, labels, 5)), max_iter=60)
    assert np.isfinite(found.trace).all()
    assert (np.diff(found.trace) >= -1e-9 * np.abs(found.trace[:-1])).all()
    np.testing.assert_allclose(found.statistics.counts.sum(), len(rows))


@pytest.mark.parametrize("threads", [1, 2])
def test_complete_rows_are_swept_as_ever_and_order_and_threads_do_not_matter(threads):
    rows, _, posterior = random_problem(1, n=3_000, p=4)
    scores = scores_of(posterior)
    gone = np.concatenate([rows[:2_000], blanked(rows[2_000:], 1, 0.4), np.full((5, 4), np.nan)])
    found = sweep(Rows.plain(gone), scores, threads=threads)
    turned = sweep(Rows.plain(gone[::-1].copy()), scores, threads=threads)
    np.testing.assert_allclose(found.statistics.squares, turned.statistics.squares, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(found.winners[:3_000], turned.winners[::-1][:3_000])
    assert found.statistics.counts.sum() == pytest.approx(3_000)  # rows without any cell say nothing
    alone = sweep(Rows.plain(rows[:2_000]), scores)
    np.testing.assert_array_equal(found.winners[:2_000], alone.winners)


def test_memory_can_be_used_again():
    rows, _, posterior = random_problem(2, n=600, p=3)
    at, work = gap_scores(scores_of(posterior)), gap_work(5, 3)
    rows, codes = blanked(rows, 2), np.empty((600, 0), dtype=np.int64)

    def swept():
        statistics = tuple(np.zeros(shape) for shape in ((5,), (5,), (5, 3), (5, 3, 3), (5, 1)))
        return sweep_gaps(rows, codes, at, np.zeros(600, np.int32), statistics, work), statistics

    (first, one), (second, two) = swept(), swept()
    assert first == second
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
