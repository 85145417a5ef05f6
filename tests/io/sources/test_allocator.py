"""Memory is kept while a task is at work, and given back after it."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="this system does not count pages")

# pages that are taken for 200 arrays of a megabyte, one after the other; and whether the last block left memory behind
SCRIPT = """
import resource
import numpy as np
from vbrand.io.sources.allocator import kept_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(200):
        np.ones(2**17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
before = faults()
with kept_memory():
    with kept_memory():
        pass  # another thread may be done earlier
    inside = faults()
print(before, inside, faults())
"""


def counted(environment):
    bare = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=bare | environment, capture_output=True, text=True, check=True
    )
    return map(int, done.stdout.split())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Dask sets it on Linux")
def test_a_worker_of_a_nanny_keeps_memory_while_it_works_and_gives_it_back():
    before, inside, after = counted({"MALLOC_TRIM_THRESHOLD_": "65536"})
    assert inside < 0.1 * before
    assert after > 0.9 * before


def test_a_process_that_keeps_memory_is_left_alone():
    before, inside, after = counted({})
    assert max(before, inside, after) < 1_000
