"""Known classes that move are told from those that do not."""

import numpy as np
import pytest
from scipy.stats import kstest

from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian
from vbrand.model.posterior import Posterior
from vbrand.model.weights import prior_weights
from vbrand.stage1.lessons import Witnesses
from vbrand.trust.drift import Batch, _moved, _sample, drifts


def chances(rng, sizes, spread=1.0, shift=0.0, draws=400):
    """Return how likely the means of two samples are so far apart by chance, for many pairs of samples."""
    found = []
    for _ in range(draws):
        rows = [rng.normal(0, 1, (size, 3)) * spread for size in sizes]
        rows[1][:, 0] += shift
        found.append(_moved(*(_sample(each, np.ones(len(each))) for each in rows), np.eye(3))[0])
    return np.array(found)


@pytest.mark.parametrize("spread", [1.0, np.array([1.0, 0.3, 4.0])])
@pytest.mark.parametrize("sizes", [(40, 25), (15, 200), (60, 3)])
def test_without_drift_chances_are_as_likely_as_they_say(sizes, spread):
    """Or less: of two ways to see the spread the wider one counts."""
    found = chances(np.random.default_rng(0), sizes, spread)
    assert (found < 0.05).mean() < 0.08
    assert (found < 0.5).mean() < 0.57
    if min(sizes) > 3:
        assert kstest(found, "uniform", alternative="greater").pvalue > 1e-3
        assert (found < 0.5).mean() > 0.3


def test_a_few_rows_that_are_alike_are_no_drift():
    """Two rows tell little of their scatter: the labelled ones do."""
    rng = np.random.default_rng(7)
    rows = np.where(rng.random((60, 3)) < 0.5, 0.0, rng.gamma(1.0, 1.0, (60, 3)))  # many zeros
    pair = np.zeros((2, 3))
    assert _moved(_sample(rows, np.ones(60)), _sample(pair, np.ones(2)), np.eye(3))[0] > 0.05


def test_one_far_row_among_few_is_no_drift():
    rng = np.random.default_rng(8)
    few = np.vstack([rng.normal(size=(2, 3)), np.full((1, 3), 12.0)])
    assert _moved(_sample(rng.normal(size=(60, 3)), np.ones(60)), _sample(few, np.ones(3)), np.eye(3))[0] > 0.05


def test_a_class_that_moves_by_a_standard_deviation_is_told():
    assert np.median(chances(np.random.default_rng(1), (60, 40), shift=1.0)) < 1e-3


def test_weights_of_rows_are_how_often_they_count():
    rows = np.random.default_rng(2).normal(size=(30, 3))
    twice = _sample(np.vstack([rows, rows]), np.full(60, 0.5))
    weighted = _sample(rows, np.full(30, 7.0))
    np.testing.assert_allclose(weighted.mean, twice.mean)
    assert weighted.size == pytest.approx(30)
    np.testing.assert_allclose(weighted.scatter, np.cov(rows.T))
    assert _sample(rows, np.append(1.0, np.zeros(29))) is None
    assert _sample(rows, np.zeros(30)) is None


def two_classes():
    """Return what is believed of two classes in two columns, four standard deviations apart."""
    mean = np.array([[0.0, 0.0], [4.0, 0.0]])
    scale = np.stack([100.0 * np.eye(2)] * 2)
    components = Components(mean, np.full(2, 100.0), np.full(2, 103.0), scale, (Gaussian(), Gaussian()))
    return Posterior(components, prior_weights(np.ones(2), 1.0, 2))


def rows_of(rng, first, second, shift=0.0):
    return np.vstack([rng.normal((shift, 0), 1, (first, 2)), rng.normal((4, 0), 1, (second, 2))])


def told(rng, first, second, shift=0.0, batch=1):
    witnesses = Witnesses(rows_of(rng, 200, 200), np.repeat([0, 1], 200))
    rows = rows_of(rng, first, second, shift)
    member = np.full(len(rows), -1)
    own = Batch(batch, rows, member, np.array([first, second], dtype=float))
    return drifts(own, witnesses, two_classes(), np.array([0, 1]))


def test_the_class_that_moved_is_named_with_its_rows_and_how_far():
    (found,) = told(np.random.default_rng(3), 100, 80, shift=-1.0)
    assert (found.member, found.rows) == (0, 100)
    assert found.distance == pytest.approx(1.0, abs=0.25)


def test_other_shares_of_classes_are_no_drift():
    """A class of few rows takes more of its neighbour's: so it does of the labelled ones."""
    for seed in range(20):
        assert told(np.random.default_rng(seed), 1_000, 30) == ()


def test_rows_with_missing_cells_are_left_out_and_an_absent_class_is_no_drift():
    rng = np.random.default_rng(4)
    rows = rows_of(rng, 60, 0)
    rows[0, 0] = np.nan
    witnesses = Witnesses(rows_of(rng, 50, 50), np.repeat([0, 1], 50))
    batch = Batch(1, rows, np.full(60, -1), np.array([60.0, 0.0]))
    assert drifts(batch, witnesses, two_classes(), np.array([0, 1])) == ()


def test_rows_with_labels_tell_of_a_class_that_has_left_its_place():
    """Without labels its rows would be those of the other class, or novel."""
    rng = np.random.default_rng(6)
    rows = rows_of(rng, 15, 60, shift=4.0)
    witnesses = Witnesses(rows_of(rng, 50, 50), np.repeat([0, 1], 50))
    member = np.append(np.zeros(15, dtype=int), np.full(60, -1))
    (found,) = drifts(Batch(1, rows, member, np.array([0.0, 75.0])), witnesses, two_classes(), np.array([0, 1]))
    assert (found.member, found.rows) == (0, 15)
    assert found.distance == pytest.approx(4.0, abs=0.6)


def test_a_long_stream_is_ever_said_to_drift_with_a_chance_of_one_in_a_hundred():
    """The later the batch, the surer it has to be: .01 is shared out among all of them."""
    assert told(np.random.default_rng(5), 60, 60, shift=-1.0)
    assert not told(np.random.default_rng(5), 60, 60, shift=-1.0, batch=100_000)


def test_tiny_shares_of_many_rows_are_no_rows():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    assert _sample(rows, np.full(40, 1e-9)) is None
    assert _sample(rows, np.full(40, 1.0)) is not None
