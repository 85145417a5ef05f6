"""Trees that tell the known classes apart: what they vote, what that is worth, and which classes they leave alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.trust.trees import _seen_by
from vbrand.trust.tuning import TUNED
from vbrand.trust.votes import likeliest_weight, votes_of, weighed, wrong_with_votes


def rings(seed, n=400):
    """Return rows of two classes, one round the other: no two ellipses tell them apart so well as trees do."""
    generator = np.random.default_rng(seed)
    member = generator.integers(0, 2, n)
    angle, radius = generator.uniform(0.0, 2.0 * np.pi, n), np.where(member == 0, 1.0, 2.0)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + generator.normal(size=(n, 2)) / 3, member


def trees(rows, member, taught=(), levels=()):
    return votes_of(rows, member, taught, levels, np.random.default_rng(0), TUNED)


def walked(trees, row, tree):
    node = trees.roots[tree]
    while trees.column[node] >= 0:
        node = node + 1 if row[trees.column[node]] <= trees.edge[node] else trees.right[node]
    return node


def test_votes_are_counted_in_the_trees_that_do_not_see_a_row():
    """(9.19), by walking down tree by tree."""
    rows, member = rings(0)
    found = replace(trees(rows, member), power=1.7)
    sees = [int(word) >> k & 1 for word in _seen_by(rows)[7] for k in range(64)]
    said = [found.said[walked(found.trees, rows[7], tree)] for tree in range(128) if not sees[tree]]
    wanted = (0.5 + np.bincount(said, minlength=2)) ** 1.7
    np.testing.assert_allclose(found.shares(rows[[7]])[0][0], wanted / wanted.sum(), rtol=1e-9)


def test_rows_that_trees_have_not_seen_are_told():
    rows, member = rings(0)
    new, truth = rings(1)
    found = trees(rows, member)
    right = (found.shares(new)[0].argmax(axis=1) == truth).mean()
    assert right > 0.85
    # and those that were there are told by the trees without them: as well, not better
    assert (found.shares(rows)[0].argmax(axis=1) == member).mean() == pytest.approx(right, abs=0.04)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000))
def test_the_weight_is_the_likeliest(seed):
    """(9.14), beside a fine grid."""
    first, second = np.random.default_rng(seed).uniform(size=(2, 30))
    grid = np.linspace(0.0, 1.0, 1001)[:, None]
    scores = np.log(grid * first + (1.0 - grid) * second + 1e-9).sum(axis=1)
    weight = likeliest_weight(first, second)
    assert np.log(weight * first + (1.0 - weight) * second + 1e-9).sum() >= scores.max() - 1e-3


def test_trees_are_heard_where_they_know_better_and_sharpened_as_hidden_rows_say():
    """(9.20), beside a grid."""
    rows, member = rings(0)
    new, truth = rings(1)
    plain = trees(rows, member)
    found = weighed(plain, new, truth, np.full(truth.size, 0.5))
    assert found.weight > 0.95
    log_votes = np.log(plain.shares(new)[0])
    own = np.arange(truth.size), truth
    grid = np.linspace(0.0, 10.0, 2001)
    loss = [np.log(np.exp(a * log_votes).sum(axis=1)).sum() - a * log_votes[own].sum() + (a - 1) ** 2 / 2 for a in grid]
    assert found.power == pytest.approx(grid[np.argmin(loss)], abs=0.01)

    certain = weighed(plain, new, truth, np.full(truth.size, 0.999))
    assert certain.weight < 0.05


def test_classes_that_trees_do_not_know_keep_their_chances():
    rows, member = rings(0)
    found = replace(trees(rows, member), weight=0.4)
    others = np.random.default_rng(0).dirichlet(np.ones(3), size=rows.shape[0])
    both = found.stacked(others, rows)
    np.testing.assert_allclose(both.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_array_equal(both[:, 2], others[:, 2])
    wanted = 0.6 * others[:, 0] + 0.4 * (1.0 - others[:, 2]) * found.shares(rows)[0][:, 0]
    np.testing.assert_allclose(both[:, 0], wanted, rtol=1e-9)


def test_a_tree_that_asks_for_a_cell_which_a_row_lacks_has_no_vote():
    rows, member = rings(0)
    generator = np.random.default_rng(0)
    holes = np.where(generator.random(rows.shape) < 0.2, np.nan, rows)
    found = replace(trees(holes, member), weight=0.5)
    new, truth = rings(1)
    few = np.where(generator.random(new.shape) < 0.3, np.nan, new)
    shares, voted = found.shares(few)
    whole = ~np.isnan(few).any(axis=1)
    np.testing.assert_allclose(voted[whole], 1.0)
    assert (voted[~whole] < 1.0).all()
    assert (shares[whole].argmax(axis=1) == truth[whole]).mean() > 0.8

    none = np.full((1, 2), np.nan)
    assert found.shares(none)[1][0] == 0.0
    np.testing.assert_array_equal(found.stacked(np.array([[0.3, 0.7]]), none), [[0.3, 0.7]])


def test_a_class_that_a_person_has_put_a_group_into_is_left_to_the_fit():
    generator = np.random.default_rng(0)
    member = np.repeat([0, 1, 2], 40)
    rows = generator.normal(size=(120, 2)) + 4.0 * member[:, None]
    np.testing.assert_array_equal(trees(rows, member, taught=(1,)).heard, [0, 2])
    np.testing.assert_array_equal(trees(rows, member).without(1).heard, [0, 2])
    assert trees(rows, member, taught=(0, 2)) is None
    assert trees(rows, member).without(1).without(0) is None
    assert trees(rows[:40], member[:40]) is None


@pytest.mark.parametrize(
    ("part", "odd", "wrong"),
    [
        ("said", lambda own: own - 5, "says no class"),
        ("said", lambda own: own + 10**9, "says no class"),
        ("said", lambda own: own[1:], "says no class"),
        ("heard", lambda own: own + 1, "other classes"),
        ("heard", lambda own: own[:1], "other classes"),
        ("heard", lambda own: own[::-1], "other classes"),
        ("weight", lambda own: 1.5, "not between 0 and 1"),
        ("power", lambda own: np.nan, "not between 0 and 1"),
    ],
)
def test_votes_of_a_file_that_would_fail_later_are_told(part, odd, wrong):
    found = trees(*rings(0))
    assert wrong_with_votes(found, 2, 2) == ""
    assert wrong in wrong_with_votes(replace(found, **{part: odd(getattr(found, part))}), 2, 2)
    assert "no column" in wrong_with_votes(found, 1, 2)
