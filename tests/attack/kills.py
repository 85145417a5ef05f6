"""Kills at random moments: nothing is lost, nothing is half-written, and the next run takes away what was left."""

import functools
import os
import shutil
import time
from pathlib import Path

from attack.jobs import JOBS, answer, do, kill, start, want_no_halves, want_whole
from attack.judge import want


def _spent(child):
    """Return the seconds of a processor that a child has had; None if it has ended."""
    state, *numbers = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return None if state == "Z" else (int(numbers[10]) + int(numbers[11])) / os.sysconf("SC_CLK_TCK")


@functools.cache
def _takes(job, folder):
    """Return how long a child takes, in seconds of a processor: by the clock, on a busy machine, it may be anything."""
    answer(job)  # compiled in the parent, once
    _, status, used = os.wait4(start(lambda: do(job, folder / "timed")), 0)
    want(status == 0, "a job that nobody disturbs fails")
    return used.ru_utime + used.ru_stime


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
        moment = takes * (generator.random() if generator.random() < 0.5 else generator.uniform(0.8, 1.1))
        while (spent := _spent(child)) is not None and spent < moment:
            time.sleep(0.001)
        time.sleep(0.01 * generator.random())  # seconds of a processor are counted in hundredths
        kill(child)
        want_whole(place)

    want(do(job, place) == answer(job), "the run after a kill says something else")
    want_whole(place)
    want_no_halves(place)
