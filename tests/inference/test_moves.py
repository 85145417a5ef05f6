"""Moves: what they promise is what the bound says, and nothing is lost on the way."""

from dataclasses import replace

import numpy as np
import pytest
from clouds import problem
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.inference.cavi import ascend
from vbrand.inference.growth import grow
from vbrand.inference.kernel import statistics_of_labels, sweep
from vbrand.inference.moves import MoveKind, birth, deletions, merges, releases, renewals, resplits, splits
from vbrand.inference.rows import Rows
from vbrand.inference.splits import guesses
from vbrand.inference.starts import from_labels
from vbrand.inference.tuning import TUNED
from vbrand.model.components import evidence
from vbrand.model.posterior import bound_of, scores_of, updated
from vbrand.model.prior import with_novelties
from vbrand.model.weights import weights_evidence
from vbrand.stage1.classes import learn_classes
from vbrand.stage1.elicit import Beliefs, elicit

# tries known components however little they have moved
EAGER = replace(TUNED, least_moved=-1.0)


@pytest.mark.parametrize("update_known", [True, False])
@pytest.mark.parametrize("concentration", [1.0, (2.0, 1.0)])
def test_evidence_is_the_bound_of_rows_that_belong_to_one_component_each(update_known, concentration):
    rows, prior = problem(update_known=update_known, concentration=concentration)
    part = with_novelties(prior, 2)
    labels = np.repeat([0, 1, 2, 3], 40)
    statistics = statistics_of_labels(rows, labels, 4)
    posterior = updated(part, statistics)
    # scores of the rows in their own components; labels that are certain have no entropy
    scores = scores_of(posterior)
    own = 0.0
    for k in range(4):
        unit = (rows.table[labels == k] - scores.centre[k]) @ scores.root[k].T
        own += 40 * scores.constant[k] - 0.5 * np.square(unit).sum()
    expected = bound_of(part, posterior, own).total
    found = evidence(part.components, statistics).sum() + weights_evidence(part.weights, statistics.counts)
    assert found == pytest.approx(expected, rel=1e-10)


def test_empty_places_cost_nothing_and_count():
    """A prior with few components of T places has the bound of one with all T of which the others hold no rows."""
    rows, prior = problem()
    labels = np.repeat([0, 1, 2, 3], 40)
    few, all_of_them = with_novelties(prior, 2), with_novelties(prior, prior.novel)
    small = updated(few, statistics_of_labels(rows, labels, 4))
    large = updated(all_of_them, statistics_of_labels(rows, labels, 8))
    np.testing.assert_array_equal(small.weights.broken, large.weights.broken)
    scores = scores_of(large)
    closed = replace(scores, constant=np.append(scores.constant[:4], np.full(4, -np.inf)))
    swept = sweep(rows, closed).statistics.evidence
    here = bound_of(few, small, sweep(rows, scores_of(small)).statistics.evidence).total
    assert here == pytest.approx(bound_of(all_of_them, large, swept).total, rel=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_statistics_about_another_origin_give_the_same_posterior(seed):
    rows, prior = problem(seed)
    part = with_novelties(prior, 2)
    statistics = statistics_of_labels(rows, np.repeat([0, 1, 2, 3], 40), 4)
    moved = statistics.about(statistics.origin + np.random.default_rng(seed).normal(size=statistics.origin.shape))
    np.testing.assert_allclose(
        updated(part, moved).components.scale, updated(part, statistics).components.scale, rtol=1e-9, atol=1e-9
    )


def state_of(rows, prior, labels):
    part = with_novelties(prior, int(labels.max()) + 1 - prior.known)
    return ascend(rows, part, from_labels(rows, part, labels), max_iter=3)


def test_a_class_cut_in_two_is_merged():
    rows, prior = problem()
    cut = np.repeat([0, 1, 2, 4], 40)
    cut[80:100] = 3
    best = merges(prior, state_of(rows, prior, cut))[0]
    assert best.hope > 0.0
    assert best.statistics.counts.size == 4
    assert best.statistics.counts.sum() == pytest.approx(160.0)


def test_proposals_keep_every_row():
    rows, prior = problem()
    state = state_of(rows, prior, np.repeat([0, 1, 2, 2], 40))
    split = splits(rows, prior, state, 2)
    assert split[0].hope > 10.0
    for proposal in [birth(state, 2, split[0]), *releases(prior, state), *merges(prior, state)]:
        assert proposal.statistics.counts.sum() == pytest.approx(160.0)
        assert proposal.winners.max() < proposal.statistics.counts.size
    assert [proposal.gone for proposal in deletions(prior, state)] == [2]


def test_a_known_component_that_is_renewed_begins_at_its_prior():
    rows, prior = problem()
    state = state_of(rows, prior, np.repeat([0, 0, 2, 1], 40))
    proposals = renewals(prior, state, EAGER)
    assert sorted(proposal.parts for proposal in proposals) == [(0,), (1,)]
    assert renewals(prior, state, replace(TUNED, least_moved=np.inf)) == []
    for proposal in proposals:
        (k,) = proposal.parts
        after = updated(with_novelties(prior, 1), proposal.statistics)
        np.testing.assert_array_equal(after.components.scale[k], prior.components.scale[k])
        np.testing.assert_array_equal(after.components.mean[k], prior.components.mean[k])
        others = np.delete(np.arange(3), k)
        np.testing.assert_array_equal(proposal.statistics.counts[others], state.statistics.counts[others])
        np.testing.assert_array_equal(proposal.winners, state.winners)


def test_each_known_component_is_split_again_with_the_novel_one_nearest_to_it():
    rows, prior = problem()
    state = state_of(rows, prior, np.repeat([0, 1, 2, 3], 40))
    nearest = {}
    for merge in merges(prior, state, replace(TUNED, hidden_gain=np.inf)):
        nearest.setdefault(merge.parts[0], merge.parts)
    asked = []
    list(resplits(prior, state, EAGER, lambda proposal: asked.append(proposal), lambda together, k: []))
    assert {proposal.kind for proposal in asked} == {MoveKind.RESPLIT}
    assert {parts for parts in nearest.values() if parts[0] < prior.known} <= {proposal.parts for proposal in asked}


def test_no_split_without_room():
    rows, prior = problem(novel=1)
    state = state_of(rows, prior, np.repeat([0, 1, 2, 2], 40))
    assert splits(rows, prior, state, 2) == []
    assert releases(prior, state) == []


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 60), st.integers(1, 12), st.integers(0, 3), st.integers(0, 10_000))
def test_guesses_are_labelings_of_any_rows(n, p, kind, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p))
    if kind == 1:
        rows = np.zeros((n, p))
    elif kind == 2:
        rows[:, 0] = 1.0
    elif kind == 3:
        rows = rows[rng.integers(0, 2, size=n)]
    found = list(guesses(rows))
    assert found
    for labels in found:
        assert labels.shape == (n,)
        assert labels.min() >= 0


