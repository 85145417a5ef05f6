"""Where ascents begin."""

import numpy as np
import pytest
from clouds import problem

from vbrand.inference.cavi import Stopped, ascend
from vbrand.inference.rows import Rows
from vbrand.inference.starts import from_labels, k_means, multiplied_k_means, multipliers, one_novelty
from vbrand.model.prior import with_novelties
from vbrand.model.weights import expected_log_weights


def test_k_means_puts_means_at_the_centres_of_clusters():
    rows, prior = problem(novel=4)
    start = k_means(rows, prior, 4, seed=0).components
    truth = rows.table.reshape(4, 40, -1).mean(axis=1)
    for centre in truth:
        assert np.linalg.norm(start.mean[prior.known :] - centre, axis=1).min() < 0.2
    np.testing.assert_array_equal(start.dof, prior.components.dof)
    np.testing.assert_array_equal(start.mean[: prior.known], prior.components.mean[: prior.known])


def test_k_means_makes_no_more_groups_than_there_are_different_rows():
    _, prior = problem(novel=6)
    rows = Rows.plain(np.repeat([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]], 10, axis=0))
    start = k_means(rows, prior, 6, seed=0).components
    certain = start.precision[prior.known :] > prior.components.precision[prior.known :]
    assert certain.sum() == 2


def test_one_novelty_is_as_wide_as_all_rows_and_known_classes_stay():
    rows, prior = problem()
    alone = with_novelties(prior, 1)
    start = one_novelty(rows, alone)
    novel = start.components.mean[prior.known]
    np.testing.assert_allclose(novel, rows.table.mean(axis=0), atol=0.5)
    np.testing.assert_array_equal(start.components.mean[: prior.known], prior.components.mean[: prior.known])
    np.testing.assert_array_equal(start.weights.dirichlet, prior.weights.dirichlet)


def test_labels_are_counted():
    rows, prior = problem()
    labels = np.repeat([0, 1, 2, 3], 40)
    start = from_labels(rows, prior, labels)
    np.testing.assert_allclose(start.components.dof[:4] - prior.components.dof[:4], 40.0)
    np.testing.assert_array_equal(start.components.dof[4:], prior.components.dof[4:])


def test_multiplied_starts_keep_what_is_known():
    rows, prior = problem(novel=4)
    factors = multipliers(3, np.random.default_rng(0))
    assert factors.shape == (3, 3)
    start = multiplied_k_means(rows, prior, 0, factors[0])
    known = slice(prior.known)
    np.testing.assert_array_equal(start.components.dof[known], prior.components.dof[known])
    assert start.weights.dirichlet[-1] == pytest.approx(prior.weights.dirichlet[-1] * factors[0, 0])


@pytest.mark.parametrize("concentration", [1.0, (1.0, 1.0), (2.0, 0.5)])
@pytest.mark.parametrize("rows_there", [1, 3, 160])
def test_the_first_bound_is_a_bound_and_no_sweep_lowers_it(concentration, rows_there):
    rows, prior = problem(concentration=concentration)
    some = Rows.plain(rows.table[:rows_there])
    factors = multipliers(1, np.random.default_rng(0))[0]
    for start in (
        one_novelty(some, prior),
        k_means(some, prior, 2, seed=0),
        multiplied_k_means(some, prior, 0, factors),
    ):
        found = ascend(some, prior, start)
        assert found.stopped is Stopped.CONVERGED
        assert np.diff(found.trace).min(initial=0.0) >= -1e-9 * abs(found.trace[-1])


def test_weights_before_any_row_say_of_rows_what_the_prior_says():
    rows, prior = problem(concentration=(2.0, 0.5))
    start = one_novelty(rows, prior).weights
    np.testing.assert_allclose(expected_log_weights(start), expected_log_weights(prior.weights), rtol=1e-12)
