"""Tables become one array: no second one is ever made."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from vbrand.commands.analysis import analyse, write_labels
from vbrand.commands.terminal import stages
from vbrand.io.tables.frames import TableError
from vbrand.io.tables.material import Roles, RowNumbers, read_material

ROWS, COLUMNS = 1_000_000, 10


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a table of 1,000,000 rows, of which some are labelled, as one Parquet file and as two."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, ROWS)
    values = np.array([0.0, 8.0, -8.0])[truth][:, None] + rng.normal(size=(ROWS, COLUMNS))
    columns = {f"x{j}": values[:, j] for j in range(COLUMNS)}
    labels = np.where((truth < 2) & (np.arange(ROWS) % 100 == 0), np.array(["oat", "rye", ""])[truth], None)
    table = pyarrow.table({**columns, "variety": pyarrow.array(labels, pyarrow.string())})
    pyarrow.parquet.write_table(table, folder / "one.parquet")
    known = table.filter(pyarrow.compute.is_valid(table["variety"]))
    pyarrow.parquet.write_table(known, folder / "known.parquet")
    pyarrow.parquet.write_table(table.drop_columns(["variety"]), folder / "unknown.parquet")
    return folder, values, truth, np.array([label is not None for label in labels])


def test_two_tables_are_read_without_a_second_copy(large):
    folder, values, _, _ = large
    size = values.nbytes
    tracemalloc.start()
    pool = pyarrow.default_memory_pool()
    before = pool.max_memory()
    material = read_material(str(folder / "known.parquet"), str(folder / "unknown.parquet"), Roles("variety"))
    ours, readers = tracemalloc.get_traced_memory()[1], pool.max_memory() - before
    tracemalloc.stop()
    assert ours < 1.1 * size
    assert readers < 0.7 * size  # a row group that is being read; nothing of it stays
    assert pool.bytes_allocated() < 0.1 * size
    assert np.array_equal(material.unknown.rows, values)


def test_one_table_is_read_without_a_second_copy(large):
    folder, values, _, given = large
    tracemalloc.start()
    material = read_material(str(folder / "one.parquet"), None, Roles("variety"))
    ours = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ours < 1.95 * values.nbytes  # the array, labels as text, and where each row goes
    assert np.array_equal(material.unknown.rows, values[~given])
    assert np.array_equal(material.rows, values[given])
    assert material.rows.base is material.unknown.rows.base  # parts of one array
    assert material.unknown.names[0] == str(np.flatnonzero(~given)[0] + 1)


def test_from_file_to_labels_without_a_second_copy(large, tmp_path):
    folder, _, truth, _ = large
    material = read_material(str(folder / "known.parquet"), str(folder / "unknown.parquet"), Roles("variety"))
    taken = {}
    for some in (50_000, 200_000):  # the first rows of the array, as they are
        unknown = replace(material.unknown, rows=material.unknown.rows[:some], carried={"row": RowNumbers(range(some))})
        tracemalloc.start()
        analysis = analyse(replace(material, unknown=unknown), {"n_jobs": 2}, stages(quiet=True))
        with (tmp_path / "labels.csv").open("wb") as file:
            write_labels(file, analysis.detector, unknown, analysis.facts)
        taken[some] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.shares_memory(analysis.found.context.table, material.unknown.rows)
        assert np.shares_memory(analysis.found._rows.table, material.unknown.rows)
    # labels, clusters, scores and probabilities are about as large as the ten columns; a copy would be more
    assert taken[200_000] - taken[50_000] < 1.6 * 150_000 * COLUMNS * 8
    with (tmp_path / "labels.csv").open() as file:
        found = np.array([line.split(",")[1] for line in file][1:])
    assert (found == np.array(["oat", "rye", "novel"])[truth[:200_000]]).mean() > 0.999
    assert len(analysis.facts.points.names) <= 2_000


def test_no_table_at_all(tmp_path):
    with pytest.raises(TableError, match="there is no file"):
        read_material(str(tmp_path / "no.csv"), None, Roles("variety"))
