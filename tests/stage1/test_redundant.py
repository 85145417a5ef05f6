"""Columns that add up to others, or repeat them in another unit, say nothing new and hide nothing."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from shared import bench, needs_shared

from vbrand import VBrand
from vbrand.model.kernels import Student
from vbrand.stage1.coordinates import Coordinates
from vbrand.stage1.modes import _no_rounder_than_rows, learn_modes
from vbrand.stage1.tuning import TUNED

WAYS = {
    "a total": lambda rows: np.column_stack([rows, rows.sum(axis=1)]),
    "a rounded total": lambda rows: np.round(np.column_stack([rows, rows.sum(axis=1)]), 2),
    "another unit of each": lambda rows: np.column_stack([rows, 32.0 + 1.8 * rows]),
    "four sums": lambda rows: np.column_stack([rows, rows @ np.random.default_rng(9).normal(size=(4, 4))]),
}


def table(seed, labelled=60, each=300, novel=40):
    """Return labelled rows of three classes, and unlabelled ones, the last of which are six deviations from a class."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0, 0.0, 0.0], [7.0, 1.0, 0.0, -2.0], [0.0, 7.0, 2.0, 1.0], [0.0, 0.0, 6.0, 0.0]])
    known = np.vstack([centre + rng.normal(size=(labelled, 4)) for centre in centres[:3]])
    sizes = (each, each, each, novel)
    new = np.vstack([centre + rng.normal(size=(n, 4)) for centre, n in zip(centres, sizes, strict=True)])
    return known, np.repeat(["ash", "oak", "elm"], labelled), new, np.repeat([0, 1, 2, 3], sizes)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("check", ["auto", 0])
def test_redundant_columns_hide_no_novelty_and_make_none(way, check):
    known, labels, new, truth = table(0)
    detector = VBrand(check=check, random_state=0).fit(WAYS[way](known), labels)
    found = detector.discover(WAYS[way](new))
    novel = found.labels == "novel"
    assert novel[truth == 3].mean() > 0.9
    assert novel[truth < 3].mean() < 0.02
    for trace in found.traces:
        assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1])).all()


def test_a_row_that_breaks_a_sum_is_novel():
    known, labels, new, truth = table(1)
    rows = WAYS["a total"](new[truth < 3])
    rows[7, 4] += 1.0
    found = VBrand(random_state=0).fit(WAYS["a total"](known), labels).discover(rows)
    assert np.flatnonzero(found.labels == "novel").tolist() == [7]


def test_a_thin_direction_is_as_wide_as_the_rows_are_there():
    """(3.16): spherical rows of the width of columns are worth less there than the rows themselves."""
    rng = np.random.default_rng(2)
    rows = np.vstack([rng.normal(place, 1.0, (80, 3)) for place in (0.0, 9.0)])
    thin = 1e-3 * rng.normal(size=160)
    table = np.column_stack([rows, rows.sum(axis=1) + thin])
    known = learn_modes(table / table.std(axis=0), np.repeat([0, 1], 80), kernel=Student(15.0))
    across = np.array([1.0, 1.0, 1.0, -1.0]) * table.std(axis=0)
    variances = np.einsum("i,kij,j->k", across, known.scatters, across)
    assert ((variances > 0.5 * thin.var()) & (variances < 2.5 * thin.var())).all()


@pytest.mark.parametrize("rows", [20, 200])
def test_where_all_is_round_spherical_rows_count_in_full(rows):
    """The least of n rows in p round directions is 5 (1 - sqrt(p / n))^2 or more, but for chance."""
    own = np.random.default_rng(3).normal(size=(rows, 4))
    total = own.T @ own + TUNED.spherical_rows * np.eye(4)
    found = _no_rounder_than_rows(total / 7.0, np.array([7.0]), rows, TUNED)
    np.testing.assert_allclose(found, total / 7.0, rtol=1e-12, atol=1e-12)


def test_fewer_rows_than_columns_say_of_no_direction_that_it_is_thin():
    total = block_diag(np.eye(2) * 30.0, np.zeros((3, 3))) + TUNED.spherical_rows * np.eye(5)
    found = _no_rounder_than_rows(total, np.array([1.0]), 4, TUNED)
    np.testing.assert_allclose(found, total, rtol=1e-9)


def test_only_columns_that_add_up_to_others_lose_their_last_digits():
    known, labels, _, _ = table(3)
    member = np.unique(labels, return_inverse=True)[1]

    def step_of(rows):
        return Coordinates.of(rows).where_columns_add_up(rows, member).step

    assert step_of(known) is None
    rows = WAYS["a total"](known)
    np.testing.assert_allclose(step_of(rows), 1e-3 * Coordinates.of(rows).unit)
    rows[::40, 4] += 3.0  # some that do not add up are wrong, or new
    assert step_of(rows) is not None
    rows = known + 0.0
    rows[:, 3] = rows[:, :3].sum(axis=1) + 0.01 * rows[:, 3]
    assert step_of(rows) is None
    assert step_of(np.where(np.eye(180, 5) > 0.0, np.nan, WAYS["a total"](known))) is not None
    few = Coordinates.of(known[:6]).where_columns_add_up(known[:6], np.zeros(6, dtype=np.int64))
    assert few.step is None


def test_wild_rows_leave_digits_across_the_plane():
    """Found by the attack: rows a thousand million times as large as the others, in two columns of which one repeats
    the other; the bound fell by a hundred-thousandth of itself."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        rows = np.outer(rng.normal(size=53) + 3.0, [1.0, rng.normal()])
        rows[rng.integers(7, 53, size=8)] *= 1e8
        detector = VBrand(kernel="gaussian", update_known=False).fit(rows[:7], np.zeros(7, dtype=int))
        (trace,) = detector.discover(rows[7:]).traces
        assert np.diff(trace).min(initial=0.0) >= -1e-7 * np.abs(trace).max()


def test_a_direction_without_any_scatter_is_as_thin_as_differences_that_count():
    total = block_diag(np.eye(3) * 200.0, np.zeros((1, 1))) + TUNED.spherical_rows * np.eye(4)
    least = np.linalg.eigvalsh(_no_rounder_than_rows(total / 7.0, np.array([7.0]), 196, TUNED))[0]
    np.testing.assert_allclose(least, 196 / 7.0 * TUNED.finest**2 / 12.0)


@needs_shared
def test_thirty_labelled_rows_per_class_of_columns_that_add_up_in_most_rows():
    """Found on the team's image segments, of which most rows of most classes lie in one plane, and not all of any: the
    scatter within classes had no inverse."""
    rows, classes = bench("segment")
    rng = np.random.default_rng(0)
    order = rng.permutation(classes.size)
    labelled = np.concatenate([order[classes[order] == name][:30] for name in np.unique(classes)])
    detector = VBrand(random_state=0).fit(rows[labelled], classes[labelled])
    assert np.linalg.cond(detector._fitted.learned.views[0][1].scatters).max() < 1e13
    found = detector.discover(np.delete(rows, labelled, axis=0))
    assert (found.labels == np.delete(classes, labelled)).mean() > 0.7
