"""The file of a model: what is written comes back, and what was altered is refused."""

import hashlib
import io
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from vbrand.io.files.container import ModelFileError, read_tree, write_tree

SCHEMA = 3

plain = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=5)
kept = st.sampled_from([np.float64, np.float32, np.int64, np.bool_]).flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
)
names = st.text(max_size=4).filter(lambda name: name != "array")
trees = st.recursive(
    plain | kept, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)


def bytes_of(tree):
    file = io.BytesIO()
    write_tree(file, tree, SCHEMA)
    return file.getvalue()


def same(left, right):
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right and type(left) is type(right)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("container") / "model.vbrand"


@settings(deadline=None)
@given(tree=trees)
def test_what_is_written_comes_back(path, tree):
    path.write_bytes(bytes_of(tree))
    assert same(read_tree(path, SCHEMA)[0], tree)


TREE = {"name": "oat", "places": np.arange(6.0).reshape(2, 3), "parts": [1, None, {"mask": np.array([True, False])}]}
WHOLE = bytes_of(TREE)


@settings(deadline=None)
@given(length=st.integers(0, len(WHOLE) - 1))
def test_a_file_that_was_cut_off_is_refused(path, length):
    path.write_bytes(WHOLE[:length])
    with pytest.raises(ModelFileError, match=r"is damaged|is not a model file"):
        read_tree(path, SCHEMA)


@settings(deadline=None)
@example(place=13, bit=0)  # the schema: 3 becomes 2
@example(place=13, bit=1)  # 1
@given(place=st.integers(0, len(WHOLE) - 1), bit=st.integers(0, 7))
def test_a_file_with_one_bit_changed_is_refused(path, place, bit):
    changed = bytearray(WHOLE)
    changed[place] ^= 1 << bit
    path.write_bytes(changed)
    with pytest.raises(ModelFileError, match=r"is damaged|is not a model file|written by a newer vbrand"):
        read_tree(path, SCHEMA)


def signed(body):
    first = f"vbrand model {SCHEMA}\n".encode()
    return first + f"sha256 {hashlib.sha256(first + body).hexdigest()}\n".encode() + body


@pytest.mark.parametrize(
    "arrays_said",
    [
        [{"dtype": "<f8", "shape": [2**40]}],  # more than the file holds
        [{"dtype": "<f8", "shape": [1]}, {"dtype": "<f8", "shape": [1]}],
        [{"dtype": "|O", "shape": [1]}],
        [{"dtype": "<f8", "shape": [-1]}],
        [{"dtype": "<f8", "shape": [1.0]}],
        [{"dtype": "<f8", "shape": [1, 1, 1, 1, 1]}],
        [{"dtype": "<f8"}],
        [],  # bytes are left over
        {"dtype": "<f8"},
    ],
)
def test_a_header_that_does_not_fit_its_arrays_is_refused(path, arrays_said):
    """With a right checksum: whoever wrote it meant it."""
    header = json.dumps({"tree": {"array": 0}, "arrays": arrays_said}).encode()
    path.write_bytes(signed(f"header {len(header)}\n".encode() + header + bytes(8)))
    with pytest.raises(ModelFileError, match="is damaged"):
        read_tree(path, SCHEMA)


@pytest.mark.parametrize("tree", [{"array": 1}, {"array": "x"}, {"array": None}])
def test_an_array_that_is_not_there_is_refused(path, tree):
    header = json.dumps({"tree": tree, "arrays": []}).encode()
    path.write_bytes(signed(f"header {len(header)}\n".encode() + header))
    with pytest.raises(ModelFileError, match="is damaged"):
        read_tree(path, SCHEMA)


@pytest.mark.parametrize(
    "header", ["[" * 100_000, '{"tree": [' + "[]," * 300_000 + '0], "arrays": []}', "1", "null", "x"]
)
def test_a_header_that_would_fill_the_memory_or_the_stack_is_refused(path, header):
    path.write_bytes(signed(f"header {len(header)}\n{header}".encode()))
    with pytest.raises(ModelFileError, match="is damaged"):
        read_tree(path, SCHEMA)


def test_a_newer_file_is_told_from_a_damaged_one(path):
    path.write_bytes(WHOLE.replace(f"model {SCHEMA}".encode(), f"model {SCHEMA + 1}".encode(), 1))
    with pytest.raises(ModelFileError, match=f"newer vbrand .schema {SCHEMA + 1}; this one reads up to {SCHEMA}"):
        read_tree(path, SCHEMA)


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(ModelFileError, match=r"is a folder; give the model file in it, such as .*model\.vbrand"):
        read_tree(tmp_path, SCHEMA)
    with pytest.raises(FileNotFoundError):
        read_tree(tmp_path / "no.vbrand", SCHEMA)


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([1j]), np.array([None]), np.array([1], dtype=np.uint8)])
def test_arrays_of_other_kinds_are_not_kept(array):
    with pytest.raises(TypeError, match="are not kept"):
        bytes_of({"a": array})


def test_arrays_of_any_order_of_bytes_and_memory_are_written_alike():
    table = np.arange(6.0).reshape(2, 3)
    assert bytes_of([table.astype(">f8")]) == bytes_of([np.asfortranarray(table)]) == bytes_of([table])


def test_names_that_take_too_much_room_are_refused():
    with pytest.raises(ValueError, match="a model file has room for 16,777,216"):
        bytes_of(["x" * 2**24])


def test_the_schema_comes_back_with_the_tree(path):
    path.write_bytes(WHOLE)
    assert read_tree(path, SCHEMA)[1] == read_tree(path, 9)[1] == SCHEMA


def test_schema_0_is_none(path):
    path.write_bytes(WHOLE.replace(f"model {SCHEMA}".encode(), b"model 0", 1))
    with pytest.raises(ModelFileError, match="is not a model file of vbrand"):
        read_tree(path, SCHEMA)
