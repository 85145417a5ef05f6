"""Every block of code on every page is run: by docs/run.py (`make docs`) or by tests/test_readme.py."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
from material import write_tables  # noqa: E402
from run import BLOCK, PAGES, renewed  # noqa: E402

TESTED = {"../README.md": ("python",), "python.md": ("python",)}
NAMES = ["../README.md", *(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))]
# what sets up, or takes hours; lines of help have words in capitals
NOT_RUN = ("pip install ", "vbrand reproduce ")


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(("_site", "gallery"))])
def test_blocks_are_run_and_what_is_not_is_named(name):
    page = (ROOT / "docs" / name).read_text()
    languages = {block[1] for block in BLOCK.finditer(page)}
    assert languages <= {*PAGES.get(name, [()])[0], *TESTED.get(name, ())}
    assert set(re.findall(r"^```(\w+)$", page, flags=re.MULTILINE)) <= {"python", "sh", "r", "text"}
    outside = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    commands = re.findall(r"^    ((?:vbrand|pip|python|from|import|docker|conda) .*)$", outside, flags=re.MULTILINE)
    assert [line for line in commands if not line.startswith(NOT_RUN) and not re.search(r"\b[A-Z]{4,}\b", line)] == []


def test_output_of_blocks_is_renewed_and_other_text_kept():
    page = "Some words.\n```sh\nhead -n 1 known.csv\n```\n```text\nold\n```\n```sh\ntrue\n```\n```r\nnot run\n```\n"
    assert renewed(page, ("sh",)) == page.replace("old", "sample,variety,ash,fat,fibre")


def test_a_block_that_fails_is_shown():
    with pytest.raises(SystemExit, match="No such file"):
        renewed("```sh\ncat nothing.csv\n```\n", ("sh",))


def test_the_tables_of_the_pages_hold_a_grain_that_nobody_labelled(tmp_path):
    write_tables(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "known.csv", "measured", "more.csv", "plants.xlsx", "unknown.csv", "week1.csv", "week2.csv",
    ]  # fmt: skip
    assert "millet" not in (tmp_path / "known.csv").read_text()
