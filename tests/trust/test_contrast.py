"""Trees that tell unlabelled from labelled rows: what they see, what they say, and to whom."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from vbrand.trust.contrast import contrast_of, missing_alike, wrong_with_contrast
from vbrand.trust.trees import TREES, _seen_by
from vbrand.trust.tuning import TUNED


def trees(rows, labelled, member=None, shares=None, levels=(), seed=0):
    member = np.zeros(len(labelled), dtype=np.int64) if member is None else member
    shares = np.bincount(member) / member.size if shares is None else shares
    return contrast_of(rows, labelled, member, shares, levels, np.random.default_rng(seed), TUNED)


def leaf(trees, row, tree):
    """Return the leaf of a tree that a row falls into, step by step."""
    node, ends = trees.roots[tree], np.append(trees.roots[1:], trees.column.size)
    while trees.column[node] >= 0:
        node = node + 1 if row[trees.column[node]] <= trees.edge[node] else trees.right[node]
        assert trees.roots[tree] < node < ends[tree]
    return node


def two_tables(seed, n=80, h=60, p=3):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(n, p)), generator.normal(size=(h, p)) + 0.5


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_a_row_is_asked_of_the_trees_that_do_not_see_it(seed):
    """(9.17), by walking down tree by tree; and the share of a leaf by counting who falls into it."""
    rows, labelled = two_tables(seed)
    found = trees(rows, labelled)
    table = np.vstack([rows, labelled])
    seen = _seen_by(table)
    sees = np.array([[int(word) >> k & 1 for word in words for k in range(64)] for words in seen], dtype=bool)
    assert 0.4 < sees.mean() < 0.6
    for i in (0, 100):
        own = [found.share[leaf(found.trees, table[i], tree)] for tree in np.flatnonzero(~sees[i])]
        wanted = np.log((0.5 + sum(own)) / (0.5 + len(own) - sum(own)))
        np.testing.assert_allclose(found.log_odds(table[[i]]), wanted, rtol=1e-9)

    members = np.flatnonzero(sees[:, 5])
    leaves = np.array([leaf(found.trees, table[i], 5) for i in members])
    for node in np.unique(leaves):
        inside = members[leaves == node]
        assert inside.size >= TUNED.leaf_rows or np.unique(leaves).size == 1
        n, h = ((inside < 80).sum() / (members < 80).sum()), ((inside >= 80).sum() / (members >= 80).sum())
        np.testing.assert_allclose(found.share[node], n / (n + h), rtol=1e-9)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000))
def test_neither_the_order_of_rows_and_columns_nor_copies_matter(seed):
    rows, labelled = two_tables(seed)
    generator = np.random.default_rng(seed)
    wanted = trees(rows, labelled).log_odds(rows)
    i, j, k = (generator.permutation(size) for size in (80, 60, 3))
    found = trees(rows[np.ix_(i, k)], labelled[np.ix_(j, k)])
    np.testing.assert_allclose(found.log_odds(rows[:, k]), wanted, rtol=1e-9)
    np.testing.assert_array_equal(found.log_odds(rows[:1, k]), found.log_odds(rows[:, k])[:1])


def test_rows_of_one_kind_are_not_told_apart():
    """Labelled rows that no tree has seen look like unlabelled rows of the same kind, also where there are few."""
    areas = []
    for seed in range(40):
        generator = np.random.default_rng(seed)
        rows, labelled = generator.normal(size=(2, 60, 4))
        found = trees(rows, labelled)
        areas.append(roc_auc_score(np.repeat([1, 0], 60), found.log_odds(np.vstack([rows, labelled]))))
    assert np.mean(areas) == pytest.approx(0.5, abs=0.04)


def test_within_a_class_labelled_and_unlabelled_rows_are_not_told_apart_though_shares_differ():
    areas = []
    places = np.array([[0.0, 0.0], [6.0, 0.0]])
    for seed in range(40):
        generator = np.random.default_rng(seed)
        of, member = np.repeat([0, 1], [160, 40]), np.repeat([0, 1], [30, 70])
        rows, labelled = (generator.normal(size=(own.size, 2)) + places[own] for own in (of, member))
        found = trees(rows, labelled, member, np.array([0.8, 0.2]))
        unlabelled, hidden = found.log_odds(rows), found.log_odds(labelled)
        for j in range(2):
            both = np.concatenate([unlabelled[of == j], hidden[member == j]])
            areas.append(roc_auc_score(np.arange(both.size) < (of == j).sum(), both))
    assert np.mean(np.reshape(areas, (-1, 2)), axis=0) == pytest.approx([0.5, 0.5], abs=0.05)


def test_novelty_that_no_ellipse_tells_stands_out():
    generator = np.random.default_rng(0)

    def ring(n):
        angle = generator.uniform(0.0, 2.0 * np.pi, n)
        return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * generator.normal(size=(n, 2))

    rows = np.vstack([ring(300), 0.2 * generator.normal(size=(40, 2))])  # a spot in the middle of a ring
    found = trees(rows, ring(200))
    assert roc_auc_score(np.repeat([0, 1], [300, 40]), found.log_odds(rows)) > 0.95


def test_rows_that_are_all_the_same_have_trees_of_one_leaf():
    found = trees(np.zeros((30, 2)), np.zeros((20, 2)))
    assert found.trees.roots.size == found.trees.column.size == TREES
    np.testing.assert_allclose(found.log_odds(np.zeros((1, 2))), 0.0, atol=1.0)


@pytest.mark.parametrize("odd", [lambda own: own + 1.0, lambda own: own * np.nan, lambda own: own[1:]])
def test_shares_of_a_file_that_would_fail_later_are_told(odd):
    found = trees(*two_tables(0))
    assert wrong_with_contrast(found, 3) == ""
    assert "not between 0 and 1" in wrong_with_contrast(replace(found, share=odd(found.share)), 3)
    assert "no column" in wrong_with_contrast(found, 1)


def test_a_row_without_a_cell_stays_where_it_is_asked_for():
    """Trees are grown where no cell is missing; of a row that comes later, without any cell, they say nothing."""
    rows, labelled = two_tables(0)
    found = trees(rows, labelled)
    assert found.log_odds(np.full((1, 3), np.nan))[0] == pytest.approx(0.0, abs=1e-9)
    one, two = found.log_odds(np.array([[-3.0, np.nan, np.nan], [3.0, np.nan, np.nan]]))
    assert two < 0.0 < one


def test_a_category_that_is_missing_is_none_of_the_levels():
    generator = np.random.default_rng(0)
    rows, labelled = (
        np.column_stack([generator.normal(size=80), generator.random(80) < share]) for share in (0.9, 0.1)
    )
    found = trees(rows, labelled, levels=(2,))
    zero, one, gap = found.log_odds(np.array([[0.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
    assert zero < gap < one


def test_trees_do_not_tell_rows_by_which_of_their_categories_are_missing():
    generator = np.random.default_rng(0)
    rows, labelled = (generator.integers(0, 3, (200, 2)).astype(np.float64) for _ in range(2))
    assert missing_alike(rows, labelled, categories=2)
    rows[generator.random(rows.shape) < 0.3] = -1.0
    assert not missing_alike(rows, labelled, categories=2)
    odds = trees(rows, labelled, levels=(3, 3)).log_odds(rows)
    assert abs(odds[(rows < 0.0).any(axis=1)].mean() - odds[(rows >= 0.0).all(axis=1)].mean()) < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_trees_of_categories_tell_rows_whatever_the_order_of_columns(seed):
    """Levels of different columns were seen by the same trees: half of these had no row to grow from."""
    generator = np.random.default_rng(seed)
    rows, labelled = (
        np.column_stack([generator.random((150, 4)) < 0.5, own]) * 1.0 for own in ([True] * 150, [False] * 150)
    )
    rows[:60, 4], levels = 0.0, (2, 2, 2, 2, 2)
    odds = trees(rows, labelled, levels=levels).log_odds(rows)
    assert roc_auc_score(rows[:, 4], odds) > 0.9

    columns = generator.permutation(5)
    again = trees(rows[:, columns], labelled[:, columns], levels=levels).log_odds(rows[:, columns])
    np.testing.assert_array_equal(again, odds)


def test_rows_beyond_all_measure_are_asked_without_a_warning():
    rows, labelled = two_tables(0)
    assert np.isfinite(trees(rows, labelled).log_odds(np.full((2, 3), [[1e200], [-1e200]]))).all()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_cells_that_are_missing_by_one_lot_are_missing_alike(seed, share):
    """(9.24), by counting over tables."""
    generator = np.random.default_rng(seed)
    held = [missing_alike(*_gone(generator, share, share)) for _ in range(40)]
    assert np.mean(held) > 0.8
    if 0.05 < share < 0.5:
        assert not missing_alike(*_gone(generator, share, share + 0.5))


def _gone(generator, one, other):
    tables = generator.random((400, 3)), generator.random((300, 3))
    return [np.where(table < each, np.nan, table) for table, each in zip(tables, (one, other), strict=True)]


def test_cells_of_complete_tables_are_missing_alike_and_a_column_of_one_kind_is_not():
    rows, labelled = two_tables(0)
    assert missing_alike(rows, labelled)
    rows[:, 1] = np.nan
    assert not missing_alike(rows, labelled)


def test_trees_of_rows_with_missing_cells_tell_those_that_lie_elsewhere():
    generator = np.random.default_rng(3)
    rows, labelled = generator.normal(size=(300, 4)), generator.normal(size=(300, 4))
    rows[:60] += 4.0
    rows[generator.random(rows.shape) < 0.2], labelled[generator.random(labelled.shape) < 0.2] = np.nan, np.nan
    odds = trees(rows, labelled).log_odds(rows)
    assert np.isfinite(odds).all()
    assert roc_auc_score(np.arange(300) < 60, odds) > 0.95
