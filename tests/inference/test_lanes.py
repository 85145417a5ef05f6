"""Loops over lanes agree with numpy, to double precision."""

from itertools import pairwise

import numpy as np
import pytest
from compiled import from_python

from vbrand.inference.lanes import add_squares, exponential, logarithm, products
from vbrand.inference.tiles import MOST_LANES

UNIT = np.finfo(float).eps


def through(function, x):
    result, value = np.empty((2, x.size))
    from_python(function)(x.copy(), result, value, value.view(np.int64), x.size)
    return result


def filled(array, *shape):
    """Return an array with zeros after its rows and columns."""
    result = np.zeros(shape)
    result[tuple(slice(size) for size in array.shape)] = array
    return result


def test_exponentials_are_right_to_double_precision_beside_one_over_their_range():
    """Shares are added to one that is 1; by itself a small one has the rounding of its exponent.

    That is half a unit for each unit of the exponent; where a product and a sum are not rounded as one, the product
    adds as much again.
    """
    x = np.concatenate([-np.geomspace(1e-300, 700.0, 200_001), [0.0, -0.0], -np.linspace(0.0, 40.0, 100_001)])
    error = np.abs(through(exponential, x) - np.exp(x))
    assert error.max() <= UNIT
    assert (error <= (2.0 + np.abs(x)) * UNIT * np.exp(x)).all()
    assert through(exponential, np.zeros(1))[0] == 1.0


def test_exponentials_beyond_the_range_count_as_next_to_nothing():
    assert (through(exponential, np.array([-701.0, -1e300, -np.inf])) <= np.exp(-700.0) * (1.0 + 4.0 * UNIT)).all()


def test_logarithms_are_right_to_double_precision_over_their_range():
    x = np.concatenate([1.0 + np.geomspace(1e-16, 1.0, 100_001), np.geomspace(1.0, 1e308, 200_001)])
    np.testing.assert_allclose(through(logarithm, x), np.log(x), rtol=4.0 * UNIT, atol=0.0)
    assert through(logarithm, np.ones(1))[0] == 0.0


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6, 7, 8, 13])
def test_squares_of_a_triangle_times_deviations_add_up_in_any_number_of_steps_and_tiles(p):
    rng = np.random.default_rng(p)
    m, room = 37, 2 * MOST_LANES
    root, delta, deviation = np.tril(rng.normal(size=(p, p))), rng.normal(size=p), rng.normal(size=(p, m))
    expected = np.square(root @ (deviation - delta[:, None])).sum(axis=0)
    whole = -(-p // 4) * 4
    given = filled(root, whole, whole), filled(-root @ delta, whole), filled(deviation, whole, room)
    for step in {p, 4, 8}:
        for ends in ([0, m], [0, MOST_LANES, m]):
            distance = np.zeros(room)
            for begin in range(0, p, step):
                for lane, to in pairwise(ends):
                    from_python(add_squares)(*given, distance, begin, min(p, begin + step), lane, to)
            np.testing.assert_allclose(distance[:m], expected, rtol=1e-12)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 6, 7, 9, 10, 16])
def test_weighted_sums_and_the_lower_triangle_of_products_are_those_of_numpy(p):
    rng = np.random.default_rng(p)
    m, whole = 40, -(-p // 4) * 4
    own, weight = rng.normal(size=(p, m)), rng.random(m)
    sums, square = np.empty(whole), np.empty((whole, whole))
    from_python(products)(weight, filled(own, whole, m), np.empty((4, m)), sums, square, p, m)
    np.testing.assert_allclose(sums[:p], own @ weight, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(np.tril(square[:p, :p]), np.tril((own * weight) @ own.T), rtol=1e-11, atol=1e-13)
