"""Trees that tell kinds of rows apart: down to pure leaves, and nothing that a file could break."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.trust.trees import TREES, Grower, grown, wrong_with_trees


def three_kinds(seed, n=120, p=3):
    generator = np.random.default_rng(seed)
    kind = generator.integers(0, 3, n)
    return generator.normal(size=(n, p)) + 2.0 * kind[:, None], kind


def trees(table, kind, leaf_rows=1, worth=(1.0, 1.0, 1.0)):
    given = Grower(table, kind, np.array(worth), np.arange(3), (), leaf_rows)
    return grown(given, np.random.default_rng(0))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000))
def test_trees_go_on_until_leaves_are_of_one_side(seed):
    found, held = trees(*three_kinds(seed))
    leaves = held[found.column < 0]
    assert ((leaves > 0.0).sum(axis=1) == 1).all()
    # the branches of a node hold what it holds
    inner = np.flatnonzero(found.column >= 0)
    np.testing.assert_allclose(held[inner + 1] + held[found.right[inner]], held[inner], rtol=1e-9, atol=1e-12)
    # every kind that a tree sees weighs in it what it is worth
    np.testing.assert_allclose(held[found.roots], 1.0, rtol=1e-9)


def test_leaves_hold_as_many_rows_as_they_must():
    table, kind = three_kinds(1)
    found, _ = trees(table, kind, leaf_rows=10)
    rows, asked = found.sums(table, np.arange(found.column.size), np.ones(found.column.size), found.column.size)
    np.testing.assert_array_equal(rows.sum(axis=1), asked)  # each tree that is asked says one leaf
    assert found.column.size < trees(table, kind)[0].column.size / 3


@pytest.mark.parametrize(
    ("part", "odd", "wrong"),
    [
        ("roots", np.zeros(3, dtype=np.int64), "other numbers of nodes"),
        ("column", lambda own: np.where(own >= 0, 3, own), "looks at no column"),
        ("right", lambda own: own * 0, "has no end"),
        ("right", lambda own: own + 10**6, "has no end"),
        ("column", lambda own: np.maximum(own, 0), "has no end"),
        ("roots", lambda own: own - 1, "has no end"),
        ("edge", lambda own: own * np.nan, "no number"),
        ("levels", (2, 0), "has no levels"),
    ],
)
def test_trees_of_a_file_that_would_fail_later_are_told(part, odd, wrong):
    found, _ = trees(*three_kinds(0))
    assert found.roots.size == TREES
    assert wrong_with_trees(found, 3) == ""
    changed = replace(found, **{part: odd(getattr(found, part)) if callable(odd) else odd})
    assert wrong in wrong_with_trees(changed, 3)


@pytest.mark.parametrize("seed", range(5))
def test_the_last_digits_of_weights_choose_no_edge(seed):
    """Where columns have few values, many edges are as good as others; rounding chose among them."""
    generator = np.random.default_rng(seed)
    table, kind = generator.integers(0, 2, (60, 6)).astype(float), np.repeat([0, 1, 2], 20)
    worth = np.array([1.0, 0.3, 0.7])
    for off in 1e-12 * generator.normal(size=(10, 3)):
        (one, _), (two, _) = (
            grown(Grower(table, kind, each, np.array([1, 0, 0]), (), 2), np.random.default_rng(0))
            for each in (worth, worth * (1.0 + off))
        )
        np.testing.assert_array_equal(one.column, two.column)
