"""One thread of BLAS and OpenMP while answers are computed, however many threads compute them at once."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside = 0  # callers at work
_before: list[tuple[Any, int]] = []  # libraries, and the threads that they had before the first of these callers


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and OpenMP run on one thread inside the `with` block.

    Where the threads of BLAS are the whole process's, the first caller lowers their number and the last one out
    restores it: a limit of each caller's own would restore what another one has set.
    """
    global _inside
    with _lock:
        if _inside == 0:
            _before[:] = [(library, library.num_threads) for library in _shared()]
            _set([(library, 1) for library, _ in _before])
        _inside += 1
    try:
        with _controller(len(sys.modules)).limit(limits=1):
            yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _set(_before)


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:
    """Return the libraries that are loaded, looked for again when there are other modules.

    A look costs 4 milliseconds or more, as much as a tenth of what a task of a cluster does.
    """
    return ThreadpoolController()


def _shared() -> list[Any]:
    """Return the libraries of BLAS whose number of threads is that of the process."""
    libraries = _controller(len(sys.modules)).lib_controllers
    return [each for each in libraries if each.user_api == "blas" and getattr(each, "threading_layer", "") != "openmp"]


def _set(threads: list[tuple[Any, int]]) -> None:
    for library, number in threads:
        # from 3.8 on, threadpoolctl lets only the thread that has set the number set it again, unless told otherwise
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)
