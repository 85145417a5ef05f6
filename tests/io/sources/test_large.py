"""Tables of the commands that are not held in memory have the rows, labels and names of those that are."""

import numpy as np
import pandas as pd
import pytest

from vbrand.io.sources import large as module
from vbrand.io.sources.large import Cells, is_large, read_large
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.frames import TableError
from vbrand.io.tables.material import Roles, read_material

ROLES = Roles("kind", "sample", None, ("place",))


def write(folder, labels=("oat", None, "rye", None, "oat", None)):
    folder.mkdir()
    table = pd.DataFrame({"ash": 0.3 * np.arange(6.0), "fat": np.arange(6.0)[::-1] ** 2, "kind": labels})
    table = table.assign(sample=[f"s{i}" for i in range(6)], place=[None, "b", "c", "d", " e ", "f"])
    table[:1].to_parquet(folder / "1.parquet")
    table[1:].to_parquet(folder / "2.parquet")
    return str(folder)


@pytest.mark.parametrize("roles", [ROLES, Roles("kind", None, None, ("sample",)), Roles("kind", "sample")])
def test_a_large_table_is_read_as_a_small_one(tmp_path, roles):
    path = write(tmp_path / "big")
    large, small = read_large(path, None, roles, Scratch(tmp_path / "rows")), read_material(path, None, roles)
    np.testing.assert_array_equal(large.rows, small.rows)
    np.testing.assert_array_equal(large.unknown.rows[:], small.unknown.rows)
    assert large.labels.tolist() == small.labels.tolist()
    assert large.unknown.columns == small.unknown.columns
    for name, cells in large.unknown.carried.items():
        assert cells[:] == list(small.unknown.carried[name])
        assert [cells[i] for i in range(len(cells))] == cells[:]
    assert list(large.unknown.names) == list(small.unknown.names)


def test_unknown_rows_may_be_a_table_of_their_own(tmp_path):
    path, other = write(tmp_path / "big"), write(tmp_path / "other")
    large = read_large(path, other, ROLES, Scratch())
    assert large.unknown.rows.shape == (6, 2)
    assert large.unknown.names[:] == [f"s{i}" for i in range(6)]


def test_what_a_large_table_can_not_be_is_told(tmp_path):
    path = write(tmp_path / "big", ["oat"] * 6)
    with pytest.raises(TableError, match="every row of big has a label"):
        read_large(path, None, ROLES, Scratch())
    with pytest.raises(TableError, match="are for tables that are held in memory"):
        read_large(path, None, Roles("kind", truth="kind"), Scratch())
    with pytest.raises(TableError, match="has no column 'none'"):
        read_large(path, None, Roles("kind", "none"), Scratch())


def test_large_is_what_takes_more_than_a_gigabyte(tmp_path, monkeypatch):
    path = write(tmp_path / "big")
    assert not is_large(path, None, ROLES)
    assert not is_large("-", None, ROLES)
    monkeypatch.setattr(module, "LARGE", 2 * 6 * 2 * 8 - 1)
    assert not is_large(path, None, ROLES)
    assert is_large(path, path, ROLES)


def test_cells_are_text_or_none():
    pa = pytest.importorskip("pyarrow")
    cells = Cells(pa.chunked_array([["a"], ["b", None]]))
    assert (len(cells), cells[0], cells[2], cells[1:], cells[5:]) == (3, "a", None, ["b", None], [])
