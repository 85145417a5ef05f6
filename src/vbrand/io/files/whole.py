"""Files out: whole or not at all."""

import os
from collections.abc import Callable, Mapping
from errno import EISDIR
from pathlib import Path
from typing import Any, BinaryIO

Write = Callable[[BinaryIO], Any]


def write_whole(path: Path, write: Write) -> None:
    """Write a file all at once: under another name first. What is no file, such as a pipe, is written to as it is."""
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            write(file)
    else:
        write_together({path: write})


def write_together(writes: Mapping[Path, Write]) -> None:
    """Write several files under other names, and once all of them are whole rename them, one right after the other.

    Whoever is stopped before that leaves what was there, and what the other names held is taken away.
    """
    halves = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in writes}
    for path in writes:
        if path.is_dir():
            raise IsADirectoryError(EISDIR, "is a folder; the name of a file is expected", str(path))
        path.parent.mkdir(parents=True, exist_ok=True)

    try:
        for path, write in writes.items():
            with halves[path].open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        for path, half in halves.items():
            half.replace(path)
    finally:
        for half in halves.values():
            half.unlink(missing_ok=True)
