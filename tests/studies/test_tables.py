"""Simulated tables as files."""

import csv

import numpy as np
import pytest

from vbrand.studies.simulate import simulate
from vbrand.studies.tables import write_simulated


def test_files_hold_the_simulated_rows_to_the_last_digit(tmp_path):
    paths = write_simulated("ss1", tmp_path / "new", size=0.1, columns=3, seed=5)
    assert [path.name for path in paths] == ["train.csv", "test.csv"]
    data = simulate("ss1", 5, size=0.1, columns=3)
    for path, rows, classes in zip(
        paths, (data.train, data.test), (data.train_classes, data.test_classes), strict=True
    ):
        lines = list(csv.DictReader(path.read_text().splitlines()))
        assert list(lines[0]) == ["x1", "x2", "x3", "class"]
        np.testing.assert_array_equal([[float(line[f"x{j}"]) for j in (1, 2, 3)] for line in lines], rows)
        assert [line["class"] for line in lines] == [f"class {k}" for k in classes.tolist()]


@pytest.mark.parametrize(("columns", "size"), [(1, 1.0), (2, 0.0), (2, -1.0), (2, float("nan")), (2, 1e9)])
def test_tables_that_can_not_be_are_refused_before_anything_is_written(tmp_path, columns, size):
    with pytest.raises(ValueError, match="at least 2 of a size above 0 are needed"):
        write_simulated("ss1", tmp_path / "new", size=size, columns=columns, seed=0)
    assert not (tmp_path / "new").exists()
