"""`vbrand discover` on tables that are not held in memory: the answers of small ones, in other files."""

import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from vbrand.commands.cli import app
from vbrand.inference import kernel
from vbrand.io.sources import cluster, large
from vbrand.io.sources.cluster import ClusterError


def write(folder, n=12_000):
    rng = np.random.default_rng(0)
    member = rng.integers(0, 3, n)
    rows = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 9.0]])[member] + rng.normal(size=(n, 3))
    given = (np.arange(n) % 40 == 0) & (member < 2)
    table = pd.DataFrame(rows, columns=["ash", "fat", "salt"]).assign(sample=[f"s{i}" for i in range(n)])
    table = table.assign(kind=np.where(given, np.array(["oat", "rye", ""])[member], None))
    folder.mkdir()
    table[: n // 3].to_parquet(folder / "1.parquet", index=False)
    table[n // 3 :].to_parquet(folder / "2.parquet", index=False)


# what is told of the table: what stands in which column, and that few folds are enough here
TOLD = ("--label", "kind", "--id", "sample", "--set", "check=3")


def run(*words):
    return CliRunner().invoke(app, ["discover", *map(str, words), *TOLD])


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return a folder with a table and what is found of it in memory."""
    folder = tmp_path_factory.mktemp("large")
    write(folder / "big")
    assert run(folder / "big", "-o", folder / "found", "-q").exit_code == 0
    return folder


def same(out, folder):
    labels, expected = pd.read_parquet(out / "labels.parquet"), pd.read_csv(folder / "found" / "labels.csv")
    assert labels.columns.tolist() == expected.columns.tolist()
    for name in ("sample", "label", "cluster"):
        assert labels[name].tolist() == expected[name].tolist()
    np.testing.assert_allclose(labels["novelty_probability"], expected["novelty_probability"], atol=1e-6)
    assert json.loads((out / "summary.json").read_text()) == json.loads((folder / "found" / "summary.json").read_text())
    files = {"labels.parquet", "model.vbrand", "summary.json", "report.html"}
    assert {path.name for path in out.iterdir()} == files


def test_a_table_on_disk_has_the_same_answers(small, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LARGE", 0)
    done = run(small / "big", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "labels.parquet" in done.output
    same(tmp_path / "out", small)


def test_a_table_on_a_cluster_has_the_same_answers(small, tmp_path):
    clusters = pytest.importorskip("clusters", reason="needs the extra dask")
    with clusters.cluster(2) as client:
        done = run(small / "big", "-o", tmp_path / "out", "-q", "--scheduler", client.scheduler.address)
    assert done.exit_code == 0, done.output
    same(tmp_path / "out", small)


def test_where_all_workers_are_killed_a_sentence_says_so_and_the_run_can_be_resumed(small, tmp_path, monkeypatch):
    clusters = pytest.importorskip("clusters", reason="needs the extra dask")
    monkeypatch.setattr(cluster, "_PATIENCE", 5.0)
    monkeypatch.setattr(cluster, "_LOOK", 0.5)
    rows = tmp_path / "out" / ".rows"

    def kill(processes):
        while len(list(rows.glob("*.npz"))) < 3 and not over.wait(0.005):
            pass
        for process in processes:
            process.kill()

    with clusters.cluster(0) as client:
        words = [small / "big", "-o", tmp_path / "out", "--scheduler", client.scheduler.address]
        over = threading.Event()
        with clusters.mortal(client) as processes, clusters.deadline(60, client):
            killer = threading.Thread(target=kill, args=[processes])
            killer.start()
            stopped = run(*words)
            over.set()
            killer.join()
        assert (stopped.exit_code, stopped.stderr.count("\n")) == (2, 1), stopped.output
        assert "the cluster has no workers any more" in stopped.stderr
        assert "--resume goes on" in stopped.stderr
        assert os.listdir(tmp_path / "out") == [".rows"]

        with clusters.mortal(client, 1), clusters.deadline(60, client):
            again = run(*words, "-q", "--resume")
        assert again.exit_code == 0, again.output
    same(tmp_path / "out", small)


def test_files_that_workers_do_not_find_are_told_and_nothing_is_written(tmp_path, monkeypatch):
    clusters = pytest.importorskip("clusters", reason="needs the extra dask")
    write(tmp_path / "big", 300)
    on_workers = large._on_workers

    def vanishing(path):
        table = on_workers(path)
        (tmp_path / "big" / "2.parquet").unlink()
        return table

    monkeypatch.setattr(large, "_on_workers", vanishing)
    with clusters.cluster(1) as client:
        done = run(tmp_path / "big", "-o", tmp_path / "out", "--scheduler", client.scheduler.address)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert "2.parquet" in done.stderr
    assert os.listdir(tmp_path / "out") == []


def test_what_fails_half_way_leaves_nothing(small, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LARGE", 0)
    write(tmp_path / "big", 300)
    table = pd.read_parquet(tmp_path / "big" / "2.parquet")
    table.loc[7, "fat"] = np.inf
    table.to_parquet(tmp_path / "big" / "2.parquet", index=False)
    done = run(tmp_path / "big", "-o", tmp_path / "out")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "infinite number" in done.stderr
    assert os.listdir(tmp_path / "out") == []


def test_a_scheduler_that_is_not_there_is_told(small, tmp_path):
    pytest.importorskip("distributed", reason="needs the extra dask")
    done = run(small / "big", "-o", tmp_path / "out", "--scheduler", "nowhere")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "there is no scheduler of Dask at nowhere" in done.stderr


def test_a_run_that_is_stopped_goes_on_after_its_last_pass(small, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LARGE", 0)
    done, stop_after = [], 7

    def counted(*arguments):
        if len(done) == stop_after:
            raise ClusterError("the cluster has no workers any more.")
        done.append(1)
        return kernel_each_piece(*arguments)

    kernel_each_piece = kernel.each_piece
    monkeypatch.setattr(kernel, "each_piece", counted)
    stopped = run(small / "big", "-o", tmp_path / "out")
    assert (stopped.exit_code, stopped.stderr.count("\n")) == (2, 1)
    assert "--resume goes on" in stopped.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".rows"]

    stop_after = -1
    assert run(small / "big", "-o", tmp_path / "out", "-q", "--resume").exit_code == 0
    same(tmp_path / "out", small)
    resumed = len(done) - 7
    done.clear()
    assert run(small / "big", "-o", tmp_path / "again", "-q").exit_code == 0
    assert len(done) == resumed + 7


def test_missing_cells_and_categories_on_disk_have_the_same_answers_also_when_resumed(tmp_path, monkeypatch):
    write(tmp_path / "big", 9_000)
    rng = np.random.default_rng(1)
    for path in sorted((tmp_path / "big").iterdir()):
        table = pd.read_parquet(path)
        colour = np.where(rng.random(len(table)) < 0.1, None, np.where(table.fat > 4.0, "red", "blue"))
        gone = (rng.random((len(table), 3)) < 0.1) & (rng.integers(3, size=(len(table), 1)) != np.arange(3))
        table[["ash", "fat", "salt"]] = table[["ash", "fat", "salt"]].mask(gone)
        table.assign(colour=colour).to_parquet(path, index=False)
    words = [tmp_path / "big", "--category", "colour"]
    assert run(*words, "-o", tmp_path / "found", "-q").exit_code == 0
    expected = pd.read_csv(tmp_path / "found" / "labels.csv")

    monkeypatch.setattr(large, "LARGE", 0)
    kernel_each_piece, left = kernel.each_piece, [5]

    def counted(rows, *arguments):
        left[0] -= not isinstance(rows.table, np.ndarray)
        if left[0] == 0:
            left[0] = -1
            raise ClusterError("the cluster has no workers any more.")
        return kernel_each_piece(rows, *arguments)

    monkeypatch.setattr(kernel, "each_piece", counted)
    assert "--resume goes on" in run(*words, "-o", tmp_path / "out").stderr
    assert run(*words, "-o", tmp_path / "out", "-q", "--resume").exit_code == 0
    labels = pd.read_parquet(tmp_path / "out" / "labels.parquet")
    for name in ("sample", "label", "cluster"):
        assert labels[name].tolist() == expected[name].tolist()
    stories = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("out", "found")]
    assert stories[0] == stories[1]
    assert any("colour" in str(group.get("explanation")) for group in stories[0]["groups"])


RUN = """
import vbrand.io.sources.large as large, vbrand.pictures.figures as figures
from vbrand.commands.cli import app
large.LARGE = 0
figures.tsne_points = lambda scores: scores[:, :2]
"""
# in the pass after the fourth; who looked from outside might be too late on a busy machine
KILLED = """
import os, signal, threading
from vbrand.io.sources.journal import Journal
note = Journal.note
def noted(journal, *given):
    note(journal, *given)
    if journal.passes == 4:
        threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGKILL)).start()
