"""The README tells the truth: its examples print what it says."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n((?:(?!```).)*)```\n```\n(.*?)```", README.read_text(), flags=re.DOTALL)
COMMANDS = re.findall(r"```sh\n((?:(?!```).)*)```\n```text\n(.*?)```", README.read_text(), flags=re.DOTALL)
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
PAGE = README.parent / "docs" / "python.md"


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


def test_the_commands_print_what_the_readme_shows(tmp_path):
    (commands, output), *others = COMMANDS
    assert not others
    *before, last = commands.splitlines()
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
    }
    for command in before:
        subprocess.run(command.split(), cwd=tmp_path, env=environment, check=True, capture_output=True)
    done = subprocess.run(last.split(), cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    assert [line.rstrip() for line in done.stdout.splitlines()] == output.splitlines()


def test_the_page_about_python_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    names = {}
    exec(compile("\n".join(blocks), PAGE.name, "exec"), names)
    assert len(blocks) == 3
    assert (tmp_path / "wine.html").stat().st_size > 10_000
    assert len(names["answers"]) == len(names["found"].labels) == 113


def test_there_are_examples():
    assert (len(EXAMPLES), len(BLOCKS), len(COMMANDS)) == (3, 4, 1)
