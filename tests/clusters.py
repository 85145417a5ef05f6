"""Real clusters of Dask on this machine, for tests: workers are processes, and start again when they end."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

distributed = pytest.importorskip("distributed", reason="needs the extra dask")


@contextmanager
def cluster(workers=2):
    """Return the client of so many processes."""
    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as processes,
        distributed.Client(processes, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def mortal(client, workers=2):
    """Add so many workers that nobody starts again, and return their processes."""
    words = ["-m", "distributed.cli.dask_worker", client.scheduler.address, "--no-nanny", "--nthreads", "1"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen([sys.executable, *words, "--no-dashboard"], **quiet) for _ in range(workers)]
    try:
        client.wait_for_workers(workers, timeout=300)
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def at_work(client, task=""):
    """Return the processes of workers that have a task of that name, any of them if none is named."""
    workers = list(client.cluster.scheduler.workers.values())
    return [worker.pid for worker in workers if any(str(each.key).startswith(task) for each in list(worker.processing))]


@contextmanager
def killing(client, task, times, whole=False):
    """Kill a worker in the middle of a task of that name, or all workers, so often; return those that were killed."""
    over, killed = threading.Event(), []

    def kill():
        while len(killed) < times and not over.wait(0.001):
            for process in at_work(client, task)[: None if whole else 1]:
                if process not in killed:
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)

    killer = threading.Thread(target=kill)
    with pytest.MonkeyPatch.context() as patch:
        # until workers have started again, on a machine that does much else
        patch.setattr("vbrand.io.sources.cluster._PATIENCE", 300.0)
        killer.start()
        try:
            yield killed
        finally:
            over.set()
            killer.join()


@contextmanager
def deadline(seconds):
    """Fail if it takes longer: a cluster that hangs."""

    def late(*_):
        raise AssertionError(f"not done in {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
