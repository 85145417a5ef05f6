"""What a detector keeps for the check, and what follows from its verdict."""

from types import SimpleNamespace

import numpy as np
import pytest

from vbrand import VBrand, load
from vbrand.estimators.checking import strict_threshold


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(0, 1, (n, 2)), rng.normal(9, 1, (n, 2))]), np.repeat(["oat", "rye"], n)


def test_an_even_sample_of_large_classes_is_kept():
    train, labels = rows(1_500)
    witnesses = VBrand(random_state=0).fit(train, labels)._fitted.learned.witnesses
    assert np.bincount(witnesses.member).tolist() == [1_000, 1_000]


def test_more_folds_than_labelled_rows_are_as_many_as_rows():
    train, labels = rows(5)
    unknown = np.vstack([train[::2] + 0.1, train[::3] - 20.0])
    by_rows, by_more = (VBrand(random_state=0, check=k).fit(train, labels).discover(unknown) for k in (10, 10**400))
    assert by_more.check == by_rows.check


def test_a_model_without_rows_says_that_its_answers_are_unchecked(tmp_path):
    train, labels = rows(40)
    detector = VBrand(random_state=0).fit(train, labels)
    unknown = np.vstack([train[::2], np.random.default_rng(1).normal(-9, 1, (20, 2))])
    detector.save(tmp_path / "with.vbrand")
    detector.save(tmp_path / "without.vbrand", rows=False)
    checked = load(tmp_path / "with.vbrand").discover(unknown)
    unchecked = load(tmp_path / "without.vbrand").discover(unknown)
    assert checked.check is not None
    assert checked.check == detector.discover(unknown).check
    assert unchecked.check is None
    assert (tmp_path / "without.vbrand").stat().st_size < (tmp_path / "with.vbrand").stat().st_size


@pytest.mark.parametrize("allowed", [0.0, 0.1, 0.5])
def test_at_most_the_allowed_share_of_hidden_rows_exceeds_the_threshold(allowed):
    hidden = np.random.default_rng(0).random(200)
    threshold = strict_threshold(SimpleNamespace(hidden_novelty=hidden), 0.5, allowed)
    assert (hidden > threshold).mean() <= allowed
    assert threshold >= 0.5
    assert strict_threshold(None, 0.5, allowed) is None
