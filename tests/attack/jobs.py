"""What is stopped half-way, runs out of disk, or meets itself: jobs that write, and what must hold of their files."""

import atexit
import csv
import functools
import json
import os
import signal
import sys
import tempfile
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
from attack.judge import want

import vbrand
from vbrand import BrandSampler, VBrand
from vbrand.commands.analysis import analyse, write_analysis
from vbrand.io.tables.material import Roles, read_material

JOBS = ("discover", "save", "update", "sample", "on disk")


@functools.cache
def _table():
    generator = np.random.default_rng(3)
    rows = np.vstack([generator.normal(0, 1, (30, 2)), generator.normal(8, 1, (30, 2))])
    return rows, np.repeat(["oat", "rye"], 30), np.vstack([rows[::2] + 0.1, generator.normal(-8, 1, (20, 2))])


@functools.cache
def _material():
    rows, labels, unknown = _table()
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder) / "train.csv", Path(folder) / "test.csv"
        pd.DataFrame(rows, columns=["a", "b"]).assign(grain=labels).to_csv(train, index=False)
        pd.DataFrame(unknown, columns=["a", "b"]).to_csv(test, index=False)
        return read_material(str(train), str(test), Roles("grain"))


@functools.cache
def _file():
    """Return a table on disk, labelled rows and others; it goes when the attack ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    rows, labels, unknown = _table()
    known = pd.DataFrame(rows, columns=["a", "b"]).assign(grain=labels)
    pd.concat([known, pd.DataFrame(unknown, columns=["a", "b"])]).to_parquet(Path(folder.name) / "table.parquet")
    return Path(folder.name) / "table.parquet"


def do(job, folder, threshold=0.5):
    """Fit and write; return labels, which are the same each time."""
    rows, labels, unknown = _table()
    if job == "sample":
        sampler = BrandSampler(n_draws=200, n_burn=100, n_chains=2, random_state=1, store=folder / "draws")
        return sampler.fit(rows, labels).discover(unknown).labels.tolist()
    if job == "discover":
        analysis = analyse(_material(), {"random_state": 0, "threshold": threshold}, lambda _: nullcontext())
        write_analysis(analysis, folder / "out", lambda _: nullcontext())
        return analysis.found.labels.tolist()
    if job == "on disk":
        detector = VBrand(random_state=0, threshold=threshold).fit(_file(), "grain", store=folder / "answers")
        return detector.discovery_.labels.tolist()
    detector = VBrand(random_state=0, threshold=threshold).fit(rows, labels)
    if job == "update":
        detector.update(unknown[::2])
        detector.save(folder / "weeks.vbrand")
        found = detector.update(unknown[1::2])
        detector.save(folder / "weeks.vbrand")
        return found.labels.tolist()
    detector.discover(unknown)
    detector.save(folder / "model.vbrand")
    return detector.predict(unknown).tolist()


@functools.cache
def answer(job):
    """Return what a job says that nothing disturbs, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        return do(job, Path(folder))


def get_ready():
    """Do each job once: the first one compiles, which counts for no attempt."""
    for job in JOBS:
        answer(job)


def want_whole(folder):
    """Fail an attempt that has left a file that can't be read, or half of one."""
    for path in folder.rglob("*"):
        if path.name.endswith(".vbrand"):
            vbrand.load(path)
        elif path.name == "labels.csv":
            with path.open(newline="") as file:
                want(len(list(csv.reader(file))) == 1 + len(_table()[2]), "labels.csv has other rows")
        elif path.suffix == ".npy":
            np.load(path)
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.name == "report.html":
            want(path.read_text().rstrip().endswith("</html>"), "the report is cut off")


def want_no_halves(folder):
    """Fail an attempt after which files under other names are left."""
    halves = [path.name for path in folder.rglob(".*vbrand-*")]
    want(not halves, f"halves were left: {halves}")


def start(work):
    """Return the id of a child process that does some work; it exits with 0 if nothing was raised."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with open(os.devnull, "w") as nowhere:
                sys.stdout = sys.stderr = nowhere
                work()
            code = 0
        finally:
            os._exit(code)
    return child


def kill(child):
    """Kill a child and wait until it is gone."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
