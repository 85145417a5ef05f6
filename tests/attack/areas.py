"""The areas of the attack, and how many attempts of each area one attempt at them all is worth."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from attack.inputs import give
from attack.judge import failure_of
from attack.models import change
from attack.problems import solve
from attack.settings import set_one
from attack.tables import read

AREAS = {"problems": solve, "inputs": give, "settings": set_one, "models": change, "tables": read}


def attack(area, attempts, first=0):
    """Return how many attempts in an area failed in which way; each has a seed of its own, which is shown."""
    failures = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + attempts):
            generator = np.random.default_rng([sorted(AREAS).index(area), seed])
            failure = failure_of(AREAS[area], generator, Path(folder))
            if failure is not None:
                failures[f"seed {seed}: {failure}"] += 1
    return failures
