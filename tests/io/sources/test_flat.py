"""Rows in a flat file are read as an array would give them."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.io.sources import flat as module
from vbrand.io.sources.flat import Flat, Numbers, copied, numbers_of
from vbrand.io.sources.scratch import Scratch

ROWS = np.arange(600.0).reshape(200, 3)


def filed(rows=ROWS, dtype=np.float64):
    file = Flat.empty(Scratch(), rows.shape[1], dtype)
    file.add(rows[:70])
    file.add(rows[70:])
    return file


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-200, 199), max_size=30), st.sampled_from([24, 240, 10**6]))
def test_rows_are_found_by_their_numbers_in_any_order(numbers, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        patch.setattr(module, "_GAP", 48)
        chosen = np.array(numbers, dtype=np.int64)
        np.testing.assert_array_equal(filed()[chosen], ROWS[chosen])


@pytest.mark.parametrize(
    "chosen", [slice(None), slice(5, 9), slice(3, None, 7), slice(190, 900), np.arange(200) % 3 == 1, [4]]
)
def test_rows_are_chosen_as_of_an_array(chosen):
    np.testing.assert_array_equal(filed()[chosen], ROWS[chosen])
    assert numbers_of(chosen, 200).tolist() == np.arange(200)[chosen].tolist()


def test_parts_of_parts_are_read_where_they_lie():
    part = filed().part(slice(10, 100)).part(slice(5, 20))
    assert part.shape == (15, 3)
    np.testing.assert_array_equal(part[:], ROWS[15:30])


@pytest.mark.parametrize(("stored", "read"), [("f4", "f4"), ("f8", "f8"), ("i4", "f8"), ("f2", "f8"), (">f8", "f8")])
def test_a_table_is_read_as_floats(stored, read):
    rows = filed(dtype=np.dtype(stored))[:]
    assert rows.dtype == np.dtype(read)
    np.testing.assert_array_equal(rows, ROWS)


def test_what_a_function_makes_of_rows_lies_in_a_file_of_its_own():
    np.testing.assert_array_equal(filed().mapped(lambda rows: 2.0 * rows[:, :2])[:], 2.0 * ROWS[:, :2])
    np.testing.assert_array_equal(copied(filed(), np.arange(200) % 2 == 0, Scratch())[:], ROWS[::2])


@pytest.mark.filterwarnings("error")
def test_a_missing_cell_of_the_kind_that_warns_is_a_plain_one():
    """Seed 21000229 of the attack: bytes of a damaged file may be a NaN that makes a processor complain."""
    rows = np.array([[0x7FA00000], [0x3F800000]], dtype=np.uint32).view(np.float32)
    for chosen in (slice(None), np.array([0, 1])):
        np.testing.assert_array_equal(filed(rows, np.float32)[chosen].astype(np.float64), [[np.nan], [1.0]])


def test_small_numbers_are_written_read_and_renamed():
    numbers = Numbers.zeros(Scratch(), 5)
    assert numbers[:].tolist() == [0] * 5
    numbers[slice(1, 4)] = np.array([2, 1, 2], np.int32)
    renamed = numbers.relabelled(np.array([4, 5, 6], np.int32)).relabelled(np.arange(10, 20, dtype=np.int32))
    assert renamed[:].tolist() == [14, 16, 15, 16, 14]
    assert renamed[np.array([3, 0])].tolist() == [16, 14]
    assert numbers[:].tolist() == [0, 2, 1, 2, 0]
    assert len(numbers) == 5


def test_a_file_that_is_cut_off_while_it_is_read_is_told(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    rows = Flat((tmp_path / "rows.npy").open("rb"), (200, 3), np.float64, Scratch(), 128)
    np.testing.assert_array_equal(rows[:], ROWS)
    os.truncate(tmp_path / "rows.npy", 1_000)
    with pytest.raises(ValueError, match="was cut off while it was read"):
        rows[100:120]


def test_a_file_that_changes_while_it_is_read_is_told(tmp_path):
    """One that is put in its place is none of it: the file that was opened stays as it was."""
    np.save(tmp_path / "rows.npy", ROWS)
    rows = Flat((tmp_path / "rows.npy").open("rb"), (200, 3), np.float64, Scratch(), 128)
    np.save(tmp_path / "other.npy", -ROWS)
    (tmp_path / "other.npy").replace(tmp_path / "rows.npy")
    np.testing.assert_array_equal(rows[:], ROWS)

    rows = Flat((tmp_path / "rows.npy").open("rb"), (200, 3), np.float64, Scratch(), 128)
    np.testing.assert_array_equal(rows[:5], -ROWS[:5])
    changed = np.load(tmp_path / "rows.npy", mmap_mode="r+")
    changed[7] = 1.0
    changed.flush()
    os.utime(tmp_path / "rows.npy")  # two changes within one tick of the clock look like one
    with pytest.raises(ValueError, match="was changed while it was read"):
        rows[:5]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk here that is always full")
def test_a_full_disk_is_told_with_the_folder_of_the_rows(tmp_path):
    with Path("/dev/full").open("r+b", buffering=0) as file:
        full = Flat(file, (0, 2), np.float64, Scratch(tmp_path))
    with pytest.raises(OSError, match=str(tmp_path)):
        full.add(np.ones((3, 2)))
