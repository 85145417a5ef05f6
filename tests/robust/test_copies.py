"""Rows that are copies, told from rows that are equal because their values are coarse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand.robust.copies import fingerprints, repeats_of

seeds = st.integers(0, 99)


def cloud(seed, rows=60, columns=3):
    return np.random.default_rng(seed).normal(size=(rows, columns))


@given(seeds, st.integers(2, 10), st.booleans())
def test_of_a_table_that_stands_there_several_times_each_row_counts_once(seed, times, one_by_one):
    rows = cloud(seed)
    table = np.repeat(rows, times, axis=0) if one_by_one else np.tile(rows, (times, 1))
    repeats = repeats_of(table)
    np.testing.assert_array_equal(table[repeats.counted], rows)
    assert repeats.twice == (times - 1) * rows.shape[0]


@given(seeds, st.sampled_from([0.25, 0.5, 1.0, 2.0]), st.integers(1, 4))
def test_ties_of_rounded_columns_are_data(seed, step, columns):
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.normal(place, 1.0, (300, columns)) for place in (0.0, 6.0)])
    assert repeats_of(np.round(rows / step) * step) is None


def test_ties_of_few_levels_are_data():
    rng = np.random.default_rng(0)
    assert repeats_of(np.eye(3)[rng.integers(0, 3, 300)]) is None
    assert repeats_of((rng.random((500, 6)) < 0.05).astype(float)) is None


def test_a_rounded_table_that_stands_there_twice_is_the_table():
    rows = np.round(cloud(0, rows=500, columns=2))
    table = np.vstack([rows, rows])
    repeats = repeats_of(table)
    assert repeats.twice == 500
    np.testing.assert_array_equal(np.sort(table[repeats.counted], axis=0), np.sort(rows, axis=0))


@given(seeds, st.integers(1, 60))
def test_some_rows_that_stand_there_again_are_copies(seed, again):
    rows = cloud(seed)
    repeats = repeats_of(np.vstack([rows, rows[:again]]))
    np.testing.assert_array_equal(repeats.counted, np.arange(60))


def test_copies_of_labelled_rows_do_not_count():
    labelled, rows = cloud(0), cloud(1)
    repeats = repeats_of(np.vstack([rows, labelled[:5]]), fingerprints(labelled))
    np.testing.assert_array_equal(repeats.counted, np.arange(60))
    assert (repeats.twice, repeats.labelled) == (0, 5)


@given(seeds, st.integers(600, 2_000), st.integers(600, 2_000))
def test_rows_that_come_again_in_both_tables_are_no_copies_of_labelled_ones(seed, labelled, rows):
    """Connections of a network, answers in a survey: common values and rare ones."""
    rng = np.random.default_rng(seed)
    values, weights = cloud(seed, rows=4_000), 1.0 / np.arange(10, 4_010)
    drawn = values[rng.choice(4_000, labelled + rows, p=weights / weights.sum())]
    repeats = repeats_of(drawn[labelled:], fingerprints(drawn[:labelled]))
    assert repeats is None or repeats.labelled == 0


def test_where_all_rows_are_labelled_ones_they_count():
    labelled = cloud(0)
    assert repeats_of(labelled, fingerprints(labelled)) is None
    assert repeats_of(np.vstack([labelled, labelled]), fingerprints(labelled)).counted.size == 60


def test_ties_of_coarse_rows_with_labelled_ones_are_data():
    labelled, rows = np.round(cloud(0, rows=500)), np.round(cloud(1, rows=500))
    assert repeats_of(rows, fingerprints(labelled)) is None


@given(seeds, st.permutations(range(3)), st.floats(1e-3, 1e3))
def test_neither_order_nor_units_of_columns_matter(seed, order, unit):
    table = np.vstack([cloud(seed), cloud(seed)[:20]])
    assert repeats_of(table[:, order] * unit).twice == 20


@pytest.mark.parametrize("values", [np.arange(-500.0, 500.0), np.arange(1000) / 100.0, 2.0 ** np.arange(-300, 300)])
def test_different_values_have_different_fingerprints(values):
    assert np.unique(fingerprints(values[:, None])).size == values.size
    pairs = np.column_stack([np.repeat(values[:100], 100), np.tile(values[:100], 100)])
    assert np.unique(fingerprints(pairs)).size == 10_000


def test_zeros_are_equal_whatever_their_sign_and_single_precision_is_the_same():
    assert np.unique(fingerprints(np.array([[0.0], [-0.0]]))).size == 1
    rows = cloud(0).astype(np.float32)
    np.testing.assert_array_equal(fingerprints(rows), fingerprints(rows.astype(np.float64)))
