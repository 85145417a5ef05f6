"""A cluster of Dask: the client to use, and results of tasks as they come, or one sentence."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import Any

# workers that a task may lose before it is given up; seconds to wait where there is no worker, and between two looks
_FAILURES, _PATIENCE, _LOOK = 100, 60.0, 2.0
# tasks that are under way at once, at least: what they are given is held meanwhile; and results that are fetched at
# once: those of more may take longer than anybody waits
_UNDER_WAY, _FETCHED = 64, 8


class ClusterError(ValueError):
    """A cluster that can't go on."""


def client_of(engine: Any = None) -> Any:
    """Return the client that is given or in use, or else that of a cluster of processes on this machine."""
    client = engine
    if client is None:
        distributed = _distributed()
        try:
            client = distributed.get_client()
        except ValueError:
            client = distributed.Client(distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0"))
    threads_of(client)
    _endure(client)
    return client


def client_at(address: str) -> Any:
    """Return the client of the cluster whose scheduler has an address."""
    try:
        return _distributed().Client(address)  # it waits as long as Dask is set to
    except (OSError, ValueError):
        raise ClusterError(f"there is no scheduler of Dask at {address}. Start one, or correct the address.") from None


def each_result(client: Any, submit: Callable[[int], Any], count: int) -> Iterator[tuple[int, Any]]:
    """Return the numbers and results of tasks 0, .., count - 1 as they come, not in their order.

    Tasks of workers that are lost are done again by others; where there is no worker any more it gives up.
    """
    most = max(_UNDER_WAY, 2 * sum(threads_of(client).values()))
    waiting, first, alone = dict[int, Any](), 0, None
    while first < count or waiting:
        while first < count and len(waiting) < most:
            waiting[first], first = submit(first), first + 1
        _start_again(client.cluster)
        try:
            done = _done(client, waiting)
        except TimeoutError:
            alone = _alone(client, alone)
            continue
        alone = None
        for number, result in done.items():
            del waiting[number]  # the cluster may forget it
            yield number, result


def in_order(client: Any, submit: Callable[[int], Any], count: int) -> list[Any]:
    """Return the results of tasks in their order."""
    found = dict(each_result(client, submit, count))
    return [found[number] for number in range(count)]


def _done(client: Any, waiting: dict[int, Any]) -> dict[int, Any]:
    """Return results that are there, at least one; TimeoutError if none comes for a while."""
    from distributed import KilledWorker, wait

    async def fetch(ready: list[int]) -> list[Any]:
        return list(await client.gather([waiting[number] for number in ready], asynchronous=True))

    try:
        with client.as_current():  # a client that was cut off from its scheduler has its tasks cancelled: here, too
            wait(list(waiting.values()), timeout=_LOOK, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
        ready = [number for number, task in waiting.items() if task.done()][:_FETCHED]
        return dict(zip(ready, client.sync(fetch, ready, callback_timeout=_PATIENCE), strict=True))
    except KilledWorker:
        raise ClusterError(
            f"a task of the cluster lost {_FAILURES} workers one after the other. Give workers more memory, and begin "
            "again."
        ) from None
    except OSError as error:
        if error.filename is None:
            raise
        raise ClusterError(
            f"a worker can't read {error.filename}: {error.strerror}. Put it where workers find it, and begin again."
        ) from None
    except CancelledError:
        raise ClusterError("the cluster was stopped while it was at work. Start one, and begin again.") from None


def _start_again(cluster: Any) -> None:
    """Let a cluster of processes start the workers that it gave up; others look after theirs.

    It looks 15 s after it lost a worker whether there is one of that name, and gives up if there is none at that
    moment: because the next one was lost just then, is slow to start on a busy machine, or failed to.
    """
    if hasattr(cluster, "worker_spec") and len(cluster.workers) < len(cluster.worker_spec):
        cluster.scale(len(cluster.worker_spec))


def _alone(client: Any, since: float | None) -> float | None:
    """Return since when there has been no worker, None if there is one; refuse to wait for ever."""
    if threads_of(client):
        return None
    now = time.monotonic()
    if since is not None and now - since > _PATIENCE:
        raise ClusterError("the cluster has no workers any more. Start some, and begin again.")
    return now if since is None else since


def threads_of(client: Any) -> dict[str, int]:
    """Return the number of threads of each worker."""
    try:
        if client.status == "closed":
            raise OSError
        return dict(client.nthreads())
    except (OSError, CancelledError):
        raise ClusterError("the scheduler of the cluster does not answer. Start one, and begin again.") from None


def _endure(client: Any) -> None:
    """Let tasks lose more workers than Dask allows them to."""

    def raise_allowed(dask_scheduler: Any, allowed: int = _FAILURES) -> None:
        dask_scheduler.allowed_failures = max(dask_scheduler.allowed_failures, allowed)

    client.run_on_scheduler(raise_allowed)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError("clusters need the package distributed: pip install 'vbrand[dask]'") from None
    return distributed
