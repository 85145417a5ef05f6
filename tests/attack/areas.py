"""The areas of the attack, and what each attempt in them is."""

import tempfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
from attack.alike import tell
from attack.crowds import meet
from attack.disks import fill
from attack.inputs import give
from attack.jobs import get_ready
from attack.judge import failure_of
from attack.kills import stop
from attack.mixed import mix
from attack.models import change
from attack.problems import solve
from attack.settings import set_one
from attack.sources import stay
from attack.streams import go_on
from attack.tables import read

AREAS = {
    "problems": solve,
    "mixed": mix,
    "alike": tell,
    "streams": go_on,
    "sources": stay,
    "inputs": give,
    "settings": set_one,
    "models": change,
    "tables": read,
    "kills": stop,
    "disks": fill,
    "crowds": meet,
}
# of a hundred attempts elsewhere there is one here: each takes several runs
RARE = ("kills", "disks", "crowds")


def attack(area, attempts, first=0, ready=False):
    """Return how many attempts in an area failed in which way; each has a seed of its own, which is shown.

    ready : whether this process has made attempts there before: nothing is left to compile.
    """
    failures = Counter()
    if area in RARE:
        get_ready()
    with tempfile.TemporaryDirectory() as folder:

        def attempt(seed):
            generator = np.random.default_rng([zlib.crc32(area.encode()), seed])
            return failure_of(AREAS[area], generator, Path(folder))

        if not ready:
            attempt(first)  # compiles what is new, which counts for no attempt
        for seed in range(first, first + attempts):
            failure = attempt(seed)
            if failure is not None:
                failures[f"seed {seed}: {failure}"] += 1
    return failures
