"""Run the blocks of the pages here and store what they print.

    python docs/from/run.py [--check]

A page has blocks of Python, each followed by a block of text with its output, which this writes anew. A page whose
package is not installed keeps what it has, and is named. `--check` writes nothing, and fails where a page does not run.
"""

import contextlib
import importlib.util
import io
import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n.*?```\n)?", flags=re.DOTALL)
NEEDS = {"scikit-learn": "sklearn", "pyod": "pyod", "hdbscan": "sklearn"}


def printed(code: str, names: dict[str, object]) -> str:
    """Return what a block prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, "page", "exec"), names)
    return out.getvalue()


def run(page: Path) -> str:
    """Return a page with what its blocks print now."""
    names: dict[str, object] = {}

    def renewed(block: re.Match[str]) -> str:
        text = printed(block[1], names)
        return f"```python\n{block[1]}```\n" + (f"```text\n{text}```\n" if text else "")

    return BLOCK.sub(renewed, page.read_text())


if __name__ == "__main__":
    for name, package in NEEDS.items():
        if importlib.util.find_spec(package) is None:
            print(f"{name}: {package} is not installed; the page keeps what was stored.")
            continue
        text = run(HERE / f"{name}.md")
        if "--check" not in sys.argv:
            (HERE / f"{name}.md").write_text(text)
        print(f"{name}: ran")
