"""Rows: every one in one block, in working coordinates that end where they are said to."""

from itertools import pairwise

import numpy as np
import pytest

from vbrand.inference.rows import BLOCK_NUMBERS, Rows, relabelled


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (10_000, 2), (20_000, 7), (700, 5_000)])
def test_blocks_hold_every_row_once_and_in_order(shape):
    rows = Rows.plain(np.broadcast_to(np.zeros(1), shape))
    blocks = list(rows.blocks())
    assert [i for block in blocks for i in range(block.start, block.stop)] == list(range(shape[0]))
    assert all((block.stop - block.start) * shape[1] <= max(BLOCK_NUMBERS, 256 * shape[1]) for block in blocks)
    assert (len(rows), rows.columns) == shape


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_all_others_end_at_the_farthest():
    """Seed 30000875 of the attack: a model file may say that a column is 1e300 times as narrow as rows are wide."""
    rows = Rows(np.array([[1e12], [-1e12], [0.0]]), np.zeros(1), np.array([1e300]))
    assert rows.working(slice(None)).tolist() == [[1e6], [-1e6], [0.0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_working_coordinates_are_centred_scaled_and_end_at_the_farthest(dtype):
    table = np.array([[3.0, 10.0], [5.0, 1e30], [1.0, -1e30]], dtype=dtype)
    rows = Rows(table, np.array([1.0, 10.0]), np.array([0.5, 4.0]))
    assert rows.working(slice(None)).tolist() == [[1.0, 0.0], [2.0, 1e6], [0.0, -1e6]]
    assert rows.working(np.array([2, 0])).tolist() == [[0.0, -1e6], [1.0, 0.0]]
    assert rows.working(np.array([False, True, False])).tolist() == [[2.0, 1e6]]
    assert rows.working(slice(None)).dtype == np.float64


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
