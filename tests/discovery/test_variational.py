"""What a variational fit tells of rows: probabilities that sum to one, and draws that follow them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp

from vbrand import VBrand
from vbrand.discovery import variational
from vbrand.discovery.memberships import Memberships, _probabilities
from vbrand.discovery.variational import _by_size, _count_groups


@pytest.fixture(scope="module")
def doubtful():
    """Return a discovery with rows half-way between a known class and a novel group."""
    rng = np.random.default_rng(0)
    known = rng.normal(size=(80, 2))
    unknown = np.vstack([rng.normal(size=(60, 2)), rng.normal(5.0, 1.0, (40, 2)), rng.normal(2.5, 0.5, (10, 2))])
    return VBrand(random_state=0).fit(known, [7] * 80).discover(unknown), known, unknown


def test_rows_sum_to_one_and_groups_share_the_probability_of_novelty(doubtful):
    found, _, _ = doubtful
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.class_probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.probabilities[:, 1:].sum(axis=1), found.novelty_probability)
    assert ((found.novelty_probability > 0.05) & (found.novelty_probability < 0.95)).any()


def test_draws_of_labels_follow_the_probabilities(doubtful):
    found, _, _ = doubtful
    draws = found.label_draws(2_000, random_state=0)
    assert draws.shape == (2_000, 110)
    for k in range(len(found.groups)):
        # five standard errors of a share
        error = 5.0 * np.sqrt(found.probabilities[:, k] * (1.0 - found.probabilities[:, k]) / 2_000) + 1e-3
        assert (np.abs((draws == k).mean(axis=0) - found.probabilities[:, k]) < error).all()
    np.testing.assert_array_equal(draws, found.label_draws(2_000, random_state=0))
    assert not np.array_equal(draws, found.label_draws(2_000, random_state=1))


def test_probabilities_that_are_computed_later_are_the_same(doubtful, monkeypatch):
    found, known, unknown = doubtful
    monkeypatch.setattr(variational, "_AT_ONCE", 0)
    later = VBrand(random_state=0).fit(known, [7] * 80).discover(unknown)
    assert "probabilities" in vars(found)
    assert "probabilities" not in vars(later)
    np.testing.assert_array_equal(later.probabilities, found.probabilities)


def test_groups_come_largest_first_and_the_bound_is_that_of_the_best_start(doubtful):
    found, known, unknown = doubtful
    sizes = [group.rows for group in found.groups[1:]]
    assert sizes == sorted(sizes, reverse=True)
    several = VBrand(random_state=0, search="restarts", n_starts=3).fit(known, [7] * 80).discover(unknown)
    assert len(several.traces) == 3
    assert several.elbo == max(trace[-1] for trace in several.traces) == several.facts().climb.trace[-1]


logs = arrays(np.float64, st.tuples(st.integers(1, 6), st.just(5)), elements=st.floats(-30.0, 0.0))


@given(logs, st.permutations([0, 1, 2]), st.integers(0, 3))
def test_what_other_components_hold_goes_to_the_best_group_of_a_row(score, order, groups):
    score = score - logsumexp(score, axis=1, keepdims=True)
    members, chosen = Memberships(score[:, :2], score[:, 2:]), np.array(order[:groups], dtype=int)
    result = _probabilities(members, chosen)
    assert result.shape == (len(score), 2 + groups)
    np.testing.assert_allclose(result.sum(axis=1), 1.0)
    if groups:
        np.testing.assert_allclose(result[:, :2], np.exp(score[:, :2]))
        gain = result[:, 2:] - np.exp(members.novel[:, chosen])
        best = members.novel[:, chosen].argmax(axis=1)
        gain[np.arange(len(score)), best] -= np.exp(np.delete(members.novel, chosen, axis=1)).sum(axis=1)
        np.testing.assert_allclose(gain, 0.0, atol=1e-12)


@given(st.lists(st.integers(0, 5), max_size=30))
def test_components_are_ordered_by_their_rows(best):
    order = _by_size(np.bincount(np.array(best, dtype=np.int64), minlength=6)).tolist()
    assert set(order) == set(best)
    sizes = [best.count(component) for component in order]
    assert sizes == sorted(sizes, reverse=True)


def test_certain_rows_are_not_drawn():
    certain = np.array([10, 3, 0, 50])  # three novel components, and all known ones
    count = _count_groups(certain, np.empty((0, 4)), 5, np.random.default_rng(0))
    assert (count.mean, count.low, count.high) == (1.0, 1, 1)


def test_doubtful_rows_make_the_number_of_groups_uncertain():
    doubt = np.tile([0.0, 0.5, 0.0, 0.5], (4, 1))  # four rows that are in the second component or known
    count = _count_groups(np.array([10, 3, 0, 50]), doubt, 5, np.random.default_rng(0))
    assert (count.low, count.high) == (1, 2)
    # at least two of four: 11 / 16
    assert count.mean == pytest.approx(1.0 + 11.0 / 16.0, abs=0.15)
