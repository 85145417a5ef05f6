"""Rows that were measured again are seen, and chance is not taken for it."""

import numpy as np
import pytest

from vbrand.robust import replicates
from vbrand.robust.replicates import _beyond_chance, _gaps, first_of_samples, has_replicates, replicates_of


def rows(seed, n=300, p=4):
    return np.random.default_rng(seed).normal(size=(n, p))


def again(table, times, share, seed=0):
    generator = np.random.default_rng(seed)
    few = table[: int(share * len(table))]
    near = np.repeat(few, times - 1, axis=0)
    return np.vstack([table, near + 0.05 * generator.normal(size=near.shape)])


def test_gaps_between_neighbours_are_alike():
    """(9.21): means of k log(d_{k+1} / d_k) are 1 / p where rows are spread evenly, whatever k."""
    even = np.random.default_rng(0).uniform(size=(4_000, 2))
    inside = even[(np.abs(even - 0.5) < 0.4).all(axis=1)]
    np.testing.assert_allclose(_gaps(inside).mean(axis=0), 0.5, atol=0.1)


@pytest.mark.parametrize("kind", ["normal", "skewed", "rounded", "two classes", "with gaps"])
def test_chance_is_not_taken_for_replicates(kind):
    for seed in range(20):
        table = rows(seed)
        if kind == "skewed":
            table = np.exp(table)
        elif kind == "rounded":
            table = np.round(2.0 * table) / 2.0
        elif kind == "two classes":
            table[::3] += 20.0
        elif kind == "with gaps":
            table[::7, 1] = np.nan
        assert not has_replicates([table])


@pytest.mark.parametrize("times", [2, 3, 5])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_replicates_are_seen(times, share):
    for seed in range(5):
        table = again(rows(seed), times, share)
        assert has_replicates([table])
        order = np.random.default_rng(seed).permutation(len(table))
        assert has_replicates([table[order][:, ::-1], rows(seed + 100, n=20)])


def test_few_rows_say_nothing():
    assert not has_replicates([again(rows(0, n=12), 2, 1.0)])
    assert not has_replicates([rows(0, n=3)])
    assert not has_replicates([])


def test_distances_are_looked_at_few_at_a_time_with_the_same_answer(monkeypatch):
    table, held = rows(0, n=3_000), []
    whole, cdist = _gaps(table), replicates.cdist
    monkeypatch.setattr(replicates, "cdist", lambda some, all_rows: held.append(len(some)) or cdist(some, all_rows))
    monkeypatch.setattr(replicates, "_AT_ONCE", 50 * 3_000)
    np.testing.assert_array_equal(_gaps(table), whole)
    assert set(held) == {50}


@pytest.mark.parametrize("times", [2, 3, 4])
def test_samples_are_found(times):
    for seed in range(3):
        member = np.repeat([0, 1, 2], 60 * times)
        table = np.repeat(rows(seed, n=180) + 3.0 * np.repeat([0, 1, 2], 60)[:, None], times, axis=0)
        table += 0.03 * np.random.default_rng(seed).normal(size=table.shape)
        assert replicates_of(table, member) == times - 1
        kept = first_of_samples(table, member, times - 1)
        sizes = np.bincount(kept // times, minlength=180)
        assert (sizes == 1).mean() > 0.93
        assert sizes.min() >= 1 or (sizes == 0).mean() < 0.03  # hardly ever are two samples joined

        order = np.random.default_rng(seed).permutation(len(table))
        other = first_of_samples(table[order][:, ::-1] * [1.0, 1e3, 1.0, 1e-3], member[order], times - 1)
        np.testing.assert_array_equal(np.sort(order[other]), kept)


def test_small_classes_are_no_samples():
    """Six rows of a class are near each other and far from all others: so are six replicates."""
    rng = np.random.default_rng(0)
    member = np.repeat(np.arange(12), 6)
    assert replicates_of(rng.normal(0.0, 20.0, (12, 3))[member] + rng.normal(size=(72, 3)), member) == 0


@pytest.mark.parametrize("kind", ["normal", "skewed", "rounded"])
def test_chance_gives_no_samples(kind):
    for seed in range(20):
        table = rows(seed) + 4.0 * np.repeat([0, 1, 2], 100)[:, None]
        table = {"normal": table, "skewed": np.exp(table / 4.0), "rounded": np.round(table, 1)}[kind]
        assert replicates_of(table, np.repeat([0, 1, 2], 100)) == 0


def test_few_are_joined_by_chance():
    """(9.23): of gaps that are all chance hardly any is wide; of those that half of the rows make, most are."""
    rng = np.random.default_rng(0)
    assert _beyond_chance(rng.exponential(size=2_000)).sum() < 10
    gaps = np.append(rng.exponential(size=1_000), 5.0 + rng.exponential(3.0, size=1_000))
    wide = _beyond_chance(gaps)
    assert wide[1_000:].mean() > 0.95
    assert wide[:1_000].sum() < 0.1 * wide.sum()


def test_a_wild_cell_stands_alone():
    table = np.repeat(rows(0, n=60), 3, axis=0)
    table += 0.03 * np.random.default_rng(0).normal(size=table.shape)
    table[7, 1] = 1e200
    kept = first_of_samples(table, np.zeros(180, dtype=np.int64), 2)
    assert 7 in kept
    assert kept.size < 75


def test_columns_without_spread_or_cells_change_no_sample():
    """A column that is empty made every row one with gaps, and there was nothing to take a median of."""
    table = np.repeat(rows(0, n=60), 3, axis=0)
    table += 0.03 * np.random.default_rng(0).normal(size=table.shape)
    more, member = np.column_stack([table, np.full(180, np.nan), np.ones(180)]), np.zeros(180, dtype=np.int64)
    assert replicates_of(more, member) == replicates_of(table, member) == 2
    np.testing.assert_array_equal(first_of_samples(more, member, 2) // 3, first_of_samples(table, member, 2) // 3)
    assert first_of_samples(np.full((5, 2), np.nan), np.zeros(5, dtype=np.int64), 2).tolist() == [0, 1, 2, 3, 4]
