"""What the package says of itself agrees in all places."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import vbrand

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RECIPE = (ROOT / "conda" / "meta.yaml").read_text()


def names_and_bounds(requirements):
    """Return names with their lower bounds; conda calls matplotlib without a window system matplotlib-base."""
    pairs = (re.match(r"([\w-]+)\s*>=\s*([\d.]+)", line).groups() for line in requirements)
    return {name.replace("matplotlib-base", "matplotlib"): bound for name, bound in pairs}


def test_the_recipe_has_the_version_of_the_package():
    assert re.search(r'version: "(.*?)"', RECIPE)[1] == vbrand.__version__


def test_the_recipe_wants_what_the_package_and_its_commands_want():
    extras = PROJECT["optional-dependencies"]
    wanted = [line for extra in ("cli", "report", "plot", "tables", "excel") for line in extras[extra]]
    run = RECIPE.split("  run:\n")[1].split("test:\n")[0]
    own = names_and_bounds(line.strip("- ") for line in run.strip().splitlines() if "python >=" not in line)
    assert own == names_and_bounds([*PROJECT["dependencies"], *wanted])


def test_the_image_and_the_recipe_start_what_the_package_starts():
    assert f"vbrand = {PROJECT['scripts']['vbrand']}" in RECIPE
    assert 'ENTRYPOINT ["vbrand"]' in (ROOT / "Dockerfile").read_text()


def test_nothing_is_to_be_said_about_the_dockerfile():
    linter = Path(sys.executable).parent / "hadolint"
    if not linter.exists():
        pytest.skip("hadolint is not installed: there is none for this kind of machine")
    done = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_holds_what_the_commands_need_and_the_files_that_it_copies():
    lines = (ROOT / "Dockerfile").read_text()
    for source in [*re.search(r"^COPY (.*) /package/$", lines, flags=re.MULTILINE)[1].split(), "src"]:
        assert (ROOT / source).exists()
    assert set(re.search(r"/package\[(.*?)\]", lines)[1].split(",")) == {"cli", "report", "plot", "tables", "excel"}


def test_the_recipe_is_one():
    recipe = yaml.safe_load(RECIPE)
    assert set(recipe) == {"package", "source", "build", "requirements", "test", "about"}
    assert (ROOT / "conda" / recipe["source"]["path"] / "pyproject.toml").exists()
    assert f"python {PROJECT['requires-python']}" in recipe["requirements"]["run"]
    assert {"pip", "hatchling"} <= set(recipe["requirements"]["host"])
    assert recipe["build"]["noarch"] == "python"
    assert recipe["test"] == {"imports": ["vbrand"], "commands": ["vbrand --help"]}
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["home"] == PROJECT["urls"]["Paper"]
    assert (ROOT / "conda" / recipe["source"]["path"] / recipe["about"]["license_file"]).exists()


def test_the_package_says_what_it_is():
    assert {"urls", "classifiers", "keywords", "authors", "license", "license-files", "readme"} <= set(PROJECT)
    tested = {row.rsplit(" ", 1)[1] for row in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", row)}
    assert PROJECT["requires-python"] == f">={min(tested, key=lambda one: int(one.split('.')[1]))}"


def test_every_extra_is_named_in_all():
    extras = PROJECT["optional-dependencies"]
    named = set(re.match(r"vbrand\[(.*)\]", extras["all"][0])[1].split(","))
    assert named == set(extras) - {"all", "dev", "docs"}
