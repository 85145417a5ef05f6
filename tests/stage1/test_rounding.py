"""Rounded columns: what rounding hides is part of the model."""

import numpy as np
import pytest
from scipy import integrate, stats

from vbrand import VBrand
from vbrand.inference.cavi import ascend
from vbrand.inference.rows import Rows
from vbrand.model.components import Components, evidence, posterior_from
from vbrand.model.kernels import Gaussian, Student
from vbrand.model.posterior import Posterior, before_rows, scores_of
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.model.weights import prior_weights
from vbrand.stage1.coordinates import Coordinates


def rounded(step, seed=0, each=150):
    """Return labelled rows of two classes and unlabelled ones of them and of a third, all rounded."""
    rng = np.random.default_rng(seed)
    places = np.array([[0.0, 0.0, 0.0], [5.0, 0.0, 3.0], [-5.0, -5.0, 0.0]])
    labels, truth = np.repeat([0, 1], each), np.repeat([0, 1, 2], [6 * each, 6 * each, each])
    known, new = (places[of] + rng.normal(size=(of.size, 3)) for of in (labels, truth))
    return np.round(known / step) * step, labels, np.round(new / step) * step, truth


def component(noise, kernel=None):
    scale = np.array([[2.0, 0.3], [0.3, 1.0]])[None]
    chosen = Gaussian() if kernel is None else kernel
    return Components(np.zeros((1, 2)), np.array([0.5]), np.array([5.0]), scale, (chosen,), noise)


def test_noise_is_the_variance_of_what_rounding_hides():
    rows = np.column_stack([np.tile(np.arange(10.0), 6), np.random.default_rng(0).normal(size=60)])
    coordinates = Coordinates.of(rows)
    expected = np.diag([1.0 / 12.0 / coordinates.unit[0] ** 2, 0.0])
    np.testing.assert_allclose(coordinates.noise, expected)
    assert Coordinates.of(rows, rounded=False).noise is None


@pytest.mark.parametrize("kernel", [Gaussian(), Student(7.0)])
def test_a_score_is_the_mean_over_the_cell(kernel):
    """(5.12): for a Gaussian the expectation over the cell; for a Student t what its expected distance gives."""
    noise, at = np.diag([0.4**2 / 12.0, 0.0]), np.array([0.7, -0.2])
    weights = prior_weights(np.ones(1), 1.0, 1)

    def score(row, hidden):
        scores = scores_of(Posterior(component(hidden, kernel), weights))
        distance = np.square(scores.root[0] @ (row - scores.centre[0])).sum()
        if isinstance(kernel, Gaussian):
            return scores.constant[0] - 0.5 * distance
        return scores.constant[0] - scores.power[0] * np.log1p(distance / scores.tail[0])

    if isinstance(kernel, Gaussian):
        inside = integrate.quad(lambda e: score(at + np.array([e, 0.0]), None) / 0.4, -0.2, 0.2)[0]
        assert score(at, noise) == pytest.approx(inside)
    else:
        assert score(at, noise) < score(at, None)
        assert score(at, np.zeros((2, 2))) == score(at, None)


def test_an_update_is_that_of_rows_spread_over_their_cells():
    """(5.9) and (7.1): rows on a fine grid within each cell, weighing one together."""
    rng, step, points = np.random.default_rng(0), 0.5, 400
    rows = np.round(rng.normal(size=(30, 2)) / step) * step
    inside = (np.arange(points) + 0.5) / points - 0.5
    spread = np.repeat(rows, points, axis=0)
    spread[:, 0] += np.tile(inside * step, rows.shape[0])

    def statistics(table, weight):
        squares = weight * (table.T @ table)[None]
        count = np.array([weight * table.shape[0]])
        return Statistics(count, count, np.zeros((1, 2)), weight * table.sum(axis=0)[None], squares, 0.0)

    noise = np.diag([step**2 / 12.0, 0.0])
    plain, fine = statistics(rows, 1.0), statistics(spread, 1.0 / points)
    found, expected = posterior_from(component(noise), plain), posterior_from(component(None), fine)
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-5)
    np.testing.assert_allclose(evidence(component(noise), plain), evidence(component(None), fine), rtol=1e-5)


def test_the_evidence_of_a_point_mass_is_that_of_its_cells():
    """(7.2): against the mean log density over cells."""
    fixed = Components(
        np.zeros((1, 1)), np.array([np.inf]), np.array([3.0]), np.full((1, 1, 1), 2.0), (Gaussian(),), np.eye(1) / 12.0
    )
    rows = np.array([-1.0, 0.0, 2.0])
    count = np.array([3.0])
    statistics = Statistics(
        count, count, np.zeros((1, 1)), rows.sum().reshape(1, 1), (rows @ rows).reshape(1, 1, 1), 0.0
    )
    inside = sum(
        integrate.quad(lambda x: stats.norm.logpdf(x, 0.0, np.sqrt(2.0)), y - 0.5, y + 0.5)[0] for y in rows.tolist()
    )
    assert evidence(fixed, statistics)[0] == pytest.approx(inside)


def test_the_bound_never_falls_and_lies_below_the_probability_of_the_cells():
    rng = np.random.default_rng(1)
    rows = np.round(rng.normal(size=(40, 1)))
    one = Components(
        np.zeros((1, 1)), np.array([np.inf]), np.array([3.0]), np.ones((1, 1, 1)), (Gaussian(),), np.eye(1) / 12.0
    )
    prior = Prior(one, prior_weights(np.ones(1), 1.0, 1), np.zeros(0, dtype=np.int64))
    found = ascend(Rows.plain(rows), prior, before_rows(prior))
    exact = np.log(stats.norm.cdf(rows + 0.5) - stats.norm.cdf(rows - 0.5)).sum()
    assert found.bound.total <= exact
    assert found.bound.total > exact - 0.05 * rows.size
    assert (np.diff(found.trace) >= -1e-9).all()


@pytest.mark.parametrize("step", [0.25, 0.5, 1.0])
def test_rounded_classes_are_no_novelty(step):
    known, labels, new, truth = rounded(step)
    found = VBrand(random_state=0, check=0).fit(known, labels).discover(new)
    assert (found.labels[truth < 2] == -1).mean() < 0.02
    assert (found.labels[truth == 2] == -1).mean() > 0.97


def test_a_note_says_which_columns_are_rounded():
    known, labels, new, _ = rounded(1.0)
    known[:, 2] += np.random.default_rng(0).normal(size=known.shape[0])
    found = VBrand(random_state=0).fit(known, labels).discover(new)
    assert any("rounded columns: column 0 to 1, column 1 to 1." in note for note in found.notes)
