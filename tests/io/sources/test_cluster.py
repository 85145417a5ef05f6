"""A cluster that can't go on is told in one sentence, and what workers did before they were lost is done again."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
from clusters import cluster, deadline, killing

from vbrand.io.sources import cluster as module
from vbrand.io.sources.cluster import ClusterError, client_of, each_result, in_order


def doubling(client):
    """Return how to submit a task; what it does is sent along, for workers do not know this file."""

    def doubled(number):
        time.sleep(0.01)
        return 2 * number

    return lambda number: client.submit(doubled, number, pure=False)


def test_results_come_with_their_numbers(client):
    assert dict(each_result(client, doubling(client), 150)) == {number: 2 * number for number in range(150)}
    assert in_order(client, doubling(client), 5) == [0, 2, 4, 6, 8]
    assert in_order(client, doubling(client), 0) == []


def test_a_given_client_is_taken_and_its_tasks_may_lose_workers(client):
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 3))  # as Dask has it
    assert client_of(client) is client
    assert client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.allowed_failures) >= 100


SCRIPT = """
import numpy as np
from vbrand.io.sources.cluster import client_of, in_order

if __name__ == "__main__":
    client = client_of()
    assert client_of() is client
    own = client.run(lambda dask_worker: type(dask_worker).__name__ + " " + str(bool(dask_worker.nanny)))
    assert set(own.values()) == {"Worker True"}, own
    assert in_order(client, lambda i: client.submit(np.square, i), 5) == [0, 1, 4, 9, 16]
    own = client.run(lambda: __import__("os").environ["MALLOC_TRIM_THRESHOLD_"])
    assert set(own.values()) == {"65536"}  # what io/sources/allocator.py looks for
    print("done")
"""


def test_without_a_cluster_processes_of_this_machine_are_started(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    words = [sys.executable, str(tmp_path / "script.py")]
    bare = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}  # they come first
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=bare)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_an_error_of_a_task_is_raised_here(client):
    with pytest.raises(np.linalg.LinAlgError):
        in_order(client, lambda _: client.submit(np.linalg.cholesky, np.array([[-1.0]]), pure=False), 2)


def test_tasks_of_workers_that_are_killed_are_done_again(client):
    client_of(client)
    with deadline(60, client), killing(client, "doubled", 3) as killed:
        assert in_order(client, doubling(client), 400) == list(range(0, 800, 2))
    assert len(killed) == 3


def test_workers_that_the_cluster_gave_up_are_started_again():
    import dask

    # it looks so soon that those it starts are not there yet: on a busy machine, 15 s may be as short
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "100ms"}), cluster(2) as client:
        client_of(client)
        with deadline(60, client), killing(client, "doubled", 4) as killed:
            assert in_order(client, doubling(client), 400) == list(range(0, 800, 2))
        assert len(killed) == 4


def test_a_cluster_without_workers_is_told(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 5.0)
    monkeypatch.setattr(module, "_LOOK", 0.2)
    with (
        cluster(0) as client,
        deadline(60, client),
        pytest.raises(ClusterError, match="has no workers any more") as error,
    ):
        in_order(client, doubling(client), 3)
    assert "\n" not in str(error.value)


def test_a_scheduler_that_is_gone_is_told():
    with cluster(0) as client:
        pass
    with pytest.raises(ClusterError, match="the scheduler of the cluster does not answer"):
        client_of(client)
