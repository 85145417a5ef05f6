"""The kernel: statistics of blocks add up, labels are a special case, shares sum to one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import random_problem

from vbrand.inference.kernel import score_rows, statistics_of_labels, sweep
from vbrand.model.posterior import scores_of


def close(first, second):
    for name in ("counts", "weights", "sums", "squares", "evidence"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-10, atol=1e-10)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 39))
def test_statistics_of_two_blocks_add_up(seed, cut):
    rows, _, posterior = random_problem(seed)
    scores = scores_of(posterior)
    close(sweep(rows[:cut], scores) + sweep(rows[cut:], scores), sweep(rows, scores))


def test_statistics_agree_with_a_plain_loop():
    rows, _, posterior = random_problem(1, n=5_000)  # more than one block
    scores = scores_of(posterior)
    total = sweep(rows, scores)
    log_shares = score_rows(rows, scores)
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
    first = sweep(rows, scores_of(posterior))
    with pytest.raises(ValueError, match="different origins"):
        _ = first + statistics_of_labels(rows, np.zeros(40, int), 5)
