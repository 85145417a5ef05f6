"""Loops compiled in few instructions do what Python does, and the first use compiles no more than it has to."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.compiler import Flags

from vbrand.compiling import _Flags, apart, by_address, from_python, inner, jit, numbers
from vbrand.model.wishart import update

ROOT = Path(__file__).parents[1]
# compiled functions and lines of code before optimisation, after an installation, up to the first answer: 71 and 67,467
# were seen with AVX2; tiles of longer registers have more lines
MOST_FUNCTIONS, MOST_LINES = 73, 80_000


@jit
def summed(start, stop, step, seen):
    total = 0
    for i in range(start, stop, step):
        seen[total] = i
        total += 1
    return total


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -5])
@pytest.mark.parametrize(("start", "stop"), [(0, 0), (0, 7), (7, 0), (-3, 4), (4, -4), (2, 3)])
def test_loops_go_through_their_ranges(start, stop, step):
    seen = np.full(20, -99)
    assert summed(start, stop, step, seen) == len(range(start, stop, step))
    assert seen[: len(range(start, stop, step))].tolist() == list(range(start, stop, step))


@jit
def copied(cube, kind, flags, picked):
    for i in range(cube.shape[0]):
        square = cube[i]
        for j in range(square.shape[0]):
            row = cube[i, j]
            for k in range(row.size):
                picked[i, j, k] = square[j, k] + row[k] + cube[i][j][k] if flags[i] else kind[i]
    flags[0] = cube[0, 0, 0] > 0.5
    kind[np.int32(1)] = 7.9
    return cube[1].size + cube[1, 0].shape[0]


def test_numbers_and_rows_of_arrays_are_where_they_are():
    cube, kind, flags = (
        np.random.default_rng(0).random((3, 4, 5)),
        np.array([3, 4, 5], np.int32),
        np.array([1, 0, 1], bool),
    )
    picked, expected = np.zeros(cube.shape), 3.0 * cube
    expected[1] = 4.0
    assert copied(cube, kind, flags, picked) == 25
    np.testing.assert_allclose(picked, expected, rtol=1e-15)
    assert kind.tolist() == [3, 7, 5]
    assert flags[0] == (cube[0, 0, 0] > 0.5)


@jit
def strided(column):
    total = 0.0
    for i in range(column.size):
        total += column[i]
    return total


def test_arrays_that_are_not_contiguous_are_read_as_they_lie():
    table = np.arange(12.0).reshape(4, 3)
    assert strided(table[:, 1]) == table[:, 1].sum()


@apart
def squared(x):
    return x * x


@inner
def with_room(row):
    room = numbers(row.size)
    for i in range(row.size):
        room[i] = squared(row[i])
    total = 0.0
    for i in range(room.size):
        total += room[i]
    return total


@jit
def through_all(rows, times):
    total = 0.0
    for _ in range(times):
        for i in range(rows.shape[0]):
            total += with_room(rows[i])
    return total


def test_room_is_given_back_by_functions_that_are_taken_in():
    rows = np.ones((10, 100))
    assert through_all(rows, 100_000) == 1e8  # 800 MB if it were not
    assert from_python(with_room)(rows[0]) == 100.0


_FIRST_USE = """
import json
import numpy as np
from numba.core import event
from vbrand.compiling import _Library

lines, compiled = 0, []
class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event):
        pass

optimise = _Library._optimize_final_module
def counted(self):
    global lines
    lines += str(self._final_module).count("\\n") if self._called else 0
    optimise(self)
_Library._optimize_final_module = counted

rng = np.random.default_rng(0)
known, unknown = rng.normal(size=(80, 5)), rng.normal(size=(120, 5))
known[40:] += 4.0
unknown[40:80] += 4.0
unknown[80:] -= 5.0
with event.install_listener("numba:compile", Listener()):
    from vbrand import VBrand
    found = VBrand(random_state=0).fit(known, np.repeat(["rye", "oat"], 40)).discover(unknown)
print(json.dumps([compiled, lines, int((found.clusters > 1).sum())]))
"""


def test_the_first_use_compiles_few_functions_each_of_them_once(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_USE], env=environment, capture_output=True, text=True, check=True
    )
    compiled, lines, novel = json.loads(done.stdout)
    assert novel == 40
    assert len(set(compiled)) == len(compiled) <= MOST_FUNCTIONS
    assert 0 < lines <= MOST_LINES


def test_no_compiled_function_counts_from_the_end_of_an_array():
    """Compiled code takes indices as they are: -1 would be a place before the array."""
    counted = []
    for path in sorted((ROOT / "src" / "vbrand").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            names = {ast.unparse(each).strip("_") for each in getattr(function, "decorator_list", ())}
            if not names & {"jit", "inner", "apart", "once"}:
                continue
            for part in ast.walk(function):
                signs = ast.walk(part.slice) if isinstance(part, ast.Subscript) else ()
                if any(isinstance(sign, ast.UnaryOp) and isinstance(sign.op, ast.USub) for sign in signs):
                    counted.append(f"{path.name}:{part.lineno} {ast.unparse(part)}")
    assert counted == []


def test_options_that_ask_for_the_same_are_equal():
    one, other, plain = _Flags(), _Flags(), Flags()
    one.nrt = plain.nrt = True
    assert one != other
    other.nrt = True
    assert one == other
    assert one == plain
    assert hash(one) == hash(other) == hash(plain)


def test_functions_called_by_address_are_kept_beside_those_that_python_calls():
    other = by_address(strided)
    assert other.py_func.__qualname__ == "strided_by_address"
    assert other.targetoptions["no_cpython_wrapper"]
    assert other.py_func.__code__ is strided.py_func.__code__
    assert by_address(update) is update
    assert from_python(update) is update
