"""Run the blocks of the pages, and store what they print.

    python docs/run.py [--check] [PAGE ...]

Blocks of Python, commands (sh) and R run from the top of a page to its end, in a folder with the tables that
`docs/material.py` writes. Where a block of text follows, that is its output, which this writes anew; `--check` writes
nothing, and fails where a block fails or prints something else. A page for which something is not installed keeps what
it has, and is named. Blocks of Python in README.md and python.md are run by tests/test_readme.py.
"""

import contextlib
import difflib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import warnings
from pathlib import Path

from material import write_tables

HERE = Path(__file__).resolve().parent
BRAND = HERE.parents[1] / "shared" / "oracles" / "brand_mcmc"
BLOCK = re.compile(r"^```(python|sh|r)\n(.*?)^```\n(?:^```text\n(.*?)^```\n)?", flags=re.DOTALL | re.MULTILINE)
README = "../README.md"
# the languages that are run here, and what a page needs
PAGES = {
    README: (("sh",), ()),
    "start.md": (("sh",), ()),
    "command-line.md": (("sh", "python"), ()),
    "scale.md": (("sh", "python"), ("dask",)),
    "from/scikit-learn.md": (("python",), ()),
    "from/pyod.md": (("python",), ("pyod",)),
    "from/hdbscan.md": (("python",), ()),
    "from/mclust.md": (("r",), ("R",)),
    "from/brand.md": (("python",), ("answers of brand",)),
}
# printed between two blocks of R
BETWEEN = "--- block"
# the first reticulate that loads a Python with numpy 2
NUMPY_2 = (1, 38)


def missing(need: str) -> str | None:
    """Return what to say if something is not here."""
    if need == "R":
        if shutil.which("Rscript") is None or r_version() is None:
            return "R with the packages reticulate and mclust is not installed"
    elif need == "answers of brand":
        if not BRAND.is_dir():
            return "the answers of R's brand are not beside the clone"
    elif importlib.util.find_spec(need) is None:
        return f"{need} is not installed"
    return None


def r_version() -> tuple[int, ...] | None:
    """Return the version of reticulate; None without it, or without mclust."""
    code = "library(mclust); cat(format(packageVersion('reticulate')))"
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True)
    return tuple(map(int, done.stdout.split()[-1].split(".")[:2])) if done.returncode == 0 else None


def python_for_r() -> str:
    """Return a Python that R can load: one of its own with numpy 1, if reticulate knows no other."""
    if "RETICULATE_PYTHON" in os.environ or (r_version() or NUMPY_2) >= NUMPY_2:
        return os.environ.get("RETICULATE_PYTHON", sys.executable)
    place = Path(sys.prefix) / "reticulate"
    if not place.is_dir():
        venv.create(place, with_pip=True)
        pip = [place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--editable", f"{HERE.parent}[report]", "numpy<2", "pandas"], check=True)
    return str(place / "bin" / "python")


def of_python(codes: list[str], folder: Path) -> list[str]:
    """Return what blocks of Python print, one after the other."""
    names, printed = {"__name__": "page", "BRAND": BRAND}, []
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in codes:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, "page", "exec"), names)
            printed.append(out.getvalue())
    return printed


def of_commands(codes: list[str], folder: Path) -> list[str]:
    """Return what blocks of commands print."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "80"}
    return [_shown(["bash", "-e", "-c", code], folder, environment) for code in codes]


def of_r(codes: list[str], folder: Path) -> list[str]:
    """Return what blocks of R print."""
    (folder / "page.R").write_text("\n".join(f'cat("{BETWEEN}\\n")\n{code}' for code in codes))
    shown = _shown(["Rscript", "page.R"], folder, {**os.environ, "RETICULATE_PYTHON": python_for_r()})
    return shown.split(f"{BETWEEN}\n")[1:]


def _shown(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[-1]}\n{done.stdout}{done.stderr}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def renewed(page: str, languages: tuple[str, ...]) -> str:
    """Return a page with what its blocks print now."""
    runners = {"python": of_python, "sh": of_commands, "r": of_r}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        printed = {}
        for language in languages:
            codes = [block[2] for block in BLOCK.finditer(page) if block[1] == language]
            printed[language] = iter(runners[language](codes, folder))

    def with_output(block: re.Match[str]) -> str:
        if block[1] not in languages:
            return block[0]
        output = next(printed[block[1]])
        return block[0] if block[3] is None else f"```{block[1]}\n{block[2]}```\n```text\n{output}```\n"

    return BLOCK.sub(with_output, page)


def main(arguments: list[str]) -> None:
    """Run pages, all or those that are named."""
    different = False
    for name in [each for each in arguments if each != "--check"] or PAGES:
        languages, needs = PAGES[name]
        absent = next(filter(None, map(missing, needs)), None)
        if absent:
            print(f"{name}: {absent}; the page keeps what was stored.")
            continue
        page = (HERE / name).read_text()
        text = renewed(page, languages)
        text = page if name == README else text  # tests/test_readme.py compares its output
        if "--check" not in arguments:
            (HERE / name).write_text(text)
        elif text != page:
            print(*difflib.unified_diff(page.splitlines(), text.splitlines(), name, "now", lineterm=""), sep="\n")
            different = True
        print(f"{name}: ran")
    if different:
        sys.exit("pages show other output than their blocks print: python docs/run.py")


if __name__ == "__main__":
    main(sys.argv[1:])
