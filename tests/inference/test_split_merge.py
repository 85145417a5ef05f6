"""Splits and merges: what a split does a merge undoes, with the inverse of its ratio."""

from dataclasses import replace

import numpy as np
import pytest
from problems import random_prior

from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.inference.split_merge import _dealt, moves_per_sweep, reseated
from vbrand.inference.tuning import SamplerTuning
from vbrand.model.components import evidence
from vbrand.model.levels import Levels
from vbrand.model.weights import log_split_odds


def problem(fixed=False, seed=0, n=25, p=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 3.0 * rng.integers(0, 2, size=(n, 1)), random_prior(rng, 1, 1, p, fixed), rng


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("first", [0, 1])
def test_a_split_and_the_merge_that_undoes_it_have_inverse_ratios(first, fixed):
    """The merge deals the same rows to the same seats: the same probability of the choices, the same likelihoods."""
    rows, prior, rng = problem(fixed)
    three, shares = np.array([first, 1, first]), np.array([0.7, 2.0, 1.5] if first == 0 else [0.0, -1.0, -1.0])
    given = np.full(len(rows), -1)
    given[:2] = 0, 1
    split = _dealt(rows, prior.components, three, shares, given, rng.random(len(rows)))
    merge = _dealt(rows, prior.components, three, shares, split[2], rng.random(len(rows)))
    assert merge[0] == split[0] < 0.0
    np.testing.assert_array_equal(merge[1], split[1])
    np.testing.assert_array_equal(merge[2], split[2])


@pytest.mark.parametrize("fixed", [False, True])
def test_likelihoods_of_dealt_rows_are_those_of_their_components(fixed):
    """Row after row or all at once, the rows of a component have the same marginal likelihood."""
    rows, prior, rng = problem(fixed)
    given = np.full(len(rows), -1)
    given[:2] = 0, 1
    _, logs, seats = _dealt(
        rows, prior.components, np.array([0, 1, 0]), np.array([0.7, 2.0, 1.5]), given, rng.random(25)
    )
    apart = evidence(prior.components, statistics_of_labels(Rows.plain(rows), seats, 2))
    together = evidence(prior.components, statistics_of_labels(Rows.plain(rows), np.zeros(25, int), 2))
    np.testing.assert_allclose(logs, [*apart, together[0]], rtol=1e-9)


@pytest.mark.parametrize("fixed", [False, True])
def test_levels_of_dealt_rows_count_as_those_of_their_components(fixed):
    """(10.18), row after row or all at once; a level that is missing has no part in it."""
    rows, prior, rng = problem(fixed)
    counts = rng.uniform(0.5, 2.0, (2, 5))
    levels = Levels(counts, (2, 3), np.array([fixed, False]))
    counts[levels.fixed] /= levels.totals[levels.fixed]
    codes = np.column_stack([rng.integers(-1, 2, 25), rng.integers(0, 3, 25)])
    mixed, components = np.column_stack([rows, codes]), replace(prior.components, levels=levels)
    given = np.full(len(rows), -1)
    given[:2] = 0, 1
    _, logs, seats = _dealt(mixed, components, np.array([0, 1, 0]), np.array([0.7, 2.0, 1.5]), given, rng.random(25))
    each = [evidence(components, statistics_of_labels(Rows.plain(mixed, (2, 3)), who, 2)) for who in (seats, 0 * seats)]
    np.testing.assert_allclose(logs, [*each[0], each[1][0]], rtol=1e-9)


def test_probabilities_of_all_ways_to_deal_sum_to_one():
    rows, prior, rng = problem(n=6)
    total = 0.0
    for code in range(2**4):
        seats = np.array([0, 1, *((code >> bit) & 1 for bit in range(4))])
        dealt = _dealt(rows, prior.components, np.array([1, 1, 1]), np.array([0.0, -1.0, -1.0]), seats, rng.random(6))
        total += np.exp(dealt[0])
    assert total == pytest.approx(1.0)


def test_odds_of_a_split_in_two_steps_do_not_depend_on_their_order():
    """A known class of nine rows loses two to one novel cluster and three to another."""
    alphas = (0.8, 1.3)

    def odds(first, second, novel):
        return log_split_odds(first, second, 0.6, alphas, novel)

    assert odds(7, 2, 4) + odds(4, 3, 6) == pytest.approx(odds(6, 3, 4) + odds(4, 2, 7))


def test_a_move_touches_two_components_at_the_most_and_numbers_a_new_one_next():
    rows, prior, rng = problem(n=60)
    labels, seen = np.repeat([0, 1, 2], 20), set()
    for _ in range(400):
        moved = reseated(Rows.plain(rows), prior, labels, 1.0, rng)
        if moved is None:
            continue
        changed = moved != labels
        assert changed.any()
        assert len({*labels[changed].tolist(), *moved[changed].tolist()}) == 2
        new = set(moved.tolist()) - set(labels.tolist())
        assert new <= {3}
        seen.add(bool(new))
    assert seen == {True, False}  # splits and merges both


def test_a_sweep_is_worth_one_to_three_moves():
    assert [moves_per_sweep(n, p) for n, p in ((50, 2), (10**6, 2), (50, 1_000))] == [3, 1, 1]
    assert moves_per_sweep(50, 2, SamplerTuning(most_moves=0)) == 0
