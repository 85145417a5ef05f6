"""How wide the modes of known classes are."""

import numpy as np
import pytest

from vbrand import VBrand
from vbrand.model.kernels import Gaussian
from vbrand.stage1.modes import learn_modes
from vbrand.stage1.scatters import alike_scatters, average_scatter, sphere_without
from vbrand.stage1.tuning import TUNED


def statistics(rows, labels):
    """Return the statistics of the modes that these rows make: each class is one."""
    known = learn_modes(rows, labels, kernel=Gaussian(), max_modes=1)
    return known, known.lessons.statistics


@pytest.fixture
def two():
    rng = np.random.default_rng(3)
    return rng.normal(size=(90, 2)) + np.repeat([[0.0, 0.0], [6.0, 1.0]], 45, axis=0), np.repeat(["a", "b"], 45)


def test_the_average_is_that_of_the_rows_about_their_own_middles_and_of_a_few_round_ones(two):
    """(3.20), by the deviations themselves."""
    _, used = statistics(*two)
    own, average = average_scatter(used, None, TUNED, np.eye(2))
    for k in range(2):
        middle = used.sums[k] / used.weights[k]
        np.testing.assert_allclose(own[k], used.squares[k] - used.weights[k] * np.outer(middle, middle))
    round_rows = TUNED.spherical_rows
    by_hand = (own[0] + own[1] + round_rows * np.eye(2)) / (used.counts.sum() + round_rows)
    np.testing.assert_allclose(average, by_hand)


def test_what_no_row_is_hidden_from_stays_a_sphere(two):
    """(3.26) with the same rows before and after is the sphere itself."""
    _, used = statistics(*two)
    np.testing.assert_allclose(sphere_without(used, used, None, TUNED, np.eye(2)), np.eye(2), atol=1e-9)


def test_a_class_without_a_known_cell_lies_at_its_origin_and_spoils_no_scatter(two):
    rows, labels = two
    rows[labels == "a"] = np.nan
    with np.errstate(divide="raise", invalid="raise"):
        _, used = statistics(rows, labels)
        centres, scatters, average, _ = alike_scatters(used, None, TUNED, np.eye(2))
    assert used.weights[0] == 0.0
    assert used.weights[1] > 0.0
    np.testing.assert_array_equal(centres[0], np.broadcast_to(used.origin, centres.shape)[0])
    assert all(np.isfinite(each).all() for each in (centres, scatters, average))


def test_a_discovery_goes_on_where_a_class_has_no_number():
    """Found by the attack: three classes in one column of numbers, of which one has none."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(15, 1))
    x[:7] = np.nan
    y = np.repeat(["none", "low", "high"], [7, 5, 3])
    x[y == "high"] += 9.0
    detector = VBrand(random_state=0).fit(x, y)
    with np.errstate(divide="raise", invalid="raise"):
        found = detector.discover(np.r_[rng.normal(size=(10, 1)), [[np.nan]]])
    assert np.isfinite(found.probabilities).all()
    assert found.labels.size == 11
