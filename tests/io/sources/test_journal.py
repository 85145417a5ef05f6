"""A journal gives back what passes found, in their order, as long as they are asked the same."""

import numpy as np

from vbrand.io.sources.journal import Journal

NUMBERS = np.arange(10, dtype=np.int32)
BLOCKS = [slice(0, 6), slice(6, 10)]


def noted(folder, passes=2, about="rows"):
    journal = Journal(folder, about)
    for number in range(passes):
        journal.note({"centre": np.ones(number)}, {"counts": np.arange(3.0) + number}, NUMBERS + number, BLOCKS)
    return journal


def test_passes_come_back_in_their_order(tmp_path):
    assert noted(tmp_path / "journal").passes == 2
    again = Journal(tmp_path / "journal", "rows")
    for number in range(2):
        arrays, path = again.recall({"centre": np.ones(number)})
        np.testing.assert_array_equal(arrays["counts"], np.arange(3.0) + number)
        np.testing.assert_array_equal(np.fromfile(path, np.int16), NUMBERS + number)
        assert list(arrays) == ["counts"]
    assert again.recall({"centre": np.ones(2)}) is None


def test_a_pass_that_is_asked_something_else_ends_the_journal(tmp_path):
    noted(tmp_path / "journal")
    again = Journal(tmp_path / "journal", "rows")
    assert again.recall({"centre": np.ones(0)}) is not None
    assert again.recall({"centre": np.zeros(1)}) is None
    again.note({"centre": np.zeros(1)}, {"counts": np.zeros(1)}, NUMBERS, BLOCKS)
    third = Journal(tmp_path / "journal", "rows")
    assert third.recall({"centre": np.ones(0)}) is not None
    assert third.recall({"centre": np.zeros(1)})[0]["counts"].tolist() == [0.0]


def test_a_journal_about_other_rows_is_none(tmp_path):
    noted(tmp_path / "journal")
    assert Journal(tmp_path / "journal", "others").passes == 0


def test_half_a_pass_is_none(tmp_path):
    noted(tmp_path / "journal")
    file = tmp_path / "journal" / "000000.npz"
    whole = file.read_bytes()
    for damaged in (whole[:50], whole.replace(b"), }", b"(, }")):  # cut off; a header that does not end
        file.write_bytes(damaged)
        assert Journal(tmp_path / "journal", "rows").recall({"centre": np.ones(0)}) is None
