"""The examples run from any folder, and find what they say."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_both_digits_are_found_that_nobody_labelled(digits):
    folder, printed = digits
    novel = [line for line in printed.splitlines() if "novel group" in line and "(" in line]
    assert any(re.search(r"\b3 \(", line) for line in novel)
    assert any(re.search(r"\b8 \(", line) for line in novel)
    scores = json.loads((folder / "summary.json").read_text())["scores"]
    assert all(scores[name] > 0.8 for name in ("ari", "novelty_f1", "known_accuracy"))


@pytest.mark.parametrize("name", ["wine.py", "settings.py"])
def test_pictures_of_the_docs_are_drawn_from_any_folder(name, tmp_path):
    """A copy beside a folder docs, so that the pictures of the repository stay as they are."""
    (tmp_path / "examples").mkdir()
    (tmp_path / "docs").mkdir()
    script = tmp_path / "examples" / name
    script.write_text((EXAMPLES / name).read_text())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    subprocess.run([sys.executable, script], cwd=elsewhere, check=True, capture_output=True)
    assert [path.suffix for path in (tmp_path / "docs").iterdir()] == [".png"]
    assert not list(elsewhere.iterdir())
