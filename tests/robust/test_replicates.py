"""Rows that were measured again are seen, and chance is not taken for it."""

import numpy as np
import pytest

from vbrand.robust import replicates
from vbrand.robust.replicates import _gaps, has_replicates


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
