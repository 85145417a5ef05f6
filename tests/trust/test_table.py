"""The table of cells: what hidden rows say about unlabelled ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, special, stats
from sklearn.isotonic import IsotonicRegression

from vbrand.trust.table import Counts, _draw_chance, _draw_usual, _rising, draw_shares, novelty_beyond
from vbrand.trust.tuning import TUNED

# long enough that what is seen is what the model says, and not the luck of a few draws
LONG = replace(TUNED, table_sweeps=600, warm_up=100)


def shares(unlabelled, hidden, starts, tuning=LONG):
    table = np.array(hidden, dtype=float)
    labelled = table.sum(axis=1) / table.sum()
    counts = Counts(
        np.array(unlabelled),
        table,
        np.array(starts),
        np.stack([labelled, labelled]),
        np.full((2, len(hidden)), TUNED.shift),
    )
    return draw_shares(counts, np.random.default_rng(0), tuning)


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
        found = shares([known[0], max(1, known[1] + novel)], [hidden], [0, 1, 2], TUNED)
        low, high = np.quantile(found.novel_rows[:, 1], [0.05, 0.95])
        covered.append(low <= novel <= high)
    assert np.mean(covered) > 0.75


@pytest.mark.parametrize(("rows", "known", "mean"), [(5, 2.0, 10.0), (0, 0.5, 3.0), (40, 12.0, 20.0)])
def test_novelty_follows_its_conditional(rows, known, mean):
    """(9.5) and (9.6), by quadrature."""
    beyond = novelty_beyond(np.array([rows]), np.array([0, 1]), mean)
    weighed = beyond.weigh(np.full((200_000, 1), known), np.full((200_000, 1), 0.5))
    drawn = beyond.draw(weighed, np.random.default_rng(0))[:, 0]

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


def test_a_class_that_grew_fivefold_and_was_cut_is_known():
    """Forty of 390 labelled rows, half of the unlabelled ones, in six pieces: known. A cell without any is novel."""
    pieces = np.array([5, 7, 8, 6, 4, 6])
    hidden = np.array([[340, 1, 1, 2, 2, 2, 2, 0], [4, *pieces, 0]], dtype=float)
    rows = np.array([1_500 + 150, *(36 * pieces + 4), 200])
    # a tenth of its hidden rows fell into known components, which hold 150 rows of it: so it has 1,500, give or take
    fit, worth = [0.5, 0.5], [1 / (1 / 341 + 1 / 1_501), 1 / (1 / 5 + 1 / 151)]
    counts = Counts(
        rows, hidden, np.arange(9), np.array([fit, [350 / 390, 40 / 390]]), np.array([worth, 2 * [TUNED.shift]])
    )
    found = draw_shares(counts, np.random.default_rng(0), TUNED)
    assert found.novel[1:7].max() < 0.3
    assert found.novel[7] > 0.9


def counts_of_cells(novel, before=0.0):
    """Return a table of one known cell and so many novel components of one cell, of 10 rows each."""
    cells = np.full(novel + 1, 10)
    return Counts(cells, np.ones((1, cells.size)), np.arange(cells.size + 1), np.ones((2, 1)), np.ones((2, 1)), before)


@pytest.mark.parametrize("before", [0.0, 220.0])
def test_the_chance_of_novelty_is_learned_from_all_novel_components(before):
    """(9.25), by quadrature; in a batch there is novelty only where it begins there: P = pi n_b / n.

    Of ten novel components three hold novelty.
    """
    counts, some = counts_of_cells(10, before), np.zeros((4_000, 11), dtype=bool)
    some[:, 1:4] = True
    lately = 110 / (110 + before)
    generator, chance = np.random.default_rng(0), np.full((4_000, 11), 0.2 * lately)
    for _ in range(1 if before == 0.0 else 30):
        chance = _draw_chance(chance, some, counts, generator)
    assert (chance[:, 0] == 0.2 * lately).all()

    def likelihood(p):
        pi = min(p, 0.5)
        return (pi * lately) ** 3 * (1.0 - pi * lately) ** 7

    evidence = integrate.quad(likelihood, 0.0, 1.0, points=[0.5])[0]
    expected = integrate.quad(lambda p: min(p, 0.5) * likelihood(p), 0.0, 1.0, points=[0.5])[0] / evidence
    assert chance[:, 1].mean() / lately == pytest.approx(expected, rel=0.02)


def test_draws_of_the_table_have_the_shares_that_the_model_says():
    """(9.26) and (9.27): one class, a known cell and a novel one, by a grid over N, q and s."""
    t, b, k, vague = np.array([60, 40]), np.array([6.0, 2.0]), 2.0, TUNED.vague / 2
    counts = Counts(t, b[None], np.arange(3), np.ones((2, 1)), np.full((2, 1), k))
    long = replace(TUNED, table_sweeps=1_500, warm_up=200, chains=40)
    found = draw_shares(counts, np.random.default_rng(0), long)

    rows = np.linspace(0.5, 300.0, 400)[:, None]  # N
    size = np.exp(np.linspace(0.0, np.log(100.0), 600))  # s, as likely on a scale of logarithms
    prior = integrate.trapezoid(stats.gamma.pdf(rows, k, scale=size / k), np.log(size), axis=1)[:, None]
    share = stats.beta(b[1] + vague, b[0] + vague).ppf((np.arange(150) + 0.5) / 150)[None]  # q of the novel cell
    rates = rows * (1.0 - share), rows * share
    none, some = zip(*(_likelihoods(t[c], rates[c], 10.0) for c in range(2)), strict=True)
    weight = prior * (TUNED.nothing_in_known * none[0] + (1.0 - TUNED.nothing_in_known) * some[0])
    # there is one novel cell, which holds novelty with probability E[min(p, 1/2)] = 3/8
    nu = np.linspace(0.0, 100.0, 400)[1:, None, None]
    joint = stats.poisson.pmf(t[1], rates[1] + nu) * np.exp(-nu / 10.0) / 10.0 * nu / (rates[1] + nu)
    novel = 3.0 * (weight * joint.sum(axis=0) * (nu[1] - nu[0]).item()).sum()
    assert found.novel[1] == pytest.approx(novel / (weight * (5.0 * none[1] + 3.0 * some[1])).sum(), abs=0.02)


def _likelihoods(rows, known, mean):
    """Return P(rows | known rate) without novelty, and with it (9.6)."""
    stretch = 1.0 + 1.0 / mean
    log_some = known / mean - np.log(mean) - (rows + 1) * np.log(stretch)
    return stats.poisson.pmf(rows, known), np.exp(log_some) * special.gammaincc(rows + 1, known * stretch)


def test_novelty_of_a_component_is_in_its_last_cells():
    """(9.5): a known cell, a component of one cell, and one of three; by counting all ways."""
    t, mean, chance = np.array([5, 3, 6, 2, 9]), 4.0, np.array([0.1, 0.3, 0.3])
    known = np.array([4.0, 2.5, 3.0, 1.5, 2.0])
    beyond = novelty_beyond(t, np.array([0, 1, 2, 5]), mean)
    none, some = _likelihoods(t, known, mean)
    ways = np.array([np.prod(np.append(none[2:i], some[i:])) for i in (2, 3, 4, 5)])
    ways *= np.array([0.1, 0.1, 0.1, 0.7])

    weighed = beyond.weigh(np.tile(known, (100_000, 1)), np.tile(chance, (100_000, 1)))
    np.testing.assert_allclose(np.exp(weighed.log_likely[0, 2]), ways.sum())
    np.testing.assert_allclose(np.exp(weighed.log_likely[0, 1]), 0.7 * none[1] + 0.3 * some[1])
    drawn = beyond.draw(weighed, np.random.default_rng(0)) > 0.0
    np.testing.assert_allclose(drawn[:, 2:].mean(axis=0), np.cumsum(ways[:3]) / ways.sum(), atol=0.01)
    assert drawn[:, 0].mean() == pytest.approx(0.1 * some[0] / (0.9 * none[0] + 0.1 * some[0]), abs=0.01)


def test_novelty_of_known_components_begins_after_their_first_cell():
    """(9.5): three cells of the known components, and a novel one; by counting all ways."""
    t, mean, known = np.array([9, 4, 6, 3]), 5.0, np.array([3.0, 2.0, 2.5, 1.0])
    beyond = novelty_beyond(t, np.array([0, 3, 4]), mean)
    none, some = _likelihoods(t, known, mean)
    ways = np.array([np.prod(np.append(none[:i], some[i:3])) for i in (1, 2, 3)]) * np.array([0.05, 0.05, 0.9])

    weighed = beyond.weigh(np.tile(known, (100_000, 1)), np.tile([0.1, 0.4], (100_000, 1)))
    np.testing.assert_allclose(np.exp(weighed.log_likely[0, 0]), ways.sum())
    drawn = beyond.draw(weighed, np.random.default_rng(0)) > 0.0
    assert not drawn[:, 0].any()
    np.testing.assert_allclose(drawn[:, 1:3].mean(axis=0), np.cumsum(ways[:2]) / ways.sum(), atol=0.01)
