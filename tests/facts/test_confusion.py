"""True classes against what was found: every row is counted once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand.facts.confusion import confusion_of


@given(st.lists(st.tuples(st.sampled_from(["oat", "rye", "teff"]), st.integers(0, 3)), min_size=1, max_size=60))
def test_counts_add_up_to_rows_classes_and_clusters(pairs):
    truth, clusters = [name for name, _ in pairs], np.array([k for _, k in pairs])
    table = confusion_of(truth, clusters, ["a", "b", "novel 1", "novel 2"])
    assert table.truth == tuple(sorted(set(truth)))
    assert table.counts.sum() == len(pairs)
    assert table.counts.sum(axis=1).tolist() == [truth.count(name) for name in table.truth]
    assert table.counts.sum(axis=0).tolist() == np.bincount(clusters, minlength=4).tolist()


def test_whole_numbers_are_names_in_their_order():
    table = confusion_of(np.array([10, 9, 10]), np.array([0, 0, 1]), ["9", "novel 1"])
    assert table.truth == ("9", "10")
    assert table.counts.tolist() == [[1, 0], [1, 1]]


def test_columns_of_the_printed_table_stand_below_their_names():
    table = confusion_of(["oat", "rye", "rye"], np.array([0, 1, 1]), ["oat", "a class with a long name"])
    head, *lines = str(table).splitlines()
    assert {len(line) for line in lines} == {len(head)}
    assert [line.split() for line in lines] == [["oat", "1", "0"], ["rye", "0", "2"]]
    assert repr(table) == str(table)


@pytest.mark.parametrize("truth", [["oat"], [["oat", "rye"]], []])
def test_one_true_class_for_each_row_is_expected(truth):
    with pytest.raises(ValueError, match="one value for each of 2 rows is expected"):
        confusion_of(truth, np.array([0, 1]), ["oat", "rye"])
