"""The pages tell the truth about the code: equations, functions, tests, modules and links that they name exist."""

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "vbrand"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
MODEL = (ROOT / "docs" / "model.md").read_text()
MAP = (ROOT / "docs" / "architecture.md").read_text()
DECISIONS = (ROOT / "docs" / "decisions.md").read_text()
RECIPES = (ROOT / "CONTRIBUTING.md").read_text()

MODULES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
NUMBERED = re.findall(r"^    \((\d+\.\d+)\) ", MODEL, flags=re.MULTILINE)
TABLE = re.findall(r"^\| ([\d., ]+) \| `(\S+)` \| `(\S+)` \|$", MODEL, flags=re.MULTILINE)
LINES = [(number, function, test) for numbers, function, test in TABLE for number in numbers.split(", ")]


@cache
def defined(path):
    """Return the functions, classes and methods of a file by their dotted names."""
    found = {}

    def visit(node, before):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                found[".".join([*before, child.name])] = child
                visit(child, [*before, child.name])

    visit(ast.parse(path.read_text()), [])
    return found


@cache
def said(path):
    """Return what comments and docstrings of a file say, and in which line."""
    text = path.read_text()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = [
        (node.body[0].lineno, node.body[0].value.value)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
    ]
    return comments + docstrings


def cited(path, first=1, last=10**9):
    """Return the numbers of equations that comments and docstrings of a file cite, between two lines."""
    return {
        number
        for line, words in said(path)
        if first <= line <= last
        for number in re.findall(r"\((\d{1,2}\.\d{1,2})\)", words)
    }


def test_equations_are_numbered_in_order_and_once():
    places = [tuple(int(part) for part in number.split(".")) for number in NUMBERED]
    assert len(places) > 80
    assert places == sorted(set(places))
    for section, last in dict(places).items():
        assert [number for own, number in places if own == section] == list(range(1, last + 1))


def test_every_equation_is_in_the_table_and_nothing_else_is():
    assert {number for number, _, _ in LINES} == set(NUMBERED)


@pytest.mark.parametrize(("number", "function", "test"), LINES)
def test_the_function_and_the_test_of_an_equation_exist(number, function, test):
    path, name = function.split("::")
    assert name in defined(SOURCE / path)
    path, name = test.split("::")
    assert name in defined(ROOT / "tests" / path)


@pytest.mark.parametrize(("number", "function"), sorted({(number, function) for number, function, _ in LINES}))
def test_a_function_cites_its_equation(number, function):
    path, name = function.split("::")
    node = defined(SOURCE / path)[name]
    assert number in cited(SOURCE / path, node.lineno, node.end_lineno)


@pytest.mark.parametrize("module", MODULES)
def test_equations_that_the_source_cites_exist(module):
    assert cited(SOURCE / module) <= set(NUMBERED)


def test_corrections_of_the_paper_are_shown_by_tests_that_exist():
    section = MODEL.split("## 12. ")[1].split("## 13. ")[0]
    names = set(re.findall(r"`(test_\w+)`", section))
    everywhere = {name for path in (ROOT / "tests").rglob("test_*.py") for name in defined(path)}
    assert len(names) > 10
    assert names <= everywhere


def tree_of_the_map():
    """Return the modules that the tree in architecture.md names, by the rooms that they are indented under."""
    block = re.search(r"^    src/vbrand/\n((?:      .*\n)+)", MAP, flags=re.MULTILINE).group(1)
    named, rooms = [], []
    for line in block.splitlines():
        depth = (len(line) - len(line.lstrip()) - 6) // 2
        name = line.split()[0]
        rooms = [*rooms[:depth], name]
        if name.endswith(".py"):
            named.append("".join(rooms))
    return named


def test_the_map_names_every_module_and_no_other():
    named = tree_of_the_map()
    assert len(named) == len(set(named))
    rooms = [module for module in MODULES if module.endswith("/__init__.py")]
    assert sorted(named) == sorted(set(MODULES) - set(rooms))


@pytest.mark.parametrize("page", [MAP, DECISIONS, RECIPES, MODEL], ids=["map", "decisions", "recipes", "model"])
def test_paths_in_backticks_exist(page):
    paths = set(re.findall(r"`((?:[\w.]+/)+[\w.]+\.(?:py|md|html|json|css|js))(?:::\S+)?`", page))
    assert paths
    for path in paths:
        assert any((root / path).exists() for root in (SOURCE, ROOT, ROOT / "tests")), path


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_links_lead_somewhere(page):
    text = page.read_text()
    for target, heading in re.findall(r"\]\(([^)#:\s]*)(#[^)\s]*)?\)", text):
        there = page.parent / target if target else page
        if there.parent.name == "gallery":  # made when the site is, from examples
            there = ROOT / "examples" / "gallery" / there.with_suffix(".py").name.replace("index.py", ".")
        assert there.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.*)$", there.read_text(), flags=re.MULTILINE)
            assert heading[1:] in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
