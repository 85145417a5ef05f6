"""What a batch begins with, and what is kept of it."""

import numpy as np
import pytest
from stream import fitted, rows_of

from vbrand.estimators.story import afresh, begun, earlier_of, empty, frozen


def test_there_is_no_story_before_rows(rng):
    assert begun(fitted(rng)._fitted.finding) is None


def test_a_discovery_is_the_first_batch_of_a_story(rng):
    detector = fitted(rng)
    detector.discover(rows_of(rng, third=20))
    story = begun(detector._fitted.finding)
    assert (story.batches, story.rows, story.unused) == (1, 60, 2)
    assert story.numbers[story.numbers > 0].tolist() == [1]
    assert story.taught.counts.sum() == pytest.approx(60)


def test_rows_that_are_no_longer_at_hand_have_taught_the_same(rng):
    detector = fitted(rng)
    detector.update(rows_of(rng, third=20))
    finding = detector._fitted.finding
    gone = frozen(finding.story, finding.posterior, finding.story.homes >= -1)
    assert gone.homes.size == 0
    assert gone.taught.counts.sum() == pytest.approx(60, abs=0.1)
    earlier = earlier_of(gone)
    components = earlier.prior(detector._prior(detector._fitted.learned, 0, 20)).components
    np.testing.assert_allclose(components.mean[:3], finding.posterior.components.mean[:3], atol=1e-3)


def test_a_discovery_that_begins_anew_keeps_named_groups_only(rng):
    detector = fitted(rng)
    detector.update(rows_of(rng, third=20, fourth=15))
    assert afresh(detector._fitted.finding.story, 2) is None
    detector.name("novel 2", "millet")
    story = afresh(detector._fitted.finding.story, 2)
    assert story.class_of.tolist() == [2]
    np.testing.assert_allclose(story.taught.counts, [0, 0, 15], atol=0.1)


def test_an_empty_story_changes_no_prior(rng):
    detector = fitted(rng)
    prior = detector._prior(detector._fitted.learned, 0, 20)
    same = earlier_of(empty(2, 3)).prior(prior)
    for name in ("mean", "precision", "dof", "scale"):
        np.testing.assert_array_equal(getattr(same.components, name), getattr(prior.components, name))
    np.testing.assert_array_equal(same.weights.dirichlet, prior.weights.dirichlet)
