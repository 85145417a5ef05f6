"""Robust fits of rows with missing cells: maximum likelihood without outliers, and hardly moved by them."""

from functools import partial

import numpy as np
import pytest

from vbrand import MRCD
from vbrand.model.kernels import Gaussian, Student
from vbrand.robust.columns import column_scales, medians, stand_in_scale
from vbrand.robust.mcd import fit_empirical
from vbrand.robust.mrcd import fit_mrcd
from vbrand.stage1.classes import learn_classes
from vbrand.stage1.gaps import fit_with_gaps, observed_distances
from vbrand.stage1.modes import learn_modes

SCATTER = np.array([[2.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]])


def gaussian(n, seed=0, share=0.2):
    rng = np.random.default_rng(seed)
    rows = rng.multivariate_normal([1.0, -2.0, 5.0], SCATTER, n)
    holes = rng.random(rows.shape) < share
    holes[:, 0] &= ~holes.all(axis=1)
    return np.where(holes, np.nan, rows), rows


def test_moments_of_incomplete_gaussian_rows_are_those_of_maximum_likelihood():
    """(3.27), (3.28) with plain moments are the EM algorithm: the gradient of the likelihood is zero at its end."""
    rows, _ = gaussian(400)
    scale = column_scales(rows, stand_in_scale(rows))
    fit = fit_with_gaps(rows, scale, fit_empirical)
    gradient, curvature = np.zeros(3), np.zeros((3, 3))
    for row in rows:
        o = ~np.isnan(row)
        inside = np.linalg.inv(fit.scatter[np.ix_(o, o)])
        pull = np.zeros(3)
        pull[o] = inside @ (row - fit.centre)[o]
        gradient += pull
        curvature += np.outer(pull, pull)
        curvature[np.ix_(o, o)] -= inside
    # in units of rows: a standard error is 1 / sqrt(400) = .05
    np.testing.assert_allclose(gradient / 400, 0.0, atol=5e-3)
    np.testing.assert_allclose(curvature / 400, 0.0, atol=2e-2)


def test_the_mrcd_of_incomplete_rows_is_that_of_the_complete_ones_but_for_noise_and_survives_outliers():
    rows, complete = gaussian(1_500)
    far = rows.copy()
    far[:400] = np.where(np.isnan(rows[:400]), np.nan, rows[:400] + 25.0)
    for table in (rows, far):
        fit = MRCD(support_fraction=0.6).fit(table)
        moved = np.arange(1_500)[:, None] < (0 if table is rows else 400)
        wanted = MRCD(support_fraction=0.6).fit(complete + 25.0 * moved)
        np.testing.assert_allclose(fit.location_, wanted.location_, atol=0.2)
        np.testing.assert_allclose(fit.covariance_, wanted.covariance_, atol=0.45)
    assert not fit.support_[:400].any()
    distance = fit.mahalanobis(far)
    assert distance[:400].min() > 3.0 * np.median(distance[400:])


def test_units_of_columns_do_not_matter():
    rows, _ = gaussian(150)
    plain, moved = MRCD().fit(rows), MRCD().fit(rows * [1e4, 1.0, 1e-3] + 7.0)
    unit = np.array([1e4, 1.0, 1e-3])
    np.testing.assert_allclose(moved.location_, plain.location_ * unit + 7.0, rtol=1e-6)
    np.testing.assert_allclose(moved.covariance_, plain.covariance_ * np.outer(unit, unit), rtol=1e-6)


def test_a_column_without_a_value_has_its_scale_and_no_part_in_others():
    rows, _ = gaussian(80)
    rows[:, 1] = np.nan
    scale = np.array([1.5, 3.0, 0.7])
    fit = fit_with_gaps(rows, scale, partial(fit_mrcd, scale=scale))
    assert fit.scatter[1].tolist() == [0.0, 9.0, 0.0]
    np.testing.assert_allclose(fit.precision @ fit.scatter, np.eye(3), atol=1e-9)


def test_distances_are_those_of_the_cells_that_there_are():
    distance, cells = observed_distances(np.array([[2.0, np.nan], [np.nan, np.nan]]), np.zeros(2), np.diag([1.0, 4.0]))
    assert distance.tolist() == [4.0, 0.0]
    assert cells.tolist() == [1, 0]


@pytest.mark.parametrize("scatter", ["mrcd", "mcd", "empirical", "modes"])
def test_classes_are_learned_from_incomplete_rows(scatter):
    rows, _ = gaussian(600)
    table, labels = np.vstack([rows, rows + 9.0]), np.repeat([0, 1], 600)
    table = (table - medians(table)) / column_scales(table, stand_in_scale(table))
    if scatter == "modes":
        known = learn_modes(table, labels, kernel=Gaussian())
    else:
        known = learn_classes(table, labels, scatter=scatter, support_fraction=0.75)
    moved = (known.centres[1] - known.centres[0]) * column_scales(np.vstack([rows, rows + 9.0]), np.ones(3))
    np.testing.assert_allclose(moved, 9.0, atol=0.3)
    correlation = known.scatters[0] / np.sqrt(np.outer(*(2 * [np.diag(known.scatters[0])])))
    assert correlation[0, 1] == pytest.approx(1.2 / np.sqrt(2.0), abs=0.08)


def test_modes_of_rows_with_few_gaps_are_those_of_complete_rows():
    """Working coordinates or white ones: for the model that is the same."""
    _, rows = gaussian(300)
    table, labels = np.vstack([rows, rows + 9.0, rows[:200] - 9.0]), np.repeat([0, 1, 1], [300, 300, 200])
    plain = learn_modes(table, labels, kernel=Student(15.0))
    table[0, 0] = np.nan
    gapped = learn_modes(table, labels, kernel=Student(15.0))
    assert gapped.class_of.tolist() == plain.class_of.tolist() == [0, 1, 1]
    np.testing.assert_allclose(gapped.centres, plain.centres, atol=0.02)
    np.testing.assert_allclose(gapped.scatters, plain.scatters, atol=0.02)
    assert gapped.alike == plain.alike
