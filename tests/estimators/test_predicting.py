"""Predictions that agree with each other."""

import numpy as np
import pytest

from vbrand import VBrand


@pytest.fixture(scope="module")
def grains():
    rng = np.random.default_rng(0)
    known = np.vstack([rng.normal(0, 1, (30, 3)), rng.normal(9, 1, (30, 3))])
    return known, np.repeat([3, 7], 30), rng.normal(0, 6, (25, 3))


def test_predictions_agree_with_each_other(grains):
    known, labels, unknown = grains
    detector = VBrand(threshold=0.3).fit(known, labels)
    shares = detector.predict_proba(unknown)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    np.testing.assert_array_equal(detector.predict(unknown) == -1, shares[:, -1] > 0.3)
    np.testing.assert_array_equal(detector.decision_function(unknown), -detector.novelty_score(unknown))
    np.testing.assert_array_equal(detector.novelty_score(unknown) > 0.0, detector.predict(unknown) == -1)


def test_a_density_follows_the_units(grains):
    known, labels, unknown = grains
    factor = np.array([10.0, 0.1, 2.0])
    plain = VBrand().fit(known, labels).score_samples(unknown)
    scaled = VBrand().fit(known * factor, labels).score_samples(unknown * factor)
    np.testing.assert_allclose(scaled, plain - np.log(factor).sum(), rtol=1e-6)
