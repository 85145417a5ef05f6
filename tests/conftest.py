"""What several tests share: the demo, run once through the real command."""

import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """Return the folder that `vbrand demo -o` wrote, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "found"
    done = subprocess.run(
        [sys.executable, "-c", "from vbrand.commands.cli import app; app()", "demo", "-o", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return folder, done.stdout
