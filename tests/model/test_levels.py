"""Columns of categories: scores, divergence, evidence and bound, against draws, enumeration and predictions."""

from itertools import product

import numpy as np
from scipy.special import gammaln

from vbrand.inference.cavi import ascend
from vbrand.inference.rows import Rows
from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian
from vbrand.model.levels import (
    Levels,
    added_up,
    codes_of,
    diverge_levels,
    level_evidence,
    level_scores,
    levels_from,
    log_level_densities,
    one_hot,
    tally_levels,
)
from vbrand.model.posterior import before_rows
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.model.weights import prior_weights

SIZES = (2, 3)


def levels(*counts, fixed=False):
    counts = np.array(counts, dtype=float)
    return Levels(counts, SIZES, np.full(counts.shape[0], fixed))


def test_scores_and_divergence_agree_with_draws():
    rng = np.random.default_rng(0)
    prior, posterior = levels([1.0, 2.0, 0.5, 0.5, 1.0]), levels([4.0, 2.5, 3.5, 0.6, 1.0])
    draws = [rng.dirichlet(posterior.counts[0, part], 400_000) for part in (slice(0, 2), slice(2, 5))]
    np.testing.assert_allclose(
        level_scores(posterior)[0, :-1], np.log(np.column_stack(draws)).mean(axis=0), rtol=0, atol=0.02
    )
    assert level_scores(posterior)[0, -1] == 0.0

    apart = 0.0
    for drawn, part in zip(draws, (slice(0, 2), slice(2, 5)), strict=True):
        a, b = posterior.counts[0, part], prior.counts[0, part]
        own = gammaln(a.sum()) - gammaln(a).sum() + ((a - 1.0) * np.log(drawn)).sum(axis=1)
        other = gammaln(b.sum()) - gammaln(b).sum() + ((b - 1.0) * np.log(drawn)).sum(axis=1)
        apart += (own - other).mean()
    np.testing.assert_allclose(diverge_levels(posterior, prior), apart, rtol=0, atol=0.02)


def test_evidence_is_the_chain_of_predictions():
    rng = np.random.default_rng(1)
    prior = levels([0.7, 1.3, 0.4, 1.1, 0.2])
    rows = np.column_stack([rng.integers(-1, 2, 12), rng.integers(-1, 3, 12)]).astype(float)
    codes = codes_of(rows, SIZES)
    seen, chain = np.zeros((1, 5)), 0.0
    for i in range(12):
        chain += log_level_densities(levels_from(prior, seen), codes[i : i + 1])[0, 0]
        seen = seen + tally_levels(codes[i : i + 1], np.zeros(1, dtype=int), 1, 5)
    np.testing.assert_allclose(level_evidence(prior, seen, np.array([0])), chain)


def test_what_is_known_exactly_stays_and_costs_nothing():
    exact = levels([0.25, 0.75, 0.5, 0.3, 0.2], fixed=True)
    seen = np.array([[3.0, 1.0, 0.0, 2.0, 2.0]])
    assert levels_from(exact, seen).counts.tolist() == exact.counts.tolist()
    assert diverge_levels(exact, exact) == 0.0
    np.testing.assert_allclose(level_evidence(exact, seen, np.array([0])), (seen * np.log(exact.counts)).sum())


def test_a_missing_level_has_no_part():
    table = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 0.0]])
    assert added_up(table, codes_of(np.array([[0.0, -1.0], [1.0, 2.0]]), SIZES)).tolist() == [[1.0], [7.0]]
    assert one_hot(np.array([[1, 5]]), 5).tolist() == [[0.0, 1.0, 0.0, 0.0, 0.0]]


def prior_of(components, known):
    weights = prior_weights(np.ones(known + 1), 1.0, components.dof.size - known)
    return Prior(components, weights, np.arange(known))


def fixed_numbers(own):
    count = own.counts.shape[0]
    scale = np.full((count, 1, 1), 1.0 / (2.0 * np.pi))  # a 0 has density 1
    return Components(
        np.zeros((count, 1)), np.full(count, np.inf), np.full(count, 3.0), scale, (Gaussian(),) * count, None, own
    )


def test_the_bound_of_one_component_is_the_probability_of_its_levels():
    rng = np.random.default_rng(2)
    numbers, codes = rng.normal(size=(30, 2)), np.column_stack([rng.integers(-1, 2, 30), rng.integers(-1, 3, 30)])
    plain = Components(np.zeros((1, 2)), np.array([0.1]), np.array([5.0]), np.eye(2)[None], (Gaussian(),))
    own = levels([0.7, 1.3, 0.4, 1.1, 0.2])
    mixed = Components(plain.mean, plain.precision, plain.dof, plain.scale, plain.kernels, None, own)
    without = ascend(Rows.plain(numbers), prior_of(plain, 0), before_rows(prior_of(plain, 0)), tol=1e-13)
    both = prior_of(mixed, 0)
    found = ascend(Rows.plain(np.column_stack([numbers, codes]), SIZES), both, before_rows(both), tol=1e-13)

    # log of the probability of the levels one after the other, by counting
    expected = 0.0
    for column, counts in ((codes[:, 0], np.array([0.7, 1.3])), (codes[:, 1], np.array([0.4, 1.1, 0.2]))):
        for level in column[column >= 0]:
            expected += np.log(counts[level] / counts.sum())
            counts = counts + np.eye(counts.size)[level]
    np.testing.assert_allclose(found.bound.total - without.bound.total, expected)
    np.testing.assert_allclose(found.posterior.components.levels.counts - own.counts, found.statistics.levels)


def test_the_bound_lies_below_the_evidence_which_is_a_sum_over_all_ways_to_share_rows_out():
    rng = np.random.default_rng(3)
    own = levels([3.0, 0.5, 2.0, 0.4, 0.4], [0.4, 3.0, 0.4, 2.0, 0.4], [0.5, 0.5, 0.5, 0.5, 0.5])
    prior = prior_of(fixed_numbers(own), 2)
    codes = np.column_stack([rng.integers(0, 2, 6), rng.integers(-1, 3, 6)])
    flat = codes_of(codes.astype(float), SIZES)
    total = []
    for ways in product(range(3), repeat=6):
        labels = np.array(ways)
        counts = np.bincount(labels, minlength=3)
        seen = tally_levels(flat, labels, 3, 5)
        weights = gammaln(1.0 + counts).sum() + gammaln(3.0) - gammaln(3.0 + 6.0)
        total.append(weights + level_evidence(own, seen, np.arange(3)).sum())
    evidence = np.logaddexp.reduce(total)

    found = ascend(Rows.plain(np.column_stack([np.zeros(6), codes]), SIZES), prior, before_rows(prior), tol=1e-13)
    assert evidence - 3.0 < found.bound.total < evidence
    assert (np.diff(found.trace) >= -1e-12).all()


def test_statistics_of_levels_add_up_and_scale():
    one = Statistics(
        np.ones(2), np.ones(2), np.zeros((2, 1)), np.zeros((2, 1)), np.zeros((2, 1, 1)), 0.0, np.ones((2, 3))
    )
    assert ((one + one.scaled(2.0)).levels == 3.0).all()
    assert one.reordered(np.array([1])).levels.shape == (1, 3)
    assert ((one + Statistics(one.counts, one.weights, one.origin, one.sums, one.squares, 0.0)).levels == 1.0).all()
