"""Labelled rows come into memory, all others go to disk, each in its order."""

import numpy as np
import pandas as pd
import pytest

from vbrand.io.sources.gathered import gathered, spooled
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.folders import joined
from vbrand.io.tables.frames import TableError

ROWS = np.arange(20.0).reshape(10, 2)


def frame_of(tmp_path, labels, rows=ROWS):
    half = pd.DataFrame(rows, columns=["a", "b"]).assign(kind=labels)
    half[:4].to_parquet(tmp_path / "1.parquet")
    half[4:].to_parquet(tmp_path / "2.parquet")
    return joined("t", sorted(tmp_path.iterdir()), {"kind"})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["oat", None, "rye", None, None, "oat", None, None, None, "rye"], ["oat", "rye", "oat", "rye"]),
        ([1, -1, 2, -1, -1, 1, -1, -1, -1, 2], [1, 2, 1, 2]),
        ([1.0, np.nan, 2.0, np.nan, np.nan, 1.0, np.nan, np.nan, np.nan, 2.0], [1, 2, 1, 2]),
        (pd.Categorical(["x", None, "y", None, None, "x", None, None, None, "y"]), ["x", "y", "x", "y"]),
    ],
)
def test_rows_are_told_apart_by_their_labels(tmp_path, labels, expected):
    found = gathered(frame_of(tmp_path, labels), ["b", "a"], "kind", Scratch())
    given = np.isin(np.arange(10), [0, 2, 5, 9])
    assert found.labels.tolist() == expected
    np.testing.assert_array_equal(found.rows, ROWS[given][:, ::-1])
    np.testing.assert_array_equal(found.rest[:], ROWS[~given][:, ::-1])


def test_all_rows_go_to_disk(tmp_path):
    np.testing.assert_array_equal(spooled(frame_of(tmp_path, ["x"] * 10), ["a"], Scratch(), "")[:], ROWS[:, :1])


def test_a_table_without_labels_or_with_infinite_numbers_is_refused(tmp_path):
    with pytest.raises(TableError, match="has no label in any row"):
        gathered(frame_of(tmp_path, [None] * 10), ["a"], "kind", Scratch())
    rows = ROWS.copy()
    rows[7, 1] = -np.inf
    with pytest.raises(TableError, match="column 'b' of t has an infinite number in row 8"):
        gathered(frame_of(tmp_path, ["x"] * 10, rows), ["a", "b"], "kind", Scratch())
