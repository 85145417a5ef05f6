"""The table of cells: what hidden rows say about unlabelled ones."""

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.isotonic import IsotonicRegression

from vbrand.trust.table import Counts, _draw_usual, _rising, draw_shares, novelty_beyond
from vbrand.trust.tuning import TUNED


def shares(unlabelled, hidden, starts):
    table = np.array(hidden, dtype=float)
    labelled = table.sum(axis=1) / table.sum()
    counts = Counts(
        np.array(unlabelled),
        table,
        np.array(starts),
        np.stack([labelled, labelled]),
        np.full((2, len(hidden)), TUNED.shift),
    )
    return draw_shares(counts, np.random.default_rng(0), TUNED)


def test_a_cell_that_no_hidden_row_falls_into_is_novel():
    found = shares([200, 100], [[100, 0]], [0, 1, 2])
    assert found.novel[1] > 0.9
    assert found.novel[0] < 0.05
    np.testing.assert_allclose(found.classes.sum(axis=1) + found.novel, 1.0)


def test_a_cell_with_as_many_hidden_rows_as_it_should_have_is_the_class():
    found = shares([100, 100], [[50, 50]], [0, 1, 2])
    assert found.novel[1] < 0.25
    assert found.classes[1, 0] > 0.75


def test_a_mixed_cell_has_shares():
    """A tenth of the class, 30 rows, and 90 novel ones."""
    found = shares([270, 120], [[270, 30]], [0, 1, 2])
    assert 0.6 < found.novel[1] < 0.85
    low, high = np.quantile(found.novel_rows[:, 1], [0.05, 0.95])
    assert low < 90 < high


def test_shares_of_classes_may_shift():
    """Twice as many rows of the second class as labelled rows say: none is novel."""
    found = shares([100, 200, 1], [[50, 0, 0], [0, 50, 0]], [0, 2, 3])
    assert (found.novel[:2] < 0.1).all()


def test_the_interval_covers_the_truth_as_often_as_it_says():
    """Tables drawn from the model: known rows in a novel cell, many times."""
    rng, covered = np.random.default_rng(1), []
    for _ in range(60):
        places = rng.dirichlet([8.0, 1.0])
        hidden = rng.multinomial(80, places)
        known = rng.multinomial(200, places)
        novel = rng.integers(0, 60)
        found = shares([known[0], max(1, known[1] + novel)], [hidden], [0, 1, 2])
        low, high = np.quantile(found.novel_rows[:, 1], [0.05, 0.95])
        covered.append(low <= novel <= high)
    assert np.mean(covered) > 0.75


@pytest.mark.parametrize(("rows", "known", "mean"), [(5, 2.0, 10.0), (0, 0.5, 3.0), (40, 12.0, 20.0)])
def test_novelty_follows_its_conditional(rows, known, mean):
    """(9.5) and (9.6), by quadrature."""
    nothing = np.full(1, 0.5)
    beyond = novelty_beyond(np.array([rows]), nothing, mean)
    drawn = beyond.draw(np.full((200_000, 1), known), np.random.default_rng(0))[:, 0]

    def density(nu):
        return stats.poisson.pmf(rows, known + nu) * np.exp(-nu / mean) / mean

    some = integrate.quad(density, 0.0, 300.0)[0]
    none = stats.poisson.pmf(rows, known)
    assert (drawn > 0.0).mean() == pytest.approx(some / (some + none), abs=0.01)
    expected = integrate.quad(lambda nu: nu * density(nu), 0.0, 300.0)[0] / some
    assert drawn[drawn > 0.0].mean() == pytest.approx(expected, rel=0.03)


def test_novelty_rises_with_what_is_unlike():
    """(9.7), by scikit-learn's isotonic regression."""
    rng = np.random.default_rng(0)
    novelty, known = rng.exponential(1.0, (30, 7)) * (rng.random((30, 7)) < 0.6), rng.exponential(10.0, (30, 7))
    for found, nu, rate in zip(_rising(novelty, known), novelty, known, strict=True):
        expected = IsotonicRegression().fit_transform(np.arange(7), nu / rate, sample_weight=rate)
        np.testing.assert_allclose(found / rate, expected, atol=1e-12)


def test_too_many_rows_that_are_like_the_labelled_ones_are_no_novelty():
    found = shares([150, 50, 50, 50], [[50, 50, 50, 50]], [0, 4])
    assert found.novel.max() < 0.2
    found = shares([50, 50, 50, 250], [[50, 50, 50, 50]], [0, 4])
    assert found.novel[3] > 0.5


def test_shares_are_believed_as_often_as_they_are_likely():
    """(9.9), by quadrature."""
    beliefs, worth = np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([[8.0, 3.0], [5.0, 5.0]])
    held, size, chains = np.array([12, 9]), 25.0, 100_000
    counts = Counts(np.ones(1, dtype=int), np.ones((2, 1)), np.array([0, 1]), beliefs, worth)
    drawn, firmly = _draw_usual(
        counts, np.broadcast_to(held, (chains, 2)), np.full(chains, size), np.random.default_rng(0)
    )

    def likelihood(rows, mean, shape):
        def joint(rate):
            return stats.poisson.pmf(rows, rate) * stats.gamma.pdf(rate, shape, scale=mean / shape)

        return integrate.quad(joint, 0.0, 200.0)[0]

    odds = [
        np.prod([likelihood(z, size * w, k) for z, w, k in zip(held, belief, rows, strict=True)])
        for belief, rows in zip(beliefs, worth, strict=True)
    ]
    assert (drawn[:, 0] == 0.4).mean() == pytest.approx(odds[1] / sum(odds), abs=0.01)
    np.testing.assert_array_equal(firmly[:, 0] == 5.0, drawn[:, 0] == 0.4)


def test_names_of_classes_do_not_change_the_draws():
    hidden, order = [[40, 10, 0], [0, 20, 5], [3, 30, 9]], [2, 0, 1]
    plain = shares([60, 70, 30], hidden, [0, 2, 3])
    renamed = shares([60, 70, 30], [hidden[j] for j in order], [0, 2, 3])
    np.testing.assert_array_equal(renamed.classes, plain.classes[:, order])
    np.testing.assert_array_equal(renamed.novel_rows, plain.novel_rows)
