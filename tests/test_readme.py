"""The README tells the truth: its examples print what it says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n((?:(?!```).)*)```\n```\n(.*?)```", README.read_text(), flags=re.DOTALL)
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_examples_print_what_the_readme_shows(code, output):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == output


@pytest.mark.parametrize("code", [code for code in BLOCKS if code not in [tested for tested, _ in EXAMPLES]])
def test_examples_whose_output_varies_run(code):
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "README.md", "exec"), {})


def test_there_are_examples():
    assert (len(EXAMPLES), len(BLOCKS)) == (2, 3)
