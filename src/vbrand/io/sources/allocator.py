"""Memory that C's allocator keeps for the next array while a task is at work.

Nannies of Dask have workers give memory back at once. Arrays of more than 128 kB are fresh memory then, which is slow
memory: answers take a fifth longer. After a task it is given back as ever.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

# what nannies set; bytes that glibc has for arrays of their own if nobody sets it
_TRIM, _MMAP, _USUAL_MMAP = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", 2**17
# the numbers that these settings have in malloc.h, and bytes that are kept: on top of the heap, and in it
_NUMBER = {_TRIM: -1, _MMAP: -3}
_KEPT = {_TRIM: 2**27, _MMAP: 2**25}

_lock = Lock()
_inside = 0  # tasks at work


@contextmanager
def kept_memory() -> Iterator[None]:
    """Keep memory that is freed inside the `with` block, where the process was told to give it back at once."""
    global _inside
    if _TRIM not in os.environ or _libc() is None:
        yield
        return
    with _lock:
        _inside += 1
        _set(_KEPT)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _set({_TRIM: int(os.environ[_TRIM]), _MMAP: int(os.environ.get(_MMAP, _USUAL_MMAP))})
                _libc().malloc_trim(0)


@cache
def _libc() -> Any:
    """Return the C library of this process if it is glibc, else None: others have no such settings."""
    library = ctypes.CDLL(None) if os.name == "posix" else None
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


def _set(settings: dict[str, int]) -> None:
    for name, value in settings.items():
        _libc().mallopt(_NUMBER[name], value)
