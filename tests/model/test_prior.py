"""The prior: places for novel components, whether they are taken or not."""

import numpy as np
import pytest
from problems import random_problem

from vbrand.inference.kernel import sweep
from vbrand.inference.rows import Rows
from vbrand.model.posterior import before_rows, bound_of, scores_of, updated
from vbrand.model.prior import with_novelties


@pytest.mark.parametrize("opened", [1, 2, 5])
def test_novel_components_are_copies_of_the_base_measure_and_places_stay(opened):
    _, prior, _ = random_problem(0, known=2, novel=5)
    part = with_novelties(prior, opened)
    assert (part.known, part.novel, part.opened) == (2, 5, opened)
    for name in ("mean", "precision", "dof", "scale"):
        before, after = getattr(prior.components, name), getattr(part.components, name)
        np.testing.assert_array_equal(after[:2], before[:2])
        assert all(np.array_equal(each, before[2]) for each in after[2:])
    assert part.components.kernels == (*prior.components.kernels[:2], *prior.components.kernels[2:3] * opened)
    assert part.weights is prior.weights


def test_places_that_nobody_has_taken_cost_nothing():
    """KL(posterior || prior) of components and weights is zero before any row is seen, whatever the number."""
    _, prior, _ = random_problem(1, known=2, novel=4)
    for opened in (1, 4):
        bound = bound_of(with_novelties(prior, opened), before_rows(with_novelties(prior, opened)), 0.0)
        assert bound.total == pytest.approx(0.0, abs=1e-12)


def test_an_empty_component_in_the_last_place_leaves_the_rest_as_it_is():
    rows, prior, _ = random_problem(2, known=2, novel=4)
    part = with_novelties(prior, 2)
    statistics = sweep(Rows.plain(rows), scores_of(before_rows(part))).statistics
    fewer = updated(part, statistics)
    order = np.array([0, 1, 2, 3, 3])
    empty = statistics.reordered(order)
    for name in ("counts", "weights", "sums", "squares"):
        getattr(empty, name)[4] = 0.0
    more = updated(with_novelties(prior, 3), empty)
    np.testing.assert_array_equal(more.weights.dirichlet, fewer.weights.dirichlet)
    np.testing.assert_array_equal(more.weights.broken, fewer.weights.broken)
    np.testing.assert_allclose(more.components.scale[:4], fewer.components.scale)
