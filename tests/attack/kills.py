"""Kills at random moments: nothing is lost, nothing is half-written, and the next run takes away what was left."""

import functools
import os
import shutil
import time

from attack.jobs import JOBS, answer, do, kill, start, want_no_halves, want_whole
from attack.judge import want


@functools.cache
def _takes(job, folder):
    """Return how long a child takes, from its start to its end, in seconds."""
    answer(job)  # compiled in the parent, once
    began = time.perf_counter()
    want(os.waitpid(start(lambda: do(job, folder / "timed")), 0)[1] == 0, "a job that nobody disturbs fails")
    return time.perf_counter() - began


def stop(generator, folder):
    """Kill a job, twice in three beside the output of an earlier one; look, and do it again."""
    job = JOBS[generator.integers(len(JOBS))]
    takes, place = _takes(job, folder), folder / "killed"
    shutil.rmtree(place, ignore_errors=True)
    if generator.random() < 0.67:
        do(job, place, threshold=0.9)

    for _ in range(int(generator.integers(1, 3))):
        child = start(lambda: do(job, place))
        # twice as often in the last fifth, where files are written
        time.sleep(takes * (generator.random() if generator.random() < 0.5 else generator.uniform(0.8, 1.1)))
        kill(child)
        want_whole(place)

    want(do(job, place) == answer(job), "the run after a kill says something else")
    want_whole(place)
    want_no_halves(place)
