"""Any value becomes what JSON can hold."""

import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from vbrand.io.files.plain import json_ready

numbers = st.floats() | st.integers() | st.booleans() | st.none() | st.text(max_size=5)
numpy_numbers = st.floats(width=32).map(np.float32) | st.integers(-(2**63), 2**63 - 1).map(np.int64)
tables = arrays(np.float64, array_shapes(min_dims=0, max_dims=2, max_side=3), elements=st.floats())
values = st.recursive(
    numbers | numpy_numbers | tables,
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(values)
def test_what_comes_out_is_json_without_nan_and_stays_as_it_is(value):
    ready = json_ready(value)
    text = json.dumps(ready, allow_nan=False)
    assert json.loads(text) == ready
    assert json_ready(ready) == ready


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_seventeen_digits_are_the_number_itself(number):
    assert json_ready(number) == number
    assert json_ready(np.float64(number)) == number


@given(st.floats(-1e300, 1e300), st.integers(1, 17))
def test_so_many_digits_are_near_the_number(number, digits):
    rounded = json_ready(number, digits)
    assert math.isclose(rounded, number, rel_tol=5.1 * 10.0**-digits, abs_tol=1e-307)
    assert json_ready(rounded, digits) == rounded


def test_arrays_are_lists_of_plain_numbers():
    assert json_ready({"a": np.array([[1, 2]]), "b": (np.True_, np.str_("x"))}) == {"a": [[1, 2]], "b": [True, "x"]}
    assert type(json_ready(np.int64(1))) is int
