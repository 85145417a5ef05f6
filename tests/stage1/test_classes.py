"""Known classes: one fit per label, whatever the columns look like within a class."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from vbrand.robust.scale import qn
from vbrand.stage1.classes import check_sizes, learn_classes, pooled_scales, stand_in_scales


@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(centre, 1.0, size=(60, 3)) for centre in (0.0, 6.0, -6.0)])
    return rows, np.repeat(["rye", "oat", "wheat"], 60)


@pytest.mark.parametrize("scatter", ["mrcd", "mcd", "empirical"])
def test_each_class_is_found_where_it_is(three_classes, scatter):
    known = learn_classes(*three_classes, scatter=scatter)
    assert list(known.labels) == ["oat", "rye", "wheat"]
    np.testing.assert_allclose(known.centres.mean(axis=1), [6.0, 0.0, -6.0], atol=0.4)
    assert (known.rows == 60).all()
    np.testing.assert_allclose(known.trimmed, 1.0 - known.rows_used / 60)


@pytest.mark.parametrize("scatter", ["mrcd", "mcd", "empirical"])
def test_the_number_of_workers_changes_nothing(three_classes, scatter):
    alone, together = (learn_classes(*three_classes, scatter=scatter, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(alone.scatters, together.scatters)
    np.testing.assert_array_equal(alone.centres, together.centres)


def test_mislabelled_rows_do_not_move_a_class(three_classes):
    rows, labels = three_classes
    labels = labels.copy()
    labels[[0, 1, 2, 3, 4, 5, 6, 7]] = "oat"  # rye among the oats
    np.testing.assert_allclose(learn_classes(rows, labels).centres[0], [6.0, 6.0, 6.0], atol=0.6)


def test_digit_images_work_although_many_pixels_are_constant_within_a_digit():
    pixels, digits = load_digits(return_X_y=True)
    pixels = pixels[:, np.ptp(pixels, axis=0) > 0]
    known = learn_classes(pixels, digits)
    assert np.isfinite(known.scatters).all()
    for scatter in known.scatters:
        np.linalg.cholesky(scatter)


def test_a_column_that_is_constant_within_each_class_takes_its_overall_scale():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 2))
    rows[:, 1] = np.repeat([0.0, 5.0], 40)
    known = learn_classes(rows, np.repeat([0, 1], 40))
    np.testing.assert_allclose(known.centres[:, 1], [0.0, 5.0])
    np.testing.assert_allclose(known.scatters[:, 1, 1], known.rhos * 2.5**2)


def test_bad_classes_are_named():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(42, 2)), np.array(["oat"] * 40 + ["rye"] * 2)
    with pytest.raises(ValueError, match="class rye has 2 rows; a robust scatter needs at least 3"):
        learn_classes(rows, labels)
    rows[20:] = 1.0
    with pytest.raises(ValueError, match="class b: the 11 of 22 rows that lie closest together are identical"):
        learn_classes(rows, np.array(["a"] * 20 + ["b"] * 22))
    with pytest.raises(ValueError, match="column 1 has the same value in all labelled rows"):
        learn_classes(rows * [1.0, 0.0], np.array(["a"] * 20 + ["b"] * 22))
    with pytest.raises(ValueError, match="class 0: the scatter of 10 rows in 12 columns is singular"):
        learn_classes(rng.normal(size=(20, 12)), np.zeros(20, int), scatter="mcd")


def test_a_class_that_is_too_small_is_named_with_its_rows():
    check_sizes(np.array(["oat", "rye"]), np.array([3, 40]))
    with pytest.raises(ValueError, match="class rye has 1 row; a robust scatter needs at least 3"):
        check_sizes(np.array(["oat", "rye"]), np.array([3, 1]))


def test_the_pooled_scale_is_the_root_mean_square_of_those_of_the_classes():
    rng = np.random.default_rng(0)
    member = np.repeat([0, 1], [30, 10])
    rows = rng.normal(size=(40, 2)) * np.where(member == 0, 1.0, 5.0)[:, None] + 100.0 * member[:, None]
    pooled = pooled_scales(rows, member, np.ones(2))
    np.testing.assert_allclose(pooled**2, (30 * qn(rows[:30]) ** 2 + 10 * qn(rows[30:]) ** 2) / 40)


def test_stand_ins_are_deviations_within_classes_or_between_them_where_there_are_none():
    member = np.repeat([0, 1], 20)
    within = np.tile([0.0, 0.0, 0.0, 1.0], 10)
    rows = np.column_stack([within + 100.0 * member, 3.0 * member])
    np.testing.assert_allclose(stand_in_scales(rows, member), [np.sqrt(0.25), 1.5])
