"""Commands as people call them, and what they leave on disk."""

import csv
import os
import signal
import subprocess
import sys
import warnings

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


class Copied:
    """A command in a copy of this process, which has imported it all: it can be killed like one that was started."""

    def __init__(self, *arguments):
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # threads are not copied
            self.pid = os.fork()
        self._code = None
        if self.pid == 0:
            self._run([str(each) for each in arguments])

    def _run(self, words):
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with open(os.devnull, "w") as nowhere:
                sys.stdout = sys.stderr = nowhere
                app(words)
        except SystemExit as end:
            code = end.code or 0
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        finally:
            os._exit(code)

    def poll(self):
        """Return the code that it ended with, or None."""
        return self.wait(os.WNOHANG)

    def wait(self, how=0):
        if self._code is None:
            child, status = os.waitpid(self.pid, how)
            self._code = os.waitstatus_to_exitcode(status) if child else None
        return self._code

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)
