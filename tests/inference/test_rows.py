"""Rows: every one in one block, in working coordinates that end where they are said to."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import BLOCK_NUMBERS, FARTHEST, Rows, relabelled
from vbrand.model.components import Components, posterior_from
from vbrand.model.kernels import Gaussian


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (10_000, 2), (20_000, 7), (700, 5_000)])
def test_blocks_hold_every_row_once_and_in_order(shape):
    rows = Rows.plain(np.broadcast_to(np.zeros(1), shape))
    blocks = list(rows.blocks())
    assert [i for block in blocks for i in range(block.start, block.stop)] == list(range(shape[0]))
    assert all((block.stop - block.start) * shape[1] <= max(BLOCK_NUMBERS, 256 * shape[1]) for block in blocks)
    assert (len(rows), rows.columns) == shape


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_working_coordinates_are_centred_scaled_and_end_at_the_farthest(dtype):
    table = np.array([[3.0, 10.0], [5.0, 1e30], [1.0, -1e30]], dtype=dtype)
    rows = Rows(table, np.array([1.0, 10.0]), np.array([0.5, 4.0]))
    assert rows.working(slice(None)).tolist() == [[1.0, 0.0], [2.0, FARTHEST], [0.0, -FARTHEST]]
    assert rows.working(np.array([2, 0])).tolist() == [[0.0, -FARTHEST], [1.0, 0.0]]
    assert rows.working(np.array([False, True, False])).tolist() == [[2.0, FARTHEST]]
    assert rows.working(slice(None)).dtype == np.float64


def exact_log_determinant(square):
    """Return log|S| of fractions, by elimination."""
    total, square = 0.0, [list(row) for row in square]
    for j, first in enumerate(square):
        total += math.log(first[j].numerator) - math.log(first[j].denominator)
        for i in range(j + 1, len(square)):
            share = square[i][j] / first[j]
            square[i] = [a - share * b for a, b in zip(square[i], first, strict=True)]
    return total


def exact_scale(rows, prior_scale, strength):
    """Return (5.9) in fractions, for a prior mean of 0: Psi + W + (lambda n / (lambda + n)) ybar ybar'."""
    rows = [[Fraction(x) for x in row] for row in rows.tolist()]
    n, p = len(rows), len(rows[0])
    mean = [sum(row[j] for row in rows) / n for j in range(p)]
    pull = Fraction(strength) * n / (Fraction(strength) + n)

    def cell(i, j):
        within = sum((row[i] - mean[i]) * (row[j] - mean[j]) for row in rows)
        return Fraction(prior_scale[i, j]) + within + pull * mean[i] * mean[j]

    return [[cell(i, j) for j in range(p)] for i in range(p)]


@pytest.mark.parametrize("seed", range(5))
def test_squares_of_the_farthest_rows_leave_room_for_those_of_ordinary_ones(seed):
    """Columns correlate by .998; with rows at 1e6 log|S| was wrong by .03 to .15, and the bound fell."""
    rng = np.random.default_rng(seed)
    scale = np.full((3, 3), 0.998) + 0.002 * np.eye(3)
    ordinary = rng.normal(size=(20, 3)) @ np.linalg.cholesky(scale).T
    table = np.vstack([ordinary, np.full((10, 3), 1e30) * rng.choice([-1.0, 1.0], (10, 1))])
    rows = Rows(table, np.zeros(3), np.ones(3)).working(slice(None))
    prior = Components(np.zeros((1, 3)), np.array([0.5]), np.array([8.0]), scale[None], (Gaussian(),))
    found = posterior_from(prior, statistics_of_labels(Rows.plain(rows), np.zeros(30, np.int32), 1))
    exact = exact_log_determinant(exact_scale(rows, scale, 0.5))
    assert abs(found.roots.log_determinant[0] - exact) < 0.01


def test_plain_rows_are_what_they_are_however_far():
    table = np.array([[1e30, -2.0], [0.0, 1e-30]])
    np.testing.assert_array_equal(Rows.plain(table).working(slice(None)), table)


@pytest.mark.parametrize(("n", "p"), [(1, 3), (8_192, 3), (8_193, 3), (200_000, 10), (900_000, 40), (70_000, 2_000)])
def test_pieces_are_whole_blocks_and_cover_all_rows(n, p):
    rows = Rows.plain(np.broadcast_to(0.0, (n, p)))
    blocks = list(rows.blocks())
    pieces = rows.pieces()
    assert [pieces[0].start, pieces[-1].stop] == [0, n]
    assert all(before.stop == after.start for before, after in pairwise(pieces))
    assert {piece.start for piece in pieces} <= {block.start for block in blocks}
    assert len(pieces) <= 64


def test_no_piece_of_a_very_long_table_is_larger_than_a_worker_can_hold():
    rows = Rows.plain(np.broadcast_to(0.0, (10**9, 20)))
    assert max(piece.stop - piece.start for piece in rows.pieces()) <= 2 * 2**20


def test_a_part_is_a_view_with_the_same_working_coordinates():
    table = np.arange(20.0).reshape(10, 2)
    rows = Rows(table, np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    part = rows.part(slice(3, 7))
    assert np.shares_memory(part.table, table)
    np.testing.assert_array_equal(part.working(slice(None)), rows.working(slice(3, 7)))


def test_small_numbers_get_new_names():
    np.testing.assert_array_equal(relabelled(np.array([0, 2, 1]), np.array([5, 6, 7], np.int32)), [5, 7, 6])
