"""Missing cells in the sampler: components by the cells that there are, and the others given those."""

from dataclasses import replace

import numpy as np
from scipy import stats
from scipy.special import softmax

from vbrand.inference.cells import Absent, begun, draw_rows, filled
from vbrand.inference.kernel import Slices
from vbrand.inference.rows import Rows
from vbrand.model.conditionals import Drawn, slice_scores

TIMES = 20_000


def three_components(seed=0):
    rng = np.random.default_rng(seed)
    root = np.tril(0.5 * rng.normal(size=(3, 3, 3)), -1) + np.eye(3)
    drawn = Drawn(rng.normal(size=(3, 3)), root)
    covariances = np.linalg.inv(root.transpose(0, 2, 1) @ root)
    log_weights = np.log(np.array([0.5, 0.3, 0.2]))
    return drawn, covariances, log_weights, slice_scores(drawn, log_weights, 2, 0.4)


def test_rows_choose_by_the_cells_that_they_have_and_the_others_follow():
    """(10.14), (10.15), one row many times over, by the densities and conditionals of scipy and numpy."""
    drawn, covariances, log_weights, scores = three_components()
    row = np.array([0.3, np.nan, np.nan])
    absent = Absent.of(Rows.plain(np.tile(row, (TIMES, 1))))
    slices = Slices(2, np.ones(TIMES, dtype=np.int64), np.zeros(TIMES))
    labels, cells = draw_rows(absent, scores, slices, np.random.default_rng(1))

    log_zeta = np.array([0.0, 0.0, np.log(0.6)])
    densities = [stats.norm.logpdf(0.3, drawn.mean[k, 0], np.sqrt(covariances[k, 0, 0])) for k in range(3)]
    shares = softmax(log_weights - log_zeta + densities)
    np.testing.assert_allclose(np.bincount(labels, minlength=3) / TIMES, shares, atol=0.015)
    for k in range(3):
        own, covariance = cells.reshape(TIMES, 2)[labels == k], covariances[k]
        slope = covariance[1:, 0] / covariance[0, 0]
        np.testing.assert_allclose(own.mean(axis=0), drawn.mean[k, 1:] + slope * (0.3 - drawn.mean[k, 0]), atol=0.1)
        left = covariance[1:, 1:] - np.outer(slope, covariance[0, 1:])
        np.testing.assert_allclose(np.cov(own, rowvar=False), left, atol=0.1 * np.trace(left))


def test_rows_choose_by_the_levels_that_they_have():
    """(10.17), one row many times over; a level that is missing has no part in it."""
    drawn, covariances, log_weights, _ = three_components()
    levels = np.log(np.array([[0.9, 0.1, 0.2, 0.8], [0.2, 0.8, 0.5, 0.5], [0.5, 0.5, 0.7, 0.3]]))
    scores = slice_scores(replace(drawn, levels=levels), log_weights, 2, 0.4)
    row = np.array([0.3, 0.1, -0.2, 1.0, -1.0])
    absent = Absent.of(Rows.plain(np.tile(row, (TIMES, 1)), (2, 2)))
    slices = Slices(2, np.ones(TIMES, dtype=np.int64), np.zeros(TIMES))
    labels, cells = draw_rows(absent, scores, slices, np.random.default_rng(1))
    assert cells.size == 0
    numbers = [stats.multivariate_normal.logpdf(row[:3], drawn.mean[k], covariances[k]) for k in range(3)]
    shares = softmax(log_weights - np.array([0.0, 0.0, np.log(0.6)]) + numbers + levels[:, 1])
    np.testing.assert_allclose(np.bincount(labels, minlength=3) / TIMES, shares, atol=0.015)


def test_rows_go_where_their_slice_allows():
    *_, scores = three_components()
    absent = Absent.of(Rows.plain(np.tile([np.nan, 5.0, np.nan], (200, 1))))
    labels, _ = draw_rows(
        absent, scores, Slices(2, np.zeros(200, dtype=np.int64), np.zeros(200)), np.random.default_rng(0)
    )
    assert labels.max() == 1


def test_cells_begin_in_the_middle_of_their_components_and_fill_rows_in_order():
    rows = Rows.plain(np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 6.0], [8.0, np.nan], [9.0, 1.0]]))
    cells = begun(rows, np.array([0, 0, 0, 1, 1]), 2)
    assert cells.tolist() == [5.0, 2.0, 1.0]
    whole = filled(rows, cells)
    assert whole.table.tolist() == [[1.0, 5.0], [3.0, 4.0], [2.0, 6.0], [8.0, 1.0], [9.0, 1.0]]
    complete = Rows.plain(np.ones((2, 2)))
    assert begun(complete, np.zeros(2, dtype=int), 1) is None
    assert Absent.of(complete) is None
    assert filled(complete, None) is complete
