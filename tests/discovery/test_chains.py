"""Draws of all chains: votes and counts add up, however the draws are stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vbrand.discovery.chains import Chains
from vbrand.inference.sampler import Leg


def leg_of(labels, known=2):
    draws, n = labels.shape
    return Leg(
        kept_labels=labels,
        weights=np.full((draws, known + 1), 1.0 / (known + 1)),
        concentration=np.arange(float(draws)),
        known_means=np.zeros((draws, known, 1)),
        last_labels=np.zeros(n, dtype=np.int32),
        last_concentration=1.0,
    )


def chains_of(labels, cut):
    """Return the chains of (chains, draws, n) labels, each in two legs."""
    return Chains([[leg_of(chain[:cut]), leg_of(chain[cut:])] for chain in labels], known=2)


some_labels = st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 7)).flatmap(
    lambda shape: arrays(np.uint8, shape, elements=st.integers(0, 5))
)


@given(some_labels, st.integers(0, 6))
def test_votes_of_a_row_add_up_to_the_draws(labels, cut):
    chains = chains_of(labels, cut)
    count, draws, n = labels.shape
    assert (chains.count, chains.draws) == (count, draws)
    assert chains.votes.shape == (n, 3)
    assert (chains.votes.sum(axis=1) == count * draws).all()
    for k in (0, 1):
        np.testing.assert_array_equal(chains.votes[:, k], (labels == k).sum(axis=(0, 1)))
    assert chains.votes[:, -1].sum() == chains.novel_rows().sum()


@given(some_labels, st.integers(0, 6), st.integers(1, 4))
def test_novel_clusters_are_counted_draw_by_draw(labels, cut, smallest):
    expected = [
        [sum(np.count_nonzero(draw == k) >= smallest for k in range(2, 6)) for draw in chain] for chain in labels
    ]
    np.testing.assert_array_equal(chains_of(labels, cut).novel_groups(smallest), expected)
    np.testing.assert_array_equal(chains_of(labels, cut).novel_rows(), (labels >= 2).sum(axis=2))


@given(some_labels, st.integers(0, 6), st.integers(1, 30))
def test_chosen_draws_ascend_and_are_those_of_the_chains_end_to_end(labels, cut, most):
    chains = chains_of(labels, cut)
    chosen = chains.chosen(most)
    total = labels.shape[0] * labels.shape[1]
    assert (np.diff(chosen) > 0).all()
    assert 1 <= chosen.size <= most
    assert chosen[0] == 0
    if most >= total:
        assert chosen.tolist() == list(range(total))
    np.testing.assert_array_equal(chains.labels(chosen), labels.reshape(total, -1)[chosen])
    np.testing.assert_array_equal(chains.labels(chosen, [0]), labels.reshape(total, -1)[chosen][:, :1])


def test_what_a_draw_has_beside_labels_is_stacked_chain_by_chain():
    chains = chains_of(np.zeros((2, 5, 3), dtype=np.uint8), 2)
    assert chains.weights.shape == (2, 5, 3)
    assert chains.known_means.shape == (2, 5, 2, 1)
    assert chains.concentration.tolist() == [[0.0, 1.0, 0.0, 1.0, 2.0]] * 2


def test_labels_on_disk_are_those_in_memory_and_missed_with_a_sentence(tmp_path):
    labels = np.random.default_rng(0).integers(0, 5, (4, 6)).astype(np.uint8)
    np.save(tmp_path / "labels.npy", labels)
    leg = leg_of(labels)
    stored = Chains([[Leg(tmp_path / "labels.npy", *[getattr(leg, name) for name in list(vars(leg))[1:]])]], known=2)
    np.testing.assert_array_equal(stored.votes, Chains([[leg]], known=2).votes)
    (tmp_path / "labels.npy").unlink()
    with pytest.raises(FileNotFoundError, match="no longer holds the draws of this discovery"):
        stored.novel_rows()
