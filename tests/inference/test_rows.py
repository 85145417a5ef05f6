"""Rows: every one in one block, in working coordinates that end where they are said to."""

import numpy as np
import pytest

from vbrand.inference.rows import BLOCK_NUMBERS, Rows


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
    assert rows.working(slice(None)).tolist() == [[1.0, 0.0], [2.0, 1e6], [0.0, -1e6]]
    assert rows.working(np.array([2, 0])).tolist() == [[0.0, -1e6], [1.0, 0.0]]
    assert rows.working(np.array([False, True, False])).tolist() == [[2.0, 1e6]]
    assert rows.working(slice(None)).dtype == np.float64


def test_plain_rows_are_what_they_are_however_far():
    table = np.array([[1e30, -2.0], [0.0, 1e-30]])
    np.testing.assert_array_equal(Rows.plain(table).working(slice(None)), table)
