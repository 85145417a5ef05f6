"""The container: trees and arrays out and in again, to the last bit, under the schema they were written with."""

import io

import numpy as np
import pytest

from vbrand.io.files.container import ModelFileError, read_tree, write_tree


def written(path, tree, schema=3):
    file = io.BytesIO()
    write_tree(file, tree, schema)
    path.write_bytes(file.getvalue())
    return path


def test_what_is_written_is_read_with_its_schema(tmp_path):
    tree = {"a": [1, 2.5, None, True, "é"], "b": {"c": {}}, "inf": float("inf")}
    assert read_tree(written(tmp_path / "tree", tree), 3) == (tree, 3)
    assert read_tree(tmp_path / "tree", 9)[1] == 3


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<i8", "|b1", ">f8"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3), (2, 1, 3, 2)])
def test_arrays_come_back_bit_for_bit(tmp_path, dtype, shape):
    rng = np.random.default_rng(0)
    array = np.asarray(10.0 * rng.normal(size=shape)).astype(dtype)
    other = np.asfortranarray(rng.normal(size=(4, 3)))
    (first, second), _ = read_tree(written(tmp_path / "tree", [array, other]), 3)
    np.testing.assert_array_equal(first, array)
    assert (first.shape, first.dtype) == (shape, np.dtype(dtype).newbyteorder("<"))
    np.testing.assert_array_equal(second, other)


def test_arrays_of_other_kinds_are_not_kept(tmp_path):
    with pytest.raises(TypeError, match="arrays of complex128 are not kept"):
        written(tmp_path / "tree", np.zeros(2, dtype=complex))


@pytest.mark.parametrize("schema", [4, 10**9])
def test_a_schema_beyond_the_newest_says_upgrade(tmp_path, schema):
    with pytest.raises(ModelFileError, match=rf"\(schema {schema}; this one reads up to 3\). Upgrade vbrand"):
        read_tree(written(tmp_path / "tree", {}, schema), 3)


def test_schema_0_is_none(tmp_path):
    with pytest.raises(ModelFileError, match="is not a model file of vbrand"):
        read_tree(written(tmp_path / "tree", {}, 0), 3)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ModelFileError, match="is a folder; give the model file in it"):
        read_tree(tmp_path, 3)
