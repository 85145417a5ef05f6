"""A tile is a few rows of a matrix product, whatever the length of the processor's registers."""

import numpy as np
import pytest

from vbrand.compiling import jit
from vbrand.inference.tiles import MOST_LANES, four_products, four_squares, lanes_of_a_tile, two_products, two_squares


@jit
def lanes():
    return lanes_of_a_tile()


@jit
def squares(root, start, deviation, distance, i, four):
    if four:
        four_squares(root, start, deviation, distance, i, i - i)
    else:
        two_squares(root, start, deviation, distance, i, i - i)


@jit
def products(weighted, deviation, square, i, m, four):
    if four:
        four_products(weighted, deviation, square, i, i - i, m)
    else:
        two_products(weighted, deviation, square, i, i - i, m)


def test_arrays_have_room_for_whole_tiles():
    assert MOST_LANES % lanes() == 0


@pytest.mark.parametrize("rows", [2, 4])
def test_a_tile_of_squares_writes_its_rows_and_its_lanes_only(rows):
    rng = np.random.default_rng(rows)
    root, start, deviation = np.tril(rng.normal(size=(8, 8))), rng.normal(size=8), rng.normal(size=(8, MOST_LANES))
    distance = np.ones(MOST_LANES)
    squares(root, start, deviation, distance, 4, rows == 4)
    chosen, own = slice(4, 4 + rows), slice(0, lanes())
    expected = 1.0 + np.square(start[chosen, None] + root[chosen] @ deviation).sum(axis=0)
    np.testing.assert_allclose(distance[own], expected[own], rtol=1e-13)
    assert (distance[lanes() :] == 1.0).all()


@pytest.mark.parametrize("rows", [2, 4])
def test_a_tile_of_products_writes_its_rows_and_four_columns_only(rows):
    rng = np.random.default_rng(rows)
    weighted, deviation, square = rng.normal(size=(4, 24)), rng.normal(size=(8, 24)), np.full((8, 8), np.nan)
    products(weighted, deviation, square, 4, 16, rows == 4)
    chosen = slice(4, 4 + rows)
    expected = deviation[chosen, :16] @ weighted[:, :16].T
    np.testing.assert_allclose(square[chosen, :4], expected, rtol=1e-12, atol=1e-14)
    assert np.isfinite(square).sum() == 4 * rows
