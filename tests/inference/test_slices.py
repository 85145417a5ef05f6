"""Slices: a row goes where its uniform number falls among the components that its slice allows."""

import numpy as np
import pytest

from vbrand.inference.kernel import Slices, draw
from vbrand.inference.rows import Rows
from vbrand.model.conditionals import Drawn, slice_scores


def problem(p, known=2, places=4, n=600, seed=0):
    rng = np.random.default_rng(seed)
    count = known + places
    root = np.tril(0.3 * rng.normal(size=(count, p, p)), -1) + np.eye(p)
    drawn = Drawn(0.5 * rng.normal(size=(count, p)), root)
    scores = slice_scores(drawn, np.log(rng.dirichlet(np.ones(count))), known, 0.4)
    labels = rng.integers(0, count, n).astype(np.int32)
    depths = np.minimum(np.maximum(labels - known + 1, 0) + rng.integers(0, 3, n), places)
    return rng.normal(size=(n, p)), scores, labels, Slices(known, depths, rng.random(n))


@pytest.mark.parametrize("p", [1, 3, 18])
def test_rows_go_where_the_running_sum_of_shares_passes_their_uniform_number(p):
    rows, scores, labels, slices = problem(p)
    found = draw(Rows.plain(rows), scores, labels, slices).winners
    for row, allowed, uniform, chosen in zip(rows, slices.known + slices.depths, slices.uniforms, found, strict=True):
        distance = [np.square(scores.root[k] @ (row - scores.centre[k])).sum() for k in range(allowed)]
        score = scores.constant[:allowed] - 0.5 * np.array(distance)
        share = np.exp(score - score.max())
        running = np.cumsum(share) / share.sum()
        expected = int(np.searchsorted(running, 1.0 - uniform))
        near = np.abs(running - (1.0 - uniform)).min() < 1e-9
        assert chosen == min(expected, allowed - 1) or near


def test_a_row_with_one_component_to_go_to_stays_there():
    rows, scores, _, _ = problem(3, known=0, places=3)
    labels = np.zeros(len(rows), dtype=np.int32)
    alone = Slices(0, np.ones(len(rows), dtype=np.int64), np.random.default_rng(0).random(len(rows)))
    found = draw(Rows.plain(rows), scores, labels, alone)
    assert not found.winners.any()
    assert found.statistics.counts.tolist() == [len(rows), 0.0, 0.0]


def test_a_draw_counts_every_row_once_and_weighs_it_one():
    rows, scores, labels, slices = problem(5)
    found = draw(Rows.plain(rows), scores, labels, slices)
    np.testing.assert_array_equal(found.statistics.counts, np.bincount(found.winners, minlength=6))
    np.testing.assert_array_equal(found.statistics.weights, found.statistics.counts)
