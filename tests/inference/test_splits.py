"""Guesses at where another class may hide among the rows of one component."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.inference.splits import guesses
from vbrand.inference.tuning import TUNED


def two_clouds(seed=0, p=3, n=60):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(0.0, 1.0, (n, p)), rng.normal(9.0, 1.0, (n, p))])


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(30, 80), st.integers(1, 10))
def test_every_guess_labels_all_rows_and_makes_two_pieces_or_more(seed, n, p):
    rows = np.random.default_rng(seed).normal(size=(n, p))
    found = list(guesses(rows))
    assert found
    for labels in found:
        assert labels.shape == (n,)
        assert labels.min() >= 0
        assert np.unique(labels).size >= 2


def same_cut(first, second):
    """Return whether two labelings are one partition."""
    pairs = np.unique(np.stack([first, second]), axis=1).shape[1]
    return pairs == np.unique(first).size == np.unique(second).size


def test_guesses_do_not_depend_on_the_order_of_rows():
    """But for ties: white rows have no longest axis, so rounding chooses where k-means begins among them."""
    rows = two_clouds()
    order = np.random.default_rng(1).permutation(len(rows))
    both = list(zip(guesses(rows), guesses(rows[order]), strict=True))
    # k-means of the rows and of standard ones, and the densest places, come before those of white rows
    before = 2 * (TUNED.most_blobs - 1) + 2 * len(TUNED.cores)
    white = range(before, before + TUNED.most_blobs)
    assert all(same_cut(here[order], there) for i, (here, there) in enumerate(both) if i not in white)


def test_guesses_are_the_same_every_time():
    for first, second in zip(guesses(two_clouds()), guesses(two_clouds()), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("p", [1, 2, 6])
def test_two_clouds_apart_are_guessed(p):
    truth = np.repeat([0, 1], 60)
    assert any(same_cut(labels, truth) for labels in guesses(two_clouds(p=p)))


def test_a_shell_around_a_core_is_guessed():
    """Most rows within, few around them: no plane cuts these apart."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(40, 3))
    shell = 12.0 * direction / np.linalg.norm(direction, axis=1)[:, None]
    rows = np.vstack([rng.normal(size=(160, 3)), shell])
    truth = np.repeat([0, 1], [160, 40])
    assert any((labels == truth).mean() > 0.95 for labels in guesses(rows) if labels.max() == 1)


def test_rows_that_are_all_equal_are_no_error():
    for labels in guesses(np.ones((10, 4))):
        assert labels.shape == (10,)
