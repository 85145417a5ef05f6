"""The parts of the search for a partition: curves, numbers of clusters, items, runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vbrand.partition import _search
from vbrand.partition._search import (
    agreement,
    best_of_run,
    by_size,
    loss_curve,
    mean_loss,
    problem_of,
    renumbered,
)
from vbrand.partition.points import best_partition

LOSSES = ["vi", "binder"]
some_draws = st.tuples(st.integers(1, 5), st.integers(1, 9)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 6))
)
quick = settings(deadline=None, max_examples=60)  # the first example compiles


def together(labels):
    return labels[..., :, None] == labels[..., None, :]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_the_curve_of_a_loss_starts_at_zero_and_is_convex(n, loss):
    curve = loss_curve(n, loss)
    assert curve.shape == (n + 1,)
    assert curve[0] == 0.0
    assert (np.diff(curve, 2) >= -1e-15).all()


@quick
@given(some_draws, st.sampled_from([0, 200, 10**9]))
def test_renumbering_keeps_who_lies_with_whom_and_counts_by_first_appearance(draws, shift):
    codes = renumbered(draws + shift)
    np.testing.assert_array_equal(together(codes), together(draws))
    for code in codes.tolist():
        assert list(dict.fromkeys(code)) == list(range(max(code) + 1))


@given(arrays(np.int64, st.integers(1, 30), elements=st.integers(0, 6)))
def test_groups_by_size_are_the_same_groups_and_never_grow(labels):
    ranked = by_size(labels)
    np.testing.assert_array_equal(together(ranked), together(labels))
    sizes = np.bincount(ranked)
    assert (np.diff(sizes) <= 0).all()
    first = np.array([np.flatnonzero(ranked == k)[0] for k in range(sizes.size)])
    assert (np.diff(first)[np.diff(sizes) == 0] > 0).all()


@quick
@given(some_draws)
def test_agreement_is_the_share_of_equal_columns(draws):
    expected = (draws[:, None] == draws[None]).mean(axis=2)
    np.testing.assert_allclose(agreement(draws, draws), expected, rtol=1e-15)


@quick
@given(some_draws, st.sampled_from(LOSSES))
def test_rows_that_always_lie_together_are_one_item(draws, loss):
    codes = renumbered(draws)
    problem = problem_of(codes, loss_curve(codes.shape[1], loss), None)
    np.testing.assert_array_equal(together(problem.item), together(codes).all(axis=0))
    assert problem.weight.sum() == codes.shape[1]
    assert problem.cells == (codes.max(axis=1).astype(int) + 1).sum()


@quick
@given(some_draws, st.sampled_from(LOSSES), st.sampled_from([0, 1]))
def test_a_run_never_ends_above_where_it_began(draws, loss, run):
    """The first begins at the draw that is nearest to all others, the second at one group."""
    codes = renumbered(draws)
    curve = loss_curve(codes.shape[1], loss)
    problem = problem_of(codes, curve, None)
    start = np.zeros(codes.shape[1], dtype=np.int64) if run else by_size(problem.medoid[problem.item])
    found = by_size(best_of_run(problem, run, np.random.default_rng(0)))
    assert mean_loss(found, codes, curve) <= mean_loss(start, codes, curve) + 1e-12


def test_more_clusters_than_groups_are_allocated_anew(monkeypatch):
    monkeypatch.setattr(_search, "_MAX_CELLS", 1)  # memory for two groups only
    rng = np.random.default_rng(0)
    draws = np.stack([rng.permutation(100)[np.repeat(np.arange(4), 10)] for _ in range(20)])
    found = best_partition(draws, random_state=0)
    assert set(found.labels) == {0, 1}
