"""Real clusters of Dask on this machine, for tests: workers are processes, and start again when they end."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

distributed = pytest.importorskip("distributed", reason="needs the extra dask")


# the year of the Dask that is seen to start workers again however they were lost; that of 2024.5 does not always
_RECOVERS = 2026


@contextmanager
def cluster(workers=2, processes=True):
    """Return the client of so many processes, which are started again when they are killed.

    processes : whether each worker is one. Else they are threads of this one, which have nothing to import: a start
    takes no time, and who reads which partition is as open as among processes.
    """
    size = {"n_workers": workers, "threads_per_worker": 1, "processes": processes}
    local = distributed.LocalCluster(**size, dashboard_address=":0")
    try:
        with distributed.Client(local, set_as_default=False) as client:
            yield client
    finally:
        # older versions wait for ever for a nanny whose process was lost while it started
        with suppress(TimeoutError):
            local.close(timeout=30)


@contextmanager
def mortal(client, workers=2):
    """Add so many workers that nobody starts again, and return their processes."""
    words = ["-m", "distributed.cli.dask_worker", client.scheduler.address, "--no-nanny", "--nthreads", "1"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen([sys.executable, *words, "--no-dashboard"], **quiet) for _ in range(workers)]
    try:
        client.wait_for_workers(workers, timeout=300)  # they have to import it all, on a busy machine
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Killer(distributed.SchedulerPlugin):
    """Kills the worker that is given a task of some name, a moment later, so often.

    The scheduler itself says when that is: who looked from outside, every now and then, would miss the moment on a busy
    machine, or read tables while they change.
    """

    name = "killer"

    def __init__(self, scheduler, task, times):
        self.scheduler, self.task, self.times, self.killed = scheduler, task, times, []

    def transition(self, key, start, finish, *_, **__):
        if finish != "processing" or not str(key).startswith(self.task) or len(self.killed) == self.times:
            return
        process = self.scheduler.tasks[key].processing_on.pid
        if process not in self.killed:
            self.killed.append(process)
            self.scheduler.loop.call_later(0.02, os.kill, process, signal.SIGKILL)


@contextmanager
def killing(client, task, times):
    """Kill a worker in the middle of a task of that name, so often; return those that were killed."""
    if int(distributed.__version__.split(".")[0]) < _RECOVERS:
        pytest.skip("this Dask waits without end for a nanny whose process was lost while it started")
    scheduler = client.cluster.scheduler
    killer = Killer(scheduler, task, times)
    scheduler.loop.add_callback(scheduler.add_plugin, killer)
    try:
        yield killer.killed
    finally:
        scheduler.loop.add_callback(scheduler.remove_plugin, killer.name)


class Pulse(distributed.SchedulerPlugin):
    """Notes when something last happened on a cluster."""

    name = "pulse"

    def __init__(self):
        self.last = time.monotonic()

    def transition(self, *_, **__):
        self.last = time.monotonic()

    add_worker = remove_worker = transition  # on a busy machine a worker takes a while to start again


@contextmanager
def deadline(seconds, client):
    """Fail if nothing happens on a cluster for so long: it hangs. One that is slow, on a busy machine, does not."""
    scheduler, pulse = client.cluster.scheduler, Pulse()
    scheduler.loop.add_callback(scheduler.add_plugin, pulse)

    def look(*_):
        if time.monotonic() - pulse.last > seconds:
            raise AssertionError(f"nothing has happened for {seconds} s")

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        scheduler.loop.add_callback(scheduler.remove_plugin, pulse.name)
