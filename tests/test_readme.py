"""The README tells the truth: its examples print what it says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```\n```\n(.*?)```", README.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_examples_print_what_the_readme_shows(code, output):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == output


def test_there_are_examples():
    assert len(EXAMPLES) == 2
