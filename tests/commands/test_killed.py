"""A command that is killed leaves the old output or the new one, never half a file."""

import json
import signal
import subprocess
import sys
import time

import pytest
from tables import write_grain

import vbrand

FILES = ("labels.csv", "model.vbrand", "summary.json", "report.html")


def start(train, test, out, *options):
    command = [
        sys.executable,
        "-c",
        "from vbrand.commands.cli import app; app()",
        "discover",
        train,
        test,
        "--label",
        "variety",
    ]
    return subprocess.Popen([*map(str, command), "-o", str(out), "-q", *options], stderr=subprocess.DEVNULL)


def held(folder):
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Return tables, what the first settings give and what others give."""
    folder = tmp_path_factory.mktemp("killed")
    train, test = write_grain(folder)
    began = time.monotonic()
    assert start(train, test, folder / "new", "--set", "threshold=0.9").wait() == 0
    took = time.monotonic() - began
    assert start(train, test, folder / "old").wait() == 0
    old, new = held(folder / "old"), held(folder / "new")
    assert all(old[name] != new[name] for name in FILES if name != "labels.csv")
    return train, test, folder, old, new, took


@pytest.mark.parametrize("part", [0.5, 0.8, 0.9, 0.95, "half-way", "interrupted"])
def test_killing_at_any_moment_leaves_old_or_new(outputs, part):
    train, test, folder, old, new, took = outputs
    out = folder / "old"
    process = start(train, test, out, "--set", "threshold=0.9")
    if isinstance(part, float):
        time.sleep(part * took)
    else:  # as soon as something is being written
        while process.poll() is None and not any(path.name.startswith(".") for path in out.iterdir()):
            time.sleep(0.0005)
    process.send_signal(signal.SIGINT if part == "interrupted" else signal.SIGKILL)
    code = process.wait()
    for name, content in held(out).items():
        assert content in (old[name], new[name])
    assert set(held(out)) == set(FILES)
    if part == "interrupted":  # it may have been done already
        assert code in (0, 130, -signal.SIGINT)
        assert code != 130 or not list(out.glob(f".*.{process.pid}"))
    json.loads((out / "summary.json").read_text())
    vbrand.load(out / "model.vbrand")
