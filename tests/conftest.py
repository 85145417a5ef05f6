"""What several tests share: the demo and an example, run once as people run them, and one small discovery."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


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


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """Return the folder that the example of handwritten digits wrote, and what it printed."""
    folder = tmp_path_factory.mktemp("digits")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "digits.py", "found"], capture_output=True, text=True, check=True, cwd=folder
    )
    return folder / "found", done.stdout


@pytest.fixture(scope="session")
def grain_found():
    """Return what VBrand finds among 30 rows of oat and 30 of a grain that nobody labelled; none is rye."""
    import pandas as pd
    from tables import COLUMNS, grain_rows

    from vbrand import VBrand

    known, labels, new, _ = grain_rows()
    detector = VBrand(random_state=0).fit(pd.DataFrame(known, columns=COLUMNS), labels)
    return detector.discover(pd.DataFrame(new, columns=COLUMNS))
