"""Many files as one table: all the files of a folder, or those that a pattern matches, in the order of their names.

Only what they are is kept; each is opened again when its rows are read, and refused if it is another one by then.
"""

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from vbrand.io.tables.formats import open_table
from vbrand.io.tables.frames import Frame, OddCells, TableError, listed


def open_tables(
    path: str, as_text: Collection[str] = (), sheet: str | None = None, named: Collection[str] | None = None
) -> Frame:
    """Return the table in a file, or in all files of a folder or of a pattern such as "2024-*.parquet"."""
    files = files_of(path)
    return open_table(path, as_text, sheet, named) if files is None else joined(path, files, as_text)


def files_of(path: str) -> list[Path] | None:
    """Return the files of a folder or a pattern, but for hidden ones; None if it is the name of one file."""
    if Path(path).is_dir():
        within = sorted(file for file in Path(path).rglob("*") if file.is_file())
        files = [file for file in within if not any(n[0] in "._" for n in file.relative_to(path).parts)]
        if not files:
            raise TableError(f"the folder {path} holds no tables.")
        return files
    if any(letter in path for letter in "*?[") and not Path(path).exists():
        files = [Path(name) for name in sorted(glob.glob(path, recursive=True)) if Path(name).is_file()]
        if not files:
            raise TableError(f"there is no file that matches {path}.")
        return files
    return None


def is_pipe(path: str) -> bool:
    """Return whether this can be read only once: a pipe, such as <(...) of a shell."""
    return Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()


@dataclass(frozen=True)
class _Part:
    """One file: what it was when it was looked at."""

    path: Path
    frame: Frame  # without its rows
    stamp: tuple[int, int]


def joined(name: str, files: Sequence[Path], as_text: Collection[str] = ()) -> Frame:
    """Return the rows of several files as one table; refuse files whose columns differ."""
    parts = [_Part(file, _closed(open_table(str(file), as_text)), stamp(file)) for file in files]
    first = parts[0].frame
    for part in parts[1:]:
        _check_columns(first, part.frame)
    mixed = _mixed(parts)
    empty = frozenset.intersection(*(part.frame.empty for part in parts))
    numeric = frozenset[str]().union(*(part.frame.numeric for part in parts)) - set(mixed)
    return Frame(
        Path(name).name or name,
        first.columns,
        sum(part.frame.rows for part in parts),
        numeric,
        all(part.frame.single for part in parts if part.frame.rows),
        mixed,
        empty,
        partial(_batches, parts, as_text),
    )


def _mixed(parts: list[_Part]) -> dict[str, OddCells]:
    """Return the cells that are no numbers among some: the first of all files, and how many there are."""
    mixed, before = dict[str, OddCells](), 0
    for part in parts:
        for column, odd in part.frame.mixed.items():
            first = mixed.get(column, replace(odd, row=before + odd.row, cells=0))
            mixed[column] = replace(first, cells=first.cells + odd.cells)
        before += part.frame.rows
    return mixed


def _check_columns(first: Frame, other: Frame) -> None:
    missing = [name for name in first.columns if name not in other.columns]
    extra = [name for name in other.columns if name not in first.columns]
    for names, here, there in ((missing, first, other), (extra, other, first)):
        if names:
            raise TableError(
                f"{here.name} has a column {listed(names)}, and {there.name} has none; the files of one table must "
                "have the same columns."
            )
    text = [name for name in other.columns if name in first.numeric ^ other.numeric]
    text = [name for name in text if name not in first.empty | other.empty and first.rows and other.rows]
    if text:
        here, there = (first, other) if text[0] in first.numeric else (other, first)
        raise TableError(
            f"column '{text[0]}' holds numbers in {here.name} and something else in {there.name}; the files of one "
            "table must have the same columns."
        )


def _batches(parts: list[_Part], as_text: Collection[str], columns: list[str]) -> Iterator[Any]:
    for part in parts:
        _check_stamp(part)
        frame = open_table(str(part.path), as_text)
        if frame.rows != part.frame.rows or set(frame.columns) != set(part.frame.columns):
            raise _changed(part.path)
        yield from frame.batches(columns)
        _check_stamp(part)


def _closed(frame: Frame) -> Frame:
    """Return what a table is, without what it holds."""
    return Frame(
        frame.name,
        frame.columns,
        frame.rows,
        frame.numeric,
        frame.single,
        frame.mixed,
        frame.empty,
        lambda columns: iter(()),
    )


def stamp(path: Path) -> tuple[int, int]:
    """Return the size of a file and when it was changed."""
    try:
        now = os.stat(path)
    except FileNotFoundError:
        raise TableError(f"{path} has vanished while it was read. Put it back, and begin again.") from None
    return now.st_size, now.st_mtime_ns


def _check_stamp(part: _Part) -> None:
    if stamp(part.path) != part.stamp:
        raise _changed(part.path)


def _changed(path: Path) -> TableError:
    return TableError(f"{path} was changed while it was read. Leave it alone meanwhile, and begin again.")
