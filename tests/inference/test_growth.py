"""The search by moves: what is kept raises the bound, what was tried is not tried again."""

from dataclasses import replace

import numpy as np
import pytest
from clouds import problem

from vbrand.inference import growth
from vbrand.inference.cavi import ascend
from vbrand.inference.growth import grow
from vbrand.inference.moves import MoveKind
from vbrand.inference.rows import Rows
from vbrand.inference.starts import from_labels
from vbrand.inference.tuning import TUNED
from vbrand.model.prior import with_novelties


@pytest.fixture(scope="module")
def grown():
    rows, prior = problem()
    return grow(rows, prior)


def test_the_bound_of_kept_moves_never_falls(grown):
    kept = [move for move in grown.history if move.kept]
    assert kept
    assert (np.diff([move.bound for move in kept]) > 0.0).all()
    assert kept[-1].bound == grown.ascent.bound.total


def test_a_move_that_is_not_kept_leaves_the_bound_where_it_was(grown):
    bound = None
    for move in grown.history:
        if not move.kept and bound is not None:
            assert move.bound == bound
        bound = move.bound


def test_a_kept_move_gains_what_the_bound_rose_by(grown):
    before = None
    for move in grown.history:
        if move.kept and before is not None:
            assert move.gain == pytest.approx(move.bound - before)
        before = move.bound


def test_sweeps_are_those_of_all_trials(grown):
    assert grown.sweeps > sum(move.sweeps for move in grown.history)  # and of the first ascent
    assert grown.ascent.trace.size <= grown.sweeps


def test_the_search_finds_the_classes(grown):
    rows, prior = problem()
    truth = with_novelties(prior, 2)
    best = ascend(rows, truth, from_labels(rows, truth, np.repeat([0, 1, 2, 3], 40)))
    assert grown.ascent.bound.total >= best.bound.total - 0.1
    assert {move.kind for move in grown.history if move.kept} <= set(MoveKind)


def test_nothing_is_tried_twice_on_components_that_look_the_same(grown):
    """Between two kept moves nothing has changed, so no proposal but the ways of one birth comes up twice."""
    since = list[tuple[MoveKind, tuple[int, ...]]]()
    for move in grown.history:
        if move.kept:
            since = []
        elif move.kind is not MoveKind.BIRTH:
            assert (move.kind, move.parts) not in since
            since.append((move.kind, move.parts))


def test_a_look_remembers_what_changed():
    rows, prior = problem()
    part = with_novelties(prior, 2)
    ascent = ascend(rows, part, from_labels(rows, part, np.repeat([0, 1, 2, 3], 40)), max_iter=3)
    look = growth._State(ascent, (0, 1, 2, 3), 4).look(2)
    assert look.same(look, TUNED)
    assert not look.same(replace(look, rows=1.5 * look.rows), TUNED)
    assert not look.same(replace(look, mean=look.mean + 1.0), TUNED)


def test_no_more_proposals_than_allowed():
    rows, prior = problem()
    few = replace(TUNED, most_proposals=1)
    most_at_once = TUNED.local_starts  # the ways of one birth are tried together
    assert len(grow(rows, prior, tuning=few).history) <= most_at_once


def test_progress_hears_of_every_trial():
    rows, prior = problem()
    heard = list[tuple[int, int, float]]()
    grown = grow(rows, prior, progress=lambda *news: heard.append(news))
    assert len(heard) == len(grown.history)
    assert heard[-1][0] == grown.sweeps
    assert (np.diff([sweeps for sweeps, _, _ in heard]) > 0).all()


def test_moves_that_lose_much_on_a_sample_are_not_tried_over_all_rows():
    rows, prior = problem()
    sampled = replace(TUNED, many_rows=100, sample=80)
    fewer, every = (grow(rows, prior, tuning=replace(sampled, much=much)) for much in (TUNED.much, np.inf))
    assert fewer.ascent.bound.total == every.ascent.bound.total
    assert {(move.kind, move.parts) for move in fewer.history} < {(move.kind, move.parts) for move in every.history}
    assert fewer.sweeps < every.sweeps


def test_a_component_of_a_sample_is_told_from_one_that_grew():
    look = growth._Look(100.0, np.zeros(2), np.eye(2))
    assert look.of_all(0.1, 1_200.0).same(replace(look, rows=1_200.0), TUNED)
    assert not look.of_all(0.1, 2_000.0).same(replace(look, rows=2_000.0), TUNED)


def test_rows_that_are_hinted_at_become_a_component_if_that_raises_the_bound():
    """Without guesses no component is ever split; with the hint the class that was left over is born, and stays."""
    rows, prior = problem()
    blind = replace(TUNED, local_starts=0)
    hint = np.where(np.repeat([0, 1, 2, 3], 40) == 3, 7, -1)
    without, found = (grow(rows, prior, tuning=blind, hint=given) for given in (None, hint))
    assert found.ascent.bound.total > without.ascent.bound.total + 10.0
    assert found.ascent.statistics.counts.size == prior.known + 2
    assert np.unique(found.ascent.winners[hint == 7]).size == 1


def test_a_wrong_hint_changes_nothing_but_the_sweeps(grown):
    rows, prior = problem()
    hint = np.random.default_rng(0).integers(-1, 2, len(rows))
    hinted = grow(rows, prior, hint=hint)
    np.testing.assert_array_equal(hinted.ascent.winners, grown.ascent.winners)
    assert hinted.ascent.bound.total == pytest.approx(grown.ascent.bound.total, abs=1e-3)


def test_rows_with_missing_cells_may_be_hinted_at_too():
    rows, prior = problem()
    table = np.array(rows.working(slice(None)))
    table[np.random.default_rng(1).random(len(table)) < 0.1, 0] = np.nan
    hint = np.where(np.repeat([0, 1, 2, 3], 40) == 3, 0, -1)
    found = grow(Rows.plain(table), prior, tuning=replace(TUNED, local_starts=0), hint=hint)
    assert np.bincount(found.ascent.winners[hint == 0]).max() >= 36
    assert found.ascent.statistics.counts.size == prior.known + 2


def test_the_same_rows_are_split_up_once(monkeypatch):
    """A pair that is split again may be a component that was split before: the ways to do so are those of then."""
    rows, prior = problem()
    asked = list[tuple[int, bytes]]()

    def noted(rows, prior, ascent, k, tuning):
        asked.append((min(k, prior.known), np.flatnonzero(ascent.winners == k).tobytes()))
        return before(rows, prior, ascent, k, tuning)

    before = growth.splits
    plain = grow(rows, prior)
    monkeypatch.setattr(growth, "splits", noted)
    found = grow(rows, prior)
    assert len(asked) == len(set(asked)) > 3
    assert found.history == plain.history
