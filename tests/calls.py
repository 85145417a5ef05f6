"""Commands as people call them, and what they leave on disk."""

import csv
import subprocess
import sys

from typer.testing import CliRunner

from vbrand.commands.cli import app


def call(*arguments):
    """Run a command; errors are to be sentences, so that nothing else may come out of it."""
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.output
    return done


def discover(folder, *arguments, out="out", code=0):
    done = call("discover", *arguments, "-o", folder / out)
    assert done.exit_code == code, done.output
    return done


def refused(folder, *arguments):
    done = discover(folder, *arguments, code=2)
    assert not (folder / "out").exists()
    sentence = done.stderr.strip()
    assert "\n" not in sentence
    return sentence


def process(*arguments, **how):
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from vbrand.commands.cli import app; app()", *map(str, arguments)],
        capture_output=True,
        check=False,
        **how,
    )


def labels_of(folder, out="out", name="labels.csv"):
    with (folder / out / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def found_teff(lines):
    """Return whether the rows that nobody labelled, and only they, are novel."""
    return all((line["label"] == "novel") == (i >= 30) for i, line in enumerate(lines))


def edited(path, old, new):
    path.write_text(path.read_text().replace(old, new, 1))
    return path
