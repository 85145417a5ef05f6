"""Collections of Dask have the answers of the same rows in memory, bit for bit, also when workers are killed."""

import os
import signal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

pytest.importorskip("distributed", reason="needs the extra dask")
import dask.array as da
import dask.dataframe as dd
from clusters import cluster, deadline, killing

from vbrand import VBrand, load
from vbrand.io.sources.opened import is_source, open_labelled, open_rows
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.validated import Columns

COLUMNS = ["ash", "fat", "salt"]
QUICK = {"random_state": 0, "check": 3}


def problem(n=12_000):
    rng = np.random.default_rng(0)
    member = rng.integers(0, 3, n)
    rows = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 9.0]])[member] + rng.normal(size=(n, 3))
    given = (np.arange(n) % 40 == 0) & (member < 2)
    return pd.DataFrame(rows, columns=COLUMNS), np.where(given, np.array(["oat", "rye", ""])[member], None)


def ragged(table):
    """Return a Dask table whose partitions are uneven, empty, of one row, and of lengths that Dask does not know."""
    edges = [0, 1, 1, 5_345, 5_346, len(table)]
    parts = [dd.from_pandas(table[first:last], npartitions=1) for first, last in pairwise(edges)]
    return dd.concat(parts)


@pytest.fixture(scope="module")
def in_memory():
    rows, labels = problem()
    return VBrand(**QUICK).fit(rows, labels).discovery_


def same(found, other):
    for name in ("labels", "clusters", "novelty_probability", "novelty_score", "probabilities"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))
    assert (found.elbo, str(found), found.n_groups) == (other.elbo, str(other), other.n_groups)
    assert [group.rows for group in found.groups] == [group.rows for group in other.groups]


def test_a_data_frame_is_fitted_as_in_memory(client, in_memory, tmp_path, quick_maps):
    rows, labels = problem()
    detector = VBrand(**QUICK, engine=client)
    detector.fit(ragged(rows.assign(kind=labels)), "kind", store=tmp_path / "store")
    same(detector.discovery_, in_memory)
    np.testing.assert_array_equal(np.load(tmp_path / "store" / "labels.npy"), in_memory.labels)
    assert detector.feature_names_in_.tolist() == COLUMNS
    assert str(detector.discovery_.summary()) == str(in_memory.summary())
    assert detector.discovery_.report(tmp_path / "report.html").stat().st_size > 10_000


def test_columns_of_categories_have_the_answers_of_memory(client):
    rows, labels = problem(9_000)
    rng = np.random.default_rng(3)
    colour = np.where(rows.fat > 4.0, "red", rng.choice(["blue", "green"], len(rows))).astype(object)
    colour[rng.random(len(rows)) < 0.1] = None
    rows = rows.mask(rng.random(rows.shape) < 0.1)
    rows = rows.assign(colour=colour, shape=pd.Categorical(rng.choice(["round", "square"], len(rows))))
    rows = rows.assign(wet=rng.random(len(rows)) < 0.5)
    detector = VBrand(**QUICK).fit(rows, labels)
    other = VBrand(**QUICK, engine=client).fit(ragged(rows.assign(kind=labels)), "kind")
    assert other.categories_ == detector.categories_
    same(other.discovery_, detector.discovery_)
    np.testing.assert_array_equal(other.predict(ragged(rows)), detector.predict(rows))


def test_missing_cells_have_the_answers_of_memory(client):
    rows, labels = problem(9_000)
    gone = np.random.default_rng(1).random(rows.shape) < 0.15
    gone[np.arange(len(rows)), np.random.default_rng(2).integers(3, size=len(rows))] = False
    rows = rows.mask(gone).convert_dtypes()  # columns of pandas that hold NA
    found = VBrand(**QUICK).fit(rows, labels).discovery_
    other = VBrand(**QUICK, engine=client).fit(ragged(rows.assign(kind=labels)), "kind").discovery_
    same(other, found)
    assert str(other.summary()) == str(found.summary())


@pytest.mark.parametrize("workers", [1, 4])
def test_an_array_is_discovered_as_in_memory_by_one_worker_and_by_four(in_memory, workers):
    rows, labels = problem()
    table = da.from_array(rows.to_numpy(), chunks=(5_000, 2))
    with cluster(workers, processes=False) as client:
        detector = VBrand(**QUICK, engine=client).fit(table, da.from_array(labels, chunks=5_000))
        same(detector.discovery_, in_memory)
        unlabelled = table[np.flatnonzero(labels == None)]  # noqa: E711
        np.testing.assert_array_equal(detector.predict(unlabelled), in_memory.labels)


def test_an_engine_survives_a_clone_and_is_not_saved(client, tmp_path):
    detector = VBrand(engine=client, threshold=0.7)
    copied = clone(detector)
    assert (copied.engine, copied.threshold) == (client, 0.7)
    rows, labels = problem(4_000)
    detector.fit(rows, labels).save(tmp_path / "model.vbrand")
    assert load(tmp_path / "model.vbrand").engine is None
    assert "engine" not in detector.model().settings
    with pytest.raises(ValueError, match=r"engine is 3; a dask\.distributed\.Client is expected"):
        VBrand(engine=3).fit(rows, labels)


def small(**columns):
    return dd.from_pandas(pd.DataFrame({"ash": [1.0, 2.0, 3.0], "fat": [3.0, 4.0, 1.0]} | columns), npartitions=2)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (lambda: small(fat=["a", "b", "c"]), "column 'fat' holds .*; numbers are expected"),
        (lambda: small(fat=pd.Categorical(["a", "b", "a"])), "column 'fat' holds category; numbers are expected"),
        (lambda: small(fat=[1.0, 2.0, np.inf]), "column 'fat' has an infinite value in a partition"),
        (lambda: small()[["ash"]], "has no column 'fat', which the detector was fitted with"),
        (lambda: small().loc[9:], "the Dask collection has no rows"),
        (lambda: da.ones((5, 3)), "X has 3 columns; the detector was fitted with 2"),
        (lambda: da.ones(5), "rows by columns of numbers are expected"),
        (lambda: da.from_array(np.array([["a", "b"]])), "numbers are expected"),
        (
            lambda: small().map_partitions(lambda part: part.assign(fat="?"), meta={"ash": float, "fat": float}),
            "holds text where it should hold numbers",
        ),
    ],
)
def test_collections_that_can_not_be_used_get_one_sentence(client, table, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        open_rows(table(), Columns(2, ("ash", "fat")), Scratch(), client)
    assert "\n" not in str(error.value)


def test_labels_that_are_none_are_told(client):
    with pytest.raises(ValueError, match="the Dask collection has no such column"):
        open_labelled(small(), "kind", Scratch(), client)
    with pytest.raises(ValueError, match="column 'kind' has no label in any row"):
        open_labelled(small(kind=[-1, -1, -1]), "kind", Scratch(), client)
    with pytest.raises(ValueError, match="y has 2 labels for 3 rows"):
        open_labelled(small(), ["a", None], Scratch(), client)


def test_labels_may_be_numbers_categories_or_a_column_of_dask(client):
    table = small(kind=[1, -1, 2])
    opened = open_labelled(table, "kind", Scratch(), client)
    assert (opened.labels.tolist(), opened.rest.shape, opened.columns) == ([1, 2], (1, 2), Columns(2, ("ash", "fat")))
    opened = open_labelled(small(kind=pd.Categorical(["a", None, "b"])), "kind", Scratch(), client)
    assert opened.labels.tolist() == ["a", "b"]
    opened = open_labelled(table[["ash", "fat"]], table["kind"], Scratch(), client)
    np.testing.assert_array_equal(opened.rows, [[1.0, 3.0], [3.0, 1.0]])
    assert is_source(table)


def test_single_precision_stays(client):
    rows = open_rows(small().astype("float32"), Columns(2, ("ash", "fat")), Scratch(), client)
    assert rows[:].dtype == np.float32


def test_workers_that_are_killed_in_the_middle_of_passes_change_nothing(client, in_memory):
    rows, labels = problem()
    table = dd.from_pandas(rows.assign(kind=labels), npartitions=5)
    with deadline(60, client), killing(client, "_worked", 2) as killed:
        found = VBrand(**QUICK, engine=client).fit(table, "kind").discovery_
    assert len(killed) == 2
    same(found, in_memory)


FATES = {
    "changed": "was not the same when it was made again",
    "grown": "was not the same when it was made again",
    "vanished": r"a worker can't read .*1\.parquet",
}


def test_files_that_are_others_when_a_lost_worker_reads_them_again_get_one_sentence(client, tmp_path):
    """All of them are lost at once: workers that start again take most of the time."""
    rows, _ = problem(4_000)
    opened = {}
    for fate in FATES:
        (tmp_path / fate).mkdir()
        for number, part in enumerate((rows[:2_000], rows[2_000:])):
            part.to_parquet(tmp_path / fate / f"{number}.parquet")
        opened[fate] = open_rows(dd.read_parquet(tmp_path / fate), Columns(3, tuple(COLUMNS)), Scratch(), client)
        np.testing.assert_array_equal(opened[fate][:], rows)
    (rows[2_000:] + 1.0).to_parquet(tmp_path / "changed" / "1.parquet")
    rows[1_999:].to_parquet(tmp_path / "grown" / "1.parquet")
    (tmp_path / "vanished" / "1.parquet").unlink()
    for process in client.run(os.getpid).values():
        os.kill(process, signal.SIGKILL)
    for fate, sentence in FATES.items():
        with deadline(60, client), pytest.raises(ValueError, match=sentence) as error:
            opened[fate][:]
        assert "\n" not in str(error.value)
