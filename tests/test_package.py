"""What the package says of itself agrees in all places."""

import re
import tomllib
from pathlib import Path

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


def test_every_extra_is_named_in_all():
    extras = PROJECT["optional-dependencies"]
    named = set(re.match(r"vbrand\[(.*)\]", extras["all"][0])[1].split(","))
    assert named == set(extras) - {"all", "dev", "docs"}
