"""Labels of large tables are Parquet files of one folder, all of them or none."""

import pandas as pd
import pytest

from vbrand.commands import parts
from vbrand.commands.parts import parts_written

HEADER = ["sample", "label", "novelty_probability"]


def blocks(count=5):
    for number in range(count):
        yield [[f"s{number}", None], [number, -1], [0.5, 1.0]]


def test_parts_make_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "_PART_ROWS", 4)
    (tmp_path / "labels.csv").write_text("of before")
    with parts_written(tmp_path, HEADER, blocks(), 1):
        assert not (tmp_path / "labels.parquet").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["labels.parquet"]
    assert len(list((tmp_path / "labels.parquet").iterdir())) == 3
    table = pd.read_parquet(tmp_path / "labels.parquet")
    assert table.columns.tolist() == HEADER
    assert table["label"].tolist() == [0, -1, 1, -1, 2, -1, 3, -1, 4, -1]


def test_what_fails_leaves_what_was_there(tmp_path):
    with parts_written(tmp_path, HEADER, blocks(1), 1):
        pass

    def fail():
        with parts_written(tmp_path, HEADER, blocks(3), 1):
            raise OSError("no")

    with pytest.raises(OSError, match="no"):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["labels.parquet"]
    assert len(pd.read_parquet(tmp_path / "labels.parquet")) == 2
