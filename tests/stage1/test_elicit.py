"""The prior says what stage 1 found, and no more."""

from dataclasses import replace

import numpy as np
import pytest

from vbrand.model.prior import with_novelties
from vbrand.stage1.classes import learn_classes
from vbrand.stage1.elicit import Beliefs, elicit


@pytest.fixture(scope="module")
def known():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0.0, 1.0, (40, 3)), rng.normal(9.0, 2.0, (80, 3))])
    return learn_classes(rows, np.repeat([0, 1], [40, 80]))


def test_given_strengths_make_the_expected_scatter_the_robust_one(known):
    prior = elicit(known, Beliefs(known_mean_strength=50.0, known_scatter_strength=20.0, known_scatter_factor=0.1), 4)
    own = prior.components
    np.testing.assert_allclose(own.dof[:2], 20.0 + 3 + 1)
    np.testing.assert_allclose(own.scale[:2] / (own.dof[:2, None, None] - 3 - 1), 0.1 * known.scatters)
    np.testing.assert_allclose(own.precision[:2], 50.0)
    np.testing.assert_allclose(own.mean[:2], known.centres)


def test_a_class_is_worth_its_rows_and_more_where_they_are_few_for_its_parameters(known):
    for rows, worth in (([40, 80], [90.0, 90.0]), ([400, 91], [400.0, 91.0]), ([4, 8], [40.0, 80.0])):
        own = elicit(replace(known, rows=np.array(rows)), Beliefs(), 4).components  # ten for each of 9 parameters
        np.testing.assert_allclose(own.precision[:2], worth)
        np.testing.assert_allclose(own.scale[:2] / np.array(worth)[:, None, None], known.scatters)


def test_a_known_class_has_a_lighter_tail_than_one_that_nobody_has_seen(known):
    components = elicit(replace(known, rows=np.array([4, 8])), Beliefs(), 4).components
    assert (components.dof[:2] > components.dof[2]).all()


def test_novel_classes_are_expected_to_look_like_an_average_known_one(known):
    prior = elicit(known, Beliefs(), 4)
    base = prior.components
    assert (base.dof[2:] == 33.0).all()
    np.testing.assert_allclose(base.scale[3] / 29.0, np.average(known.scatters, axis=0, weights=[40, 80]))
    fewer = with_novelties(prior, 1)
    assert (fewer.opened, fewer.novel, fewer.known) == (1, prior.novel, prior.known)


def test_every_hyperparameter_of_novelty_can_be_set(known):
    beliefs = Beliefs(
        known_weight=0.2,
        novel_weight=0.3,
        novel_mean=np.arange(3.0),
        novel_mean_strength=0.5,
        novel_dof=7.0,
        novel_scale=2.0 * np.eye(3),
        concentration=5.0,
    )
    prior = elicit(known, beliefs, 4)
    base, weights = prior.components, prior.weights
    np.testing.assert_allclose(base.mean[2:], np.tile(np.arange(3.0), (4, 1)))
    assert (base.precision[2], base.dof[2], base.scale[2, 0, 0]) == (0.5, 7.0, 2.0)
    np.testing.assert_allclose(weights.dirichlet, [0.2, 0.2, 0.3])
    np.testing.assert_allclose(weights.passed, [5.0, 5.0, 5.0])


def test_inductive_learning_takes_stage_1_as_it_is(known):
    own = elicit(known, Beliefs(), 4, update_known=False).components
    assert own.fixed.tolist() == [True, True, False, False, False, False]
    np.testing.assert_allclose(own.scale[:2], known.scatters)


def test_classes_that_wild_rows_draw_out_lie_and_scatter_no_farther_than_rows_count(known):
    wild, far = np.array([1e8, -1e9, 1e7]), 1e4
    drawn = replace(
        known,
        centres=known.centres + wild,
        scatters=known.scatters + 0.1 * np.outer(wild, wild),
        average=known.average + 0.1 * np.outer(wild, wild),
    )
    for update in (True, False):
        prior = elicit(drawn, Beliefs(farthest=far, novel_mean=wild), 4, update_known=update).components
        assert np.abs(prior.mean).max() <= far
        assert np.linalg.cond(prior.scale).max() < 1.001e12
        strength = np.where(np.isinf(prior.precision), 1.0, prior.dof - 4.0)
        np.testing.assert_allclose(np.linalg.eigvalsh(prior.scale)[:, -1] / strength, far**2)


def test_classes_that_lie_within_reach_are_as_stage_1_found_them(known):
    near, anywhere = (elicit(known, Beliefs(farthest=far), 4).components for far in (1e3, np.inf))
    for name in ("mean", "precision", "dof", "scale"):
        np.testing.assert_array_equal(getattr(near, name), getattr(anywhere, name))
