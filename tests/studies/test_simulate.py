"""The simulated tables: sizes, means and covariances as designed, and dirt as announced."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.studies.simulate import DESIGNS, contaminated, simulate


@pytest.mark.parametrize("study", DESIGNS)
def test_classes_have_the_sizes_of_the_design(study):
    design, data = DESIGNS[study], simulate(study, 0, size=0.5, columns=4)
    assert np.bincount(data.train_classes)[1:].tolist() == [n // 2 for n in design.train_sizes]
    assert np.bincount(data.test_classes)[1:].tolist() == [n // 2 for n in design.test_sizes]
    assert data.known == len(design.train_sizes) < len(design.test_sizes)
    assert data.train.shape[1] == data.test.shape[1] == 4


@pytest.mark.parametrize("study", DESIGNS)
def test_classes_have_the_means_and_covariances_of_the_design(study):
    design, data = DESIGNS[study], simulate(study, 0, size=20.0, columns=3)
    for k in range(len(design.test_sizes)):
        rows = data.test[data.test_classes == k + 1]
        covariance = design.covariance(k, 3)
        error = np.sqrt(np.diag(covariance) / len(rows))
        assert (np.abs(rows.mean(axis=0) - design.mean(k, 3)) < 5.0 * error).all()
        np.testing.assert_allclose(np.cov(rows.T), covariance, atol=0.15 * covariance.max())
        np.linalg.cholesky(covariance)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_seed_is_a_replicate(seed):
    first, again, other = (simulate("ss2_complex", s, size=0.05) for s in (seed, seed, seed + 1))
    np.testing.assert_array_equal(first.test, again.test)
    assert not np.array_equal(first.test, other.test)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_wrong_labels_are_known_classes(seed):
    clean = simulate("ss1", 0, size=0.1)
    dirty = contaminated(clean, seed)
    assert set(dirty.train_classes.tolist()) <= {1, 2, 3}
    np.testing.assert_array_equal(dirty.train[: len(clean.train)], clean.train)


def test_contamination_swaps_a_tenth_and_adds_a_twentieth():
    clean = simulate("ss1", 0)
    dirty = contaminated(clean, 0)
    n = clean.train_classes.size
    assert (dirty.train_classes[:n] != clean.train_classes).sum() == n // 10
    assert dirty.train.shape[0] == n + n // 20
    assert np.linalg.norm(dirty.train[n:], axis=1).min() > 20.0
    assert np.array_equal(dirty.test, clean.test)
