"""A command that is killed leaves the old output or the new one, never half a file."""

import json
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from calls import call
from stream import rows_of
from tables import write_grain

import vbrand

FILES = ("labels.csv", "model.vbrand", "summary.json", "report.html")


def words_of(train, test, out, *options):
    return "discover", train, test, "--label", "variety", "-o", out, "-q", *options


def started(*words):
    """Start a command in a process of its own, which can be killed; others run here, where all is loaded."""
    command = [sys.executable, "-c", "from vbrand.commands.cli import app; app()", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def halves(folder):
    return {path for path in folder.iterdir() if path.name.startswith(".")}


def stop(process, folder, moment, how=signal.SIGKILL):
    """Stop a command after some seconds, or as soon as it is writing something; return its exit code."""
    left = halves(folder)  # by those that were killed before
    if isinstance(moment, float):
        time.sleep(moment)
    else:
        while process.poll() is None and halves(folder) <= left:
            time.sleep(0.0005)
    process.send_signal(how)
    return process.wait()


def held(folder):
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Return tables, what the first settings give and what others give."""
    folder = tmp_path_factory.mktemp("killed")
    train, test = write_grain(folder)
    began = time.monotonic()
    assert started(*words_of(train, test, folder / "new", "--set", "threshold=0.9")).wait() == 0
    took = time.monotonic() - began
    assert call(*words_of(train, test, folder / "old")).exit_code == 0
    old, new = held(folder / "old"), held(folder / "new")
    assert all(old[name] != new[name] for name in FILES if name != "labels.csv")
    return train, test, folder, old, new, took


@pytest.mark.parametrize("part", [0.9, "half-way", "interrupted"])
def test_killing_at_any_moment_leaves_old_or_new(outputs, part):
    train, test, folder, old, new, took = outputs
    out = folder / "old"
    how, left = (signal.SIGINT if part == "interrupted" else signal.SIGKILL), halves(out)
    process = started(*words_of(train, test, out, "--set", "threshold=0.9"))
    code = stop(process, out, part * took if isinstance(part, float) else part, how)
    for name, content in held(out).items():
        assert content in (old[name], new[name])
    assert set(held(out)) == set(FILES)
    if part == "interrupted":  # it may have been done already
        assert code in (0, 130, -signal.SIGINT)
        assert halves(out) <= left
    json.loads((out / "summary.json").read_text())
    vbrand.load(out / "model.vbrand")


@pytest.fixture(scope="module")
def weeks(tmp_path_factory):
    """Return a folder after the first week, the table of the second, and how long the second takes."""
    folder = tmp_path_factory.mktemp("weeks")
    rng = np.random.default_rng(0)
    columns = ["a", "b", "c"]
    detector = vbrand.VBrand(random_state=0)
    detector.fit(pd.DataFrame(rows_of(rng, 60, 60), columns=columns), np.repeat(["oat", "rye"], 60))
    detector.save(folder / "model.vbrand")
    for week, third in ((1, 15), (2, 20)):
        pd.DataFrame(rows_of(rng, third=third), columns=columns).to_csv(folder / f"week{week}.csv", index=False)
    assert call("update", folder / "model.vbrand", folder / "week1.csv", "-o", folder / "first").exit_code == 0
    began = time.monotonic()
    assert started("update", folder / "first" / "model.vbrand", folder / "week2.csv", "-o", folder / "new").wait() == 0
    return folder, time.monotonic() - began


@pytest.mark.parametrize("part", [0.8, "half-way"])
def test_an_update_that_is_killed_leaves_the_old_model_or_the_new_one(weeks, tmp_path, part):
    folder, took = weeks
    out = tmp_path / "found"
    shutil.copytree(folder / "first", out)
    words = ("update", out / "model.vbrand", folder / "week2.csv", "-o", out)
    stop(started(*words), out, part * took if isinstance(part, float) else part)
    old, now = held(folder / "first"), held(out)
    batches = vbrand.load(out / "model.vbrand").events().batches
    assert set(now) == set(FILES)
    assert batches == 2 or now["model.vbrand"] == old["model.vbrand"]
    assert len(now["labels.csv"].splitlines()) in (56, 61)
    json.loads(now["summary.json"])

    assert call(*words).exit_code == 0  # it goes on from there, and takes away what was left
    assert vbrand.load(out / "model.vbrand").events().batches == batches + 1
    assert not halves(out)


@pytest.mark.parametrize("moment", [0.6, "half-way"])
def test_a_name_that_is_killed_is_said_or_not(weeks, tmp_path, moment):
    shutil.copy(weeks[0] / "new" / "model.vbrand", tmp_path / "model.vbrand")
    words = ("name", tmp_path / "model.vbrand", "novel 1", "millet")
    stop(started(*words), tmp_path, moment)
    said = "millet" in vbrand.load(tmp_path / "model.vbrand").classes_
    assert said or (tmp_path / "model.vbrand").read_bytes() == (weeks[0] / "new" / "model.vbrand").read_bytes()

    assert call(*words).exit_code == (2 if said else 0)  # a group that has a name is none
    assert vbrand.load(tmp_path / "model.vbrand").classes_.tolist() == ["oat", "rye", "millet"]
    assert said or not halves(tmp_path)
