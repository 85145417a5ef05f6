"""The rules of the house: every module has its tests, few modules lie at the top, layers are few and complete."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "vbrand"
MODULES = sorted(SOURCE.rglob("*.py"))
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

MOST_AT_THE_TOP = 8
MOST_LAYERS = 16
MOST_LINES = 400


def named(path):
    return path.relative_to(SOURCE).as_posix()


def does_something(function):
    """Return whether a function has a body beside its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return any(not (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant)) for step in body)


def has_logic(text):
    """Return whether a module has a function or a method with a body; values and plain records need no test."""
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(does_something(function) for function in functions)


def home_of_tests(path):
    """Return where the tests of a module lie: src/vbrand/room/_module.py has tests/room/test_module.py."""
    return ROOT / "tests" / path.relative_to(SOURCE).with_name(f"test_{path.stem.lstrip('_')}.py")


WITH_LOGIC = [path for path in MODULES if path.name not in ("__init__.py", "types.py") and has_logic(path.read_text())]


@pytest.mark.parametrize("module", [named(path) for path in WITH_LOGIC])
def test_every_module_with_logic_has_a_test_file_of_its_name(module):
    tests = home_of_tests(SOURCE / module)
    assert tests.is_file(), f"{module} has no {tests.relative_to(ROOT)}"
    assert "def test_" in tests.read_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LIMIT = 3", False),
        ("class A:\n    x: int", False),
        ("class A:\n    def f(self) -> int:\n        '''Return it.'''", False),
        ("class A:\n    def f(self) -> int: ...", False),
        ("class A:\n    def f(self) -> int:\n        return 1", True),
        ("def f():\n    '''Return it.'''\n    return 1", True),
    ],
)
def test_logic_is_a_function_with_a_body(text, expected):
    assert has_logic(text) == expected


def test_few_modules_lie_at_the_top():
    top = [path.name for path in SOURCE.glob("*.py")]
    assert 1 < len(top) <= MOST_AT_THE_TOP, top


def test_layers_are_few_and_every_contract_is_exhaustive():
    assert CONTRACTS[0]["containers"] == ["vbrand"]
    assert len(CONTRACTS[0]["layers"]) <= MOST_LAYERS
    for contract in CONTRACTS:
        assert contract["type"] == "layers"
        assert contract.get("exhaustive") is True, contract["name"]


def test_every_room_has_a_contract_of_its_own():
    """So that a new module of any room can't escape."""
    rooms = {".".join(("vbrand", *path.relative_to(SOURCE).parts[:-1])) for path in MODULES}
    assert sorted(name for contract in CONTRACTS for name in contract["containers"]) == sorted(rooms)


@pytest.mark.parametrize("module", [named(path) for path in MODULES])
def test_files_are_short(module):
    assert len((SOURCE / module).read_text().splitlines()) <= MOST_LINES


def test_no_module_is_a_drawer_for_everything():
    assert not [named(path) for path in SOURCE.rglob("*") if path.stem.strip("_") in ("utils", "util")]
