"""Files out: whole or not at all.

A file is written under another name, which no other writer has, and locked meanwhile. A half that nobody locks was left
behind by a run that was killed: whoever writes the same file next takes it away.
"""

import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from errno import EISDIR
from io import BufferedWriter
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows has none: halves of killed runs stay there
    fcntl = None  # type: ignore[assignment]

Write = Callable[[BinaryIO], Any]


def write_whole(path: Path, write: Write) -> None:
    """Write a file all at once: under another name first. What is no file, such as a pipe, is written to as it is."""
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            write(file)
    else:
        write_together({path: write})


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, at once: of several writers one succeeds. An empty file counts as none."""
    half, file = half_of(path)
    try:
        with file:
            _write(file, lambda file: file.write(content), path)
        if path.exists() and path.stat().st_size == 0:
            half.replace(path)
        else:
            os.link(half, path)
    finally:
        half.unlink(missing_ok=True)


def write_together(writes: Mapping[Path, Write]) -> None:
    """Write several files under other names, and once all of them are whole rename them, one right after the other.

    Whoever is stopped before that leaves what was there, and what the other names held is taken away.
    """
    for path in writes:
        if path.is_dir():
            raise IsADirectoryError(EISDIR, "is a folder; the name of a file is expected", str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_left_behind(path)

    halves = dict[Path, Path]()
    with ExitStack() as open_files:
        try:
            for path, write in writes.items():
                halves[path], file = half_of(path)
                open_files.enter_context(file)
                _write(file, write, path)
            for path, half in halves.items():
                half.replace(path)
        finally:
            for half in halves.values():
                half.unlink(missing_ok=True)


def _write(file: BufferedWriter, write: Write, path: Path) -> None:
    try:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:  # such as a disk that is full: of which file is not known further down
        file.raw.close()  # what is in the buffer is lost; closing the file would try to write it again
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise


def half_of(path: Path) -> tuple[Path, BufferedWriter]:
    """Return another name for a file that nobody else has, and the file, open and locked."""
    while True:
        half = path.with_name(f".{path.name}.vbrand-{secrets.token_hex(8)}")
        try:
            file = half.open("xb")
            with suppress(OSError):  # some network drives have no locks, and nobody can remove a half there
                _lock(file, wait=True)
            if os.fstat(file.fileno()).st_nlink > 0:
                return half, file
        except KeyboardInterrupt:  # whoever asked for it does not know its name yet
            half.unlink(missing_ok=True)
            raise
        file.close()  # taken for one that was left behind, before it was locked


def remove_left_behind(path: Path) -> None:
    """Remove halves of a file that nobody is writing any more."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.vbrand-[0-9a-f]{{16}}")
    for half in path.parent.iterdir():
        if pattern.fullmatch(half.name):
            # one that is locked, or that somebody else has removed in the meantime, is not ours to remove
            with suppress(OSError), half.open("rb") as file:
                _lock(file, wait=False)
                half.unlink()


def _lock(file: BinaryIO, *, wait: bool) -> None:
    """Lock a file until it is closed, or raise an OSError."""
    if fcntl is None:
        raise OSError("this system has no locks")
    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
