"""What several tests share: the demo and an example, run once as people run them, and one small discovery."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


def pytest_configure(config):
    """Forget compiled code older than a source: numba looks at the file of a function, not at those it takes in."""
    if hasattr(config, "workerinput"):
        return
    kept = [path for path in (ROOT / "src").rglob("*.nb[ic]") if path.exists()]
    newest = max(path.stat().st_mtime for path in (ROOT / "src").rglob("*.py"))
    if any(path.stat().st_mtime < newest for path in kept):
        for path in kept:
            path.unlink(missing_ok=True)


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


@pytest.fixture(scope="module")
def quick_maps():
    """Draw t-SNE's view of a map by principal components: it takes most of the time of a report of many rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vbrand.pictures.figures.tsne_points", lambda scores: scores[:, :2])
        yield


@pytest.fixture(scope="session")
def grain_found():
    """Return what VBrand finds among 30 rows of oat and 30 of a grain that nobody labelled; none is rye."""
    import pandas as pd
    from tables import COLUMNS, grain_rows

    from vbrand import VBrand

    known, labels, new, _ = grain_rows()
    detector = VBrand(random_state=0).fit(pd.DataFrame(known, columns=COLUMNS), labels)
    return detector.discover(pd.DataFrame(new, columns=COLUMNS))
