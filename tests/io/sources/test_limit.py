"""A table eight times larger than the memory that is allowed is fitted as in memory: the small form of a benchmark.

Answers are not checked here, which takes most of the time of so many rows; `benchmarks/scale.py limit` checks them.
"""

import importlib.util
from pathlib import Path

import pytest

MEGABYTES, COLUMNS = 112, 12
_FILE = Path(__file__).parents[3] / "benchmarks" / "scale.py"
pytestmark = [
    pytest.mark.skipif(not _FILE.exists(), reason="needs the repository"),
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs the memory counts of Linux"),
]


@pytest.fixture(scope="module")
def scale():
    found = importlib.util.spec_from_file_location("scale", _FILE)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_a_table_eight_times_larger_than_the_memory_allowed_is_fitted_as_in_memory(scale, tmp_path):
    """Four bytes per row that stay in memory would be too many. The benchmark compares peaks, which vary by some MB."""
    found = scale.compared(tmp_path, MEGABYTES, COLUMNS, quick=True)
    assert found["same labels"]
    assert found["bounds differ"] <= 1e-9
    assert 8 * found["allowed"] <= 8 * COLUMNS * found["rows"]
    # so the limit is one: who reads the table has no room for it, or for the stacks of Arrow's threads, of which
    # Arrow 15 tells in the words of the system
    with pytest.raises(
        MemoryError, match=r"MemoryError|Failed to launch worker thread|Resource temporarily unavailable"
    ):
        scale.child(tmp_path / "big", tmp_path / "small", found["allowed"], quick=True, whole=True)