Journal.note = noted
"""


def test_a_run_that_is_killed_is_resumed(small, tmp_path):
    words = ["discover", str(small / "big"), *TOLD, "-o", str(tmp_path / "out"), "-q"]
    killed = subprocess.run([sys.executable, "-c", f"{RUN}{KILLED}app()", *words], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".rows"]
    assert subprocess.run([sys.executable, "-c", f"{RUN}app()", *words, "--resume"], check=False).returncode == 0
    same(tmp_path / "out", small)


def test_what_a_killed_run_left_goes_with_the_next_run_also_if_its_table_is_small(small, tmp_path):
    (tmp_path / "out" / ".rows").mkdir(parents=True)
    (tmp_path / "out" / ".rows" / "about").write_text("[]")
    assert run(small / "big", "-o", tmp_path / "out", "-q").exit_code == 0
    assert not (tmp_path / "out" / ".rows").exists()


def test_pipes_are_read_once_and_held_in_memory(small, tmp_path):
    """To see whether a table is large it was read, and then there was nothing left in the pipe."""
    pipe, table = tmp_path / "pipe", pd.read_parquet(small / "big").iloc[:3_000]
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: table.to_csv(pipe, index=False))
    writer.start()
    done = run(pipe, "-o", tmp_path / "out", "-q")
    writer.join()
    assert done.exit_code == 0, done.output
    assert len(pd.read_csv(tmp_path / "out" / "labels.csv")) == table["kind"].isna().sum()
