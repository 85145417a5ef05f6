"""Hidden rows: each is hidden once, and no fold depends on the order of the table; components earn their places."""

from functools import partial

import numpy as np
import pytest
from clouds import problem

from vbrand.inference.cavi import ascend
from vbrand.inference.kernel import statistics_of_labels
from vbrand.model.prior import with_novelties
from vbrand.stage1.lessons import Witnesses
from vbrand.trust.folds import _among, _without_needless, deal
from vbrand.trust.standing import standing_of
from vbrand.trust.tuning import TUNED


def witnesses(sizes, seed=0):
    member = np.repeat(np.arange(len(sizes)), sizes)
    return Witnesses(np.random.default_rng(seed).normal(size=(member.size, 3)), member)


def test_every_witness_is_hidden_once_and_folds_are_even():
    rows = witnesses([40, 25])
    fold = deal(rows, 2, 1_000, 10, np.random.default_rng(0), TUNED)
    assert (fold >= 0).all()
    for j in range(2):
        sizes = np.bincount(fold[rows.member == j], minlength=10)
        assert sizes.max() - sizes.min() <= 1


def test_small_classes_keep_their_rows():
    rows = witnesses([40, 2])
    fold = deal(rows, 2, 1_000, 10, np.random.default_rng(0), TUNED)
    assert (fold[rows.member == 1] == -1).all()


def test_no_more_are_hidden_than_there_are_unlabelled_rows():
    rows = witnesses([400, 400])
    fold = deal(rows, 2, 100, 10, np.random.default_rng(0), TUNED)
    assert 90 <= (fold >= 0).sum() <= 110


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_and_columns_does_not_matter(seed):
    rows = witnesses([30, 20], seed)
    order = np.random.default_rng(seed).permutation(50)
    fold = deal(rows, 2, 1_000, 10, np.random.default_rng(0), TUNED)
    turned = Witnesses(rows.rows[order][:, [2, 0, 1]], rows.member[order])
    moved = deal(turned, 2, 1_000, 10, np.random.default_rng(0), TUNED)
    np.testing.assert_array_equal(moved, fold[order])


def test_names_of_classes_do_not_matter():
    rows = witnesses([30, 20, 20])
    fold = deal(rows, 3, 1_000, 10, np.random.default_rng(0), TUNED)
    renamed = Witnesses(rows.rows, np.array([2, 0, 1])[rows.member])
    np.testing.assert_array_equal(deal(renamed, 3, 1_000, 10, np.random.default_rng(0), TUNED), fold)


def fits(labels):
    """Return a fit that starts at these labels, of two known and two novel classes, and one without needless parts."""
    rows, prior = problem()
    part = with_novelties(prior, int(labels.max()) - 1)
    # one sweep: it is still where the labels put it
    climb = partial(ascend, rows, tol=TUNED.loose, max_iter=TUNED.sweeps, sort=False)
    start = ascend(rows, part, statistics_of_labels(rows, labels, labels.max() + 1), max_iter=1, sort=False)
    return start, *_without_needless(climb, prior, start, np.arange(2, labels.max() + 1), TUNED)


def test_a_component_that_is_not_worth_its_price_goes():
    """(9.22): a part of the first known class, which the search took for a class of its own, goes back to it."""
    labels = np.repeat([0, 4, 1, 2, 3], [34, 6, 40, 40, 40])
    start, found, left = fits(labels)
    np.testing.assert_array_equal(left, [0, 1, 2, 3])
    assert found.bound.total > start.bound.total
    assert found.statistics.counts[0] == pytest.approx(40.0, abs=1.0)


def test_components_that_are_worth_their_price_stay():
    start, found, left = fits(np.repeat([0, 1, 2, 3], 40))
    np.testing.assert_array_equal(left, [0, 1, 2, 3])
    assert found is start


def test_two_novel_components_that_could_be_one_stay_as_they_are():
    """(9.22): a cut through the first novel class costs as much, but no row of it would be known without it."""
    labels = np.repeat([0, 1, 2, 4, 3], [40, 40, 34, 6, 40])
    start, found, left = fits(labels)
    np.testing.assert_array_equal(left, [0, 1, 2, 3, 4])
    assert found is start


def test_no_row_is_in_a_component_that_is_gone():
    parts = np.log([[0.1, 0.3], [0.4, 0.4]])
    standing = standing_of(_among(parts, np.array([0, 2]), 3), np.zeros((2, 1)), parts)
    np.testing.assert_allclose(np.exp(standing.log_shares), [[0.25, 0.0, 0.75], [0.5, 0.0, 0.5]])
