"""The fast part of the tests with the newest Python and packages, and with the oldest that pyproject.toml allows.

    python .ci/versions.py            both; environments are kept in .venv/versions
    python .ci/versions.py oldest     one of them

Interpreters are those of pyenv, or on the path. Where there is none, or the registries do not give the packages, the
log says so and nothing is tested.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".venv" / "versions"
# what touches other packages most: tables, files, types of fields; and fits
FAST = ["tests/io", "tests/estimators/test_model_file.py", "tests/estimators/test_stored.py"]
# not all of `dev`: linters have bounds of their own
TOOLS = ["pytest", "hypothesis", "pytest-xdist"]
# what packages of other versions announce is theirs: shown, not an error
ANNOUNCED = [f"-Wdefault::{name}" for name in ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")]
# seconds that registries have to give the packages of one environment
PATIENCE = 900
VERSIONS = """import sys
from importlib.metadata import version
names = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "polars", "pyarrow", "typer")
versions = ", ".join([f"Python {sys.version.split()[0]}", *(f"{name} {version(name)}" for name in names)])"""


def main(wanted):
    """Test what is wanted, and fail if any of it does."""
    failed = [name for name in wanted if not {"newest": newest, "oldest": oldest}[name]()]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def newest():
    """Test with the newest interpreter for which the packages can be had, each as new as the registries give."""
    for version, python in sorted(interpreters().items(), reverse=True):
        if environment("newest", version, python, constraints=""):
            return tested("newest")
    return told("newest: no Python here for which the packages can be had; not tested")


def oldest():
    """Test with the oldest interpreter and the lower bounds of pyproject.toml."""
    least = tuple(map(int, re.findall(r"\d+", project()["requires-python"])))[:2]
    python = interpreters().get(least)
    if python is None:
        return told(f"oldest: no Python {least[0]}.{least[1]} here; not tested")
    bounds = [each for extra in ([project()["dependencies"], *extras().values()]) for each in extra if ">=" in each]
    pins = "\n".join(each.replace(">=", "==") for each in bounds)
    if not environment("oldest", least, python, pins):
        return told("oldest: the lower bounds of pyproject.toml can't be installed together here; not tested")
    return tested("oldest")


def project():
    """Return what pyproject.toml says of the package."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def extras():
    """Return what users can ask for beside the package."""
    return {name: listed for name, listed in project()["optional-dependencies"].items() if name not in ("dev", "docs")}


def interpreters():
    """Return the interpreters from 3.11 on, by version, the latest of each."""
    found = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in sorted(pyenv.glob("3.*/bin/python"), key=lambda path: list(map(int, re.findall(r"\d+", str(path))))):
        version = tuple(map(int, path.parts[-3].split(".")[:2]))
        found[version] = path
    for minor in range(11, 30):
        on_path = shutil.which(f"python3.{minor}")
        if (
            on_path
            and (3, minor) not in found
            and subprocess.run([on_path, "--version"], capture_output=True).returncode == 0
        ):
            found[3, minor] = Path(on_path)
    return {version: path for version, path in found.items() if version >= (3, 11)}


def environment(name, version, python, constraints):
    """Make an environment unless it is there already; return whether it could be made."""
    folder = KEPT / name
    stamp = hashlib.sha256(
        f"{version}{python}{constraints}{(ROOT / 'pyproject.toml').read_text()}".encode()
    ).hexdigest()
    if (folder / "made").exists() and (folder / "made").read_text() == stamp:
        return True
    shutil.rmtree(folder, ignore_errors=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        subprocess.run([python, "-m", "venv", folder], check=True)
        (folder / "constraints.txt").write_text(constraints)
        wanted = ["-c", folder / "constraints.txt", "--editable", ".[all]", *TOOLS]
        subprocess.run([*pip, *wanted], cwd=ROOT, check=True, timeout=PATIENCE)
    except subprocess.SubprocessError:
        told(f"{name}: Python {version[0]}.{version[1]}: the packages can't be installed")
        return False
    (folder / "made").write_text(stamp)
    return True


def tested(name):
    """Return whether the tests pass in an environment."""
    python = KEPT / name / "bin" / "python"
    subprocess.run([python, "-c", f"{VERSIONS}\nprint({name!r}, versions, flush=True)"], check=True)
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(KEPT / name / "numba"), "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run([python, "-m", "pytest", "-n", "2", *ANNOUNCED, *FAST], cwd=ROOT, env=environ).returncode == 0


def told(sentence):
    """Print a sentence; nothing has failed."""
    print(sentence, flush=True)
    return True


if __name__ == "__main__":
    main(sys.argv[1:] or ["newest", "oldest"])
