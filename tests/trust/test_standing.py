"""Where rows stand between a fit and the labelled rows."""

import numpy as np
from scipy.special import logsumexp

from vbrand import samples
from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian
from vbrand.model.predictive import log_component_densities
from vbrand.model.prior import Prior
from vbrand.model.weights import prior_weights
from vbrand.trust.standing import by_class, labelled_view, standing_by_parts, standing_of


def test_unlike_is_the_log_ratio_of_two_densities():
    """(9.1)"""
    rng = np.random.default_rng(0)
    parts, labelled = rng.normal(size=(20, 5)), rng.normal(size=(20, 3))
    rows = standing_of(parts, labelled)
    np.testing.assert_allclose(np.exp(rows.unlike), np.exp(parts).sum(axis=1) / np.exp(labelled).sum(axis=1))
    np.testing.assert_allclose(logsumexp(rows.log_shares, axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(logsumexp(rows.log_labelled, axis=1), 0.0, atol=1e-12)


def test_rows_stand_where_they_do_whether_they_are_looked_at_together_or_by_parts(monkeypatch):
    monkeypatch.setattr(samples, "_PART", 300)
    rows, made = np.random.default_rng(0).normal(size=(700, 3)), []

    def stand(some):
        return standing_of(some @ np.ones((3, 4)), some[:, :2])

    def room(shape):
        made.append(shape)
        return np.zeros(shape)

    found, together = standing_by_parts(rows, stand, room), stand(rows)
    assert made == [(700, 4), (700, 2), (700,), (700,)]
    for name in ("log_shares", "log_labelled", "unlike", "order"):
        np.testing.assert_array_equal(getattr(found, name), getattr(together, name))
    assert standing_by_parts(rows[:0], stand, room).log_shares.shape == (0, 4)


def test_classes_are_the_sums_of_their_components():
    parts = np.log([[0.1, 0.2, 0.7]])
    np.testing.assert_allclose(np.exp(by_class(parts, np.array([0, 1, 0]))), [[0.8, 0.2]])


def test_the_labelled_view_weighs_components_by_their_rows():
    own = Components(
        np.array([[0.0], [4.0], [0.0]]), np.ones(3), np.full(3, 9.0), np.full((3, 1, 1), 8.0), (Gaussian(),) * 3
    )
    prior = Prior(own, prior_weights(np.ones(3), 1.0, 1), np.array([0, 1]))
    rows = np.linspace(-3, 7, 5)[:, None]
    found = labelled_view(prior, np.array([30, 10])).log_parts(rows)
    expected = np.log([0.75, 0.25]) + log_component_densities(rows, own)[:, :2]
    np.testing.assert_allclose(found, expected)