@pytest.mark.parametrize("p", [2, 6, 10])
def test_classes_that_cross_are_split(p):
    """One centre, two orientations, turned so that no column shows them: only fourth moments do."""
    rng = np.random.default_rng(0)
    n = 600
    one, other = np.eye(p), np.eye(p)
    one[0, 1] = one[1, 0] = 0.95
    other[0, 1] = other[1, 0] = -0.95
    turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
    both = Rows.plain(np.vstack([rng.multivariate_normal(np.zeros(p), c, size=n) for c in (one, other)]) @ turn)
    prior = elicit(learn_classes(rng.normal(40.0, 1.0, size=(100, p)), np.zeros(100, int)), Beliefs(), 6)
    part = with_novelties(prior, 2)
    truth = ascend(both, part, from_labels(both, part, np.repeat([1, 2], n)))
    assert grow(both, prior).ascent.bound.total >= truth.bound.total - 0.1


def test_the_history_never_falls_and_names_what_it_kept():
    rows, prior = problem()
    grown = grow(rows, prior)
    bounds = [move.bound for move in grown.history]
    assert (np.diff(bounds) >= 0.0).all()
    assert (np.diff(grown.ascent.trace) >= 0.0).all()
    assert bounds[-1] == grown.ascent.bound.total
    kept = [move for move in grown.history if move.kept]
    assert kept
    assert all(move.gain > 0.0 for move in kept)


def test_a_long_table_is_searched_through_a_sample_first():
    rng = np.random.default_rng(0)
    train = np.vstack([rng.normal(c, 1.0, size=(60, 2)) for c in (0.0, 8.0)])
    rows = np.vstack(
        [rng.normal(c, 1.0, size=(40_000, 2)) for c in (0.0, 8.0, -8.0)] + [rng.normal(30.0, 1.0, (40, 2))]
    )
    prior = elicit(learn_classes(train, np.repeat([0, 1], 60)), Beliefs(), 10)
    grown = grow(Rows.plain(rows[rng.permutation(len(rows))]), prior)
    found = grown.ascent
    assert (np.diff([move.bound for move in grown.history]) >= 0.0).all()
    assert grown.history[-1].bound == found.bound.total
    assert 40.0 in found.statistics.counts.round(-1)  # the rare group, which a sample hardly sees
