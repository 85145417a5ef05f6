"""Which columns are bent: those whose classes are skewed within, and no others."""

import numpy as np
import pytest
from scipy import stats

from vbrand.stage1 import skew
from vbrand.stage1.humps import sorted_values
from vbrand.stage1.skew import learn_warp
from vbrand.stage1.tuning import TUNED

CLASSES, COLUMNS = 3, 8


def drawn(kind, rows=80, seed=0):
    """Return labelled rows of classes that lie at different places, or have different scales."""
    rng = np.random.default_rng(seed)
    member = np.repeat(np.arange(CLASSES), rows)
    place, size = rng.normal(0.0, 3.0, (CLASSES, COLUMNS))[member], np.exp(rng.normal(size=(CLASSES, COLUMNS)))[member]
    shape = (member.size, COLUMNS)
    values = {
        "gaussian": lambda: rng.normal(size=shape) * size + place,
        "heavy tails": lambda: rng.standard_t(3, size=shape) * size + place,
        "two humps": lambda: rng.normal(size=shape) + 6.0 * (rng.random(shape) < 0.25) + place,
        "rounded": lambda: np.round(rng.normal(size=shape) + place),
        "gamma": lambda: rng.gamma(2.0, 1.0, shape) * size,
        "log-normal": lambda: np.exp(0.7 * rng.normal(size=shape)) * size,
        "piled up at a bound": lambda: 1.0 - rng.gamma(1.0, 1.0, shape) * size,
    }[kind]()
    return values, member


def bent(rows, member):
    warp = learn_warp(rows, member)
    return np.zeros(rows.shape[1], dtype=bool) if warp is None else warp.bent


@pytest.mark.parametrize("kind", ["gaussian", "heavy tails", "two humps", "rounded"])
def test_columns_that_are_not_skewed_are_taken_as_they_are(kind):
    assert not bent(*drawn(kind)).any()


@pytest.mark.parametrize("rows", [4, 8, 15])
def test_few_rows_bend_no_gaussian_column(rows):
    assert not bent(*drawn("gaussian", rows)).any()


@pytest.mark.parametrize("kind", ["gamma", "log-normal", "piled up at a bound"])
def test_skewed_columns_are_bent_and_no_longer_skewed(kind):
    rows, member = drawn(kind, rows=200)
    warp = learn_warp(rows, member)
    assert warp is not None
    assert warp.bent.all()
    mapped = warp.inward(rows)
    for j in range(CLASSES):
        before, after = np.abs(stats.skew(rows[member == j])), np.abs(stats.skew(mapped[member == j]))
        assert np.median(after) < 0.5 * np.median(before)


def test_wild_values_of_a_gaussian_column_do_not_bend_it():
    rows, member = drawn("gaussian")
    rows[::50] += 1e4
    assert not bent(rows, member).any()


def test_units_shifts_and_orders_change_nothing():
    rows, member = drawn("gamma")
    usual = learn_warp(rows, member)
    order, columns = np.random.default_rng(1).permutation(member.size), np.arange(COLUMNS)[::-1]
    scaled = learn_warp(8.0 * rows + 64.0, member)
    other = learn_warp(rows[order][:, columns], member[order])
    assert usual is not None
    assert scaled is not None
    assert other is not None
    np.testing.assert_allclose(scaled.inward(8.0 * rows + 64.0), usual.inward(rows), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.inward(rows[:, columns]), usual.inward(rows)[:, columns], rtol=1e-9, atol=1e-9)


def test_missing_cells_have_no_say():
    rows, member = drawn("log-normal", rows=120)
    rows[np.random.default_rng(2).random(rows.shape) < 0.1] = np.nan
    rows[member == 1, 0] = np.nan
    assert bent(rows, member).mean() > 0.9


def test_the_better_of_many_maps_must_be_worth_its_luck():
    rows, member = drawn("gaussian", rows=30)
    low, high = skew._ends(rows, member, TUNED)
    known = sorted_values((rows - low) / (high - low), np.zeros(COLUMNS), member, TUNED)
    best = skew._best_of_each_way(known, TUNED)
    assert (best.price > 0.5 * np.log(member.size)).all()
    assert (best.price[2] > np.log(member.size)).all()
