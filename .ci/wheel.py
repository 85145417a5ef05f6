"""Build the package and try it as somebody would who installs it: outside of the repository, in new environments.

    python .ci/wheel.py        # make dist

One environment has no extras: every public name is there, a fit works, and `vbrand` names the extra that is missing.
The other has all of them and runs `vbrand demo`.
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLAIN = """
import numpy as np, vbrand
for room in (vbrand, vbrand.metrics, vbrand.partition):
    for name in room.__all__:
        getattr(room, name)
rng = np.random.default_rng(0)
known, new = rng.normal(size=(60, 3)), np.vstack([rng.normal(size=(60, 3)), rng.normal(9, 1, (30, 3))])
found = vbrand.VBrand(random_state=0).fit(known, np.zeros(60, int)).discover(new)
assert (found.labels == -1).sum() == 30, found
print(found)
"""


def run(*command: str | Path, cwd: str, expected: int = 0) -> str:
    """Return what a command prints, or stop with it."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def environment(folder: str, name: str, *wanted: str) -> Path:
    """Return the folder of programs of a new environment in which something is installed."""
    place = Path(folder) / name
    venv.create(place, with_pip=True)
    run(place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *wanted, cwd=folder)
    return place / "bin"


def check_contents(wheel: Path) -> None:
    """Refuse a wheel with tests or data in it, or without what the report is made of."""
    names = zipfile.ZipFile(wheel).namelist()
    odd = [name for name in names if not name.startswith(("vbrand/", "vbrand-")) or "test" in name]
    if odd or not any(name.endswith("template.html") for name in names):
        sys.exit(f"{wheel.name} holds {odd or 'no template of the report'}")


def check_metadata(wheel: Path) -> None:
    """Refuse a wheel that does not say what it is, whose it is, and where to read on."""
    archive = zipfile.ZipFile(wheel)
    told = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    wanted = ("Summary", "Author", "License-Expression", "License-File", "Project-URL", "Classifier", "Keywords")
    wanted += ("Requires-Python", "Provides-Extra", "Description-Content-Type: text/markdown", "\n\n# vbrand\n")
    absent = [each for each in wanted if (each if each.startswith("\n") else f"\n{each}") not in told]
    if absent:
        sys.exit(f"{wheel.name} does not tell its {absent}")


def main() -> None:
    """Build, look inside, install, run."""
    with tempfile.TemporaryDirectory() as folder:
        builder = environment(folder, "builder", "build", "twine")
        run(builder / "python", "-m", "build", "--outdir", ROOT / "dist", ROOT, cwd=folder)
        wheel = max((ROOT / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)
        check_contents(wheel)
        check_metadata(wheel)
        run(builder / "twine", "check", "--strict", wheel, *(ROOT / "dist").glob("*.tar.gz"), cwd=folder)

        plain = environment(folder, "plain", str(wheel))
        print(run(plain / "python", "-c", PLAIN, cwd=folder).strip())
        sentence = run(plain / "vbrand", "demo", cwd=folder, expected=2).strip()
        if "pip install 'vbrand[" not in sentence or len(sentence.splitlines()) > 1:
            sys.exit(f"without extras vbrand should name the missing one in a sentence; it says:\n{sentence}")
        print(sentence)

        full = environment(folder, "full", f"{wheel}[all]")
        print(run(full / "vbrand", "demo", "-o", "demo", cwd=folder).strip().splitlines()[-1])
        if not (Path(folder) / "demo" / "report.html").stat().st_size:
            sys.exit("the demo wrote no report")
    print(f"dist/{wheel.name} works where it is installed.")


if __name__ == "__main__":
    main()
