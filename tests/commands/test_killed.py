"""A command that is killed leaves the old output or the new one, never half a file."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tables import write_grain

import vbrand
from vbrand.io.files.whole import write_together

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


def test_what_fails_half_way_changes_nothing(tmp_path):
    (tmp_path / "a").write_text("old a")
    (tmp_path / "b").write_text("old b")

    def broken(file):
        file.write(b"new")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_together({tmp_path / "a": lambda file: file.write(b"new"), tmp_path / "b": broken})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old a", "b": "old b"}


@pytest.mark.parametrize("fatal", range(1, 9))
def test_killed_within_the_writing(tmp_path, fatal):
    """The process dies at each step of the writing in turn: opening, writing, renaming."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"old {name}")
    child = os.fork()
    if child == 0:
        steps = 0

        def die(*_):
            nonlocal steps
            steps += 1
            if steps == fatal:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(lambda event, _: die() if event in ("open", "os.rename", "os.remove") else None)
        write_together(
            {tmp_path / name: lambda file, name=name: file.write(f"new {name}".encode()) for name in ("a", "b")}
        )
        os._exit(0)
    os.waitpid(child, 0)
    for name in ("a", "b"):
        assert (tmp_path / name).read_text() in (f"old {name}", f"new {name}")
