"""The commands, through the real entry point."""

import json
import re
import subprocess
import sys

import vbrand


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from vbrand.commands.cli import app; app()", *arguments],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_version():
    assert run("--version").strip() == f"vbrand {vbrand.__version__}"


def test_demo_finds_the_two_digits_nobody_labelled(demo):
    folder, printed = demo
    novel = [line for line in printed.splitlines() if "novel group" in line and "(" in line]
    assert any(re.search(r"\b3 \(", line) for line in novel)
    assert any(re.search(r"\b8 \(", line) for line in novel)
    scores = json.loads((folder / "summary.json").read_text())["scores"]
    assert all(scores[name] > 0.8 for name in ("ari", "novelty_f1", "known_accuracy"))


def test_reproduce_refuses_what_it_does_not_know():
    for arguments, sentence in (
        (["reproduce", "ss9"], "there is no study 'ss9'; choose ss1"),
        (["reproduce", "ss1", "--quick", "--full"], "--quick and --full ask for different things"),
        (["reproduce", "statlog", "--quick", "--data", "no-such-folder"], "has no file sat.trn"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", "from vbrand.commands.cli import app; app()", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr
