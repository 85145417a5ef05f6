"""Two at once: processes and threads that write to one place, and fits beside fits."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

from attack.jobs import JOBS, answer, do, start, want_no_halves, want_whole
from attack.judge import want
from threadpoolctl import threadpool_info


def meet(generator, folder):
    """Do the same twice, or two things, at the same time and in the same folder."""
    first, second = (JOBS[k] for k in generator.integers(len(JOBS), size=2))
    said, place = {job: answer(job) for job in JOBS}, folder / "met"
    shutil.rmtree(place, ignore_errors=True)
    if generator.random() < 0.5:
        children = [start(lambda job=job: want(do(job, place) == said[job], "")) for job in (first, second)]
        codes = [os.waitpid(child, 0)[1] for child in children]
        want(codes == [0, 0], f"{first} and {second} at once: exit codes {codes}")
    else:
        before = _threads()
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda job: do(job, place), (first, second)))
        want(found == [said[first], said[second]], f"{first} and {second} in two threads: other answers")
        want(_threads() == before, "the number of BLAS threads is another afterwards")
    want_whole(place)
    want_no_halves(place)


def _threads():
    return sorted((each["filepath"], each["num_threads"]) for each in threadpool_info())
