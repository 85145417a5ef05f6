"""Hidden rows: each is hidden once, and no fold depends on the order of the table."""

import numpy as np
import pytest

from vbrand.stage1.lessons import Witnesses
from vbrand.trust.folds import deal
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
    rows = witnesses([40, 3])
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
