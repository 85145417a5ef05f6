"""What is no table in memory but says where one is: names of files and folders, .npy files, memory maps, Dask."""

import mmap
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.io.sources.flat import Flat, copied
from vbrand.io.sources.gathered import gathered, spooled
from vbrand.io.sources.levels import choice_in, levels_by_name
from vbrand.io.sources.partitions import collected, collected_labelled, is_collection
from vbrand.io.sources.scratch import Scratch
from vbrand.io.sources.workers import WorkerRows
from vbrand.io.tables.categories import (
    Categories,
    Category,
    Wanted,
    check_levels,
    recoded,
    texts_of,
    wanted_places,
)
from vbrand.io.tables.columns import want_columns
from vbrand.io.tables.folders import files_of, is_pipe, joined
from vbrand.io.tables.frames import Frame, TableError
from vbrand.io.tables.labels import read_labels
from vbrand.io.tables.validated import Columns

_NPY = b"\x93NUMPY"
_ADVICE = "leave the column out"


@dataclass(frozen=True)
class Opened:
    """Labelled rows, and the rows that nobody has labelled, of one source."""

    rows: NDArray[Any]  # (m, p)
    labels: NDArray[Any]  # (m,)
    rest: Any  # (n, p) on disk, or on the workers of a cluster
    columns: Columns
    categories: Categories  # columns in which numbers stand for levels


def is_source(table: Any) -> bool:
    """Return whether this says where rows are, instead of holding them."""
    return isinstance(table, str | os.PathLike | Flat | WorkerRows) or _is_plain_map(table) or is_collection(table)


def open_rows(table: Any, columns: Columns, scratch: Scratch, engine: Any = None, categories: Categories = ()) -> Any:
    """Return the rows of a source that has the columns of a fit, and perhaps others; `engine` is a client of Dask.

    In columns of `categories` numbers stand for the levels of the fit. In rows that were opened before they do already.
    """
    if is_collection(table):
        return _some(collected(table, columns, engine, scratch, categories), "the Dask collection")
    if isinstance(table, WorkerRows):
        return table
    flat = _flat(table, scratch)
    if flat is None:
        frame = _frame(table, ())
        if columns.names is None:
            names = [name for name in frame.columns if name in frame.numeric]
        else:
            names = list(columns.names)
            want_columns(frame, names, "which the detector was fitted with")
        _check_count(len(names), columns)
        flat = spooled(frame, names, scratch, "fit without the column", levels_by_name(names, categories))
    else:
        _check_count(flat.shape[1], columns)
        _check_finite(flat, columns)
        flat = flat if isinstance(table, Flat) else _coded(flat, categories, columns)
    return _some(flat, _called(table))


def _some(rows: Any, name: str) -> Any:
    if len(rows) == 0:
        raise ValueError(f"{name} has no rows.")
    return rows


def open_labelled(table: Any, labels: Any, scratch: Scratch, engine: Any = None, wanted: Wanted = "auto") -> Opened:
    """Return the rows of a source; `labels` name the column that holds the classes, or have one entry per row.

    `wanted` says which columns are categories.
    """
    if is_collection(table):
        return Opened(*collected_labelled(table, labels, engine, scratch, wanted))
    flat = _flat(table, scratch)
    if flat is None and isinstance(labels, str):
        frame = _frame(table, {labels})
        frame.require(labels, "y")
        names, categories = _measured(frame, {labels}, wanted)
        found = gathered(frame, names, labels, scratch, levels_by_name(names, categories))
        return Opened(found.rows, found.labels, found.rest, Columns(len(names), tuple(names)), categories)

    if isinstance(labels, str):
        raise ValueError(f"y is {labels!r}, but {_called(table)} has no names of columns: give one label for each row.")
    if flat is None:
        frame = _frame(table, ())
        names, categories = _measured(frame, set(), wanted)
        columns = Columns(len(names), tuple(names))
        flat = spooled(frame, names, scratch, _ADVICE, levels_by_name(names, categories))
    else:
        columns = Columns(flat.shape[1], None)
        _check_finite(flat, columns)
        categories = _categories(flat, columns, wanted)
        flat = _coded(flat, categories, columns)
    named, given = read_labels(labels)
    if given.size != len(flat):
        raise ValueError(f"y has {given.size:,} labels for {len(flat):,} rows; one for each row is expected.")
    return Opened(flat[given], named[given], copied(flat, ~given, scratch), columns, categories)


def _frame(table: Any, as_text: Any) -> Frame:
    path = os.fspath(table)
    if is_pipe(path):
        raise TableError(f"{path} is a pipe and can be read only once. Read it into a table first: pandas.read_csv.")
    files = files_of(path)
    return joined(path, [Path(path)] if files is None else files, as_text)


def _measured(frame: Frame, roles: set[str], wanted: Wanted) -> tuple[list[str], Categories]:
    names, categories, notes = choice_in(frame, roles, wanted)
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=4)
    return names, categories


def _categories(flat: Flat, columns: Columns, wanted: Wanted) -> Categories:
    """Return the columns of numbers that the user calls categories."""
    places = [] if wanted is None or isinstance(wanted, str) else wanted_places(wanted, None, columns.count)
    levels = [set[str]() for _ in places]
    for block in flat.blocks() if places else ():
        rows = flat[block]
        for own, j in zip(levels, places, strict=True):
            own.update(text for text in texts_of(np.unique(rows[:, j]).tolist()) if text is not None)
            check_levels(columns.called(j), len(own), len(flat))
    return tuple(Category(j, tuple(sorted(own))) for own, j in zip(levels, places, strict=True))


def _coded(flat: Flat, categories: Categories, columns: Columns) -> Flat:
    """Return numbers with those that stand for levels."""
    return flat.mapped(lambda rows: recoded(rows, categories, columns).astype(np.float64)) if categories else flat


def _flat(table: Any, scratch: Scratch) -> Flat | None:
    """Return the rows of what has one behind the other already; None for files with names of columns."""
    if isinstance(table, Flat):
        return table
    if isinstance(table, np.memmap):
        table.flush()
        return _of_npy(Path(str(table.filename)), table.shape, table.dtype, table.offset, scratch)
    path = Path(table)
    if not path.is_file():
        return None
    with path.open("rb") as file:
        if file.read(len(_NPY)) != _NPY:
            return None
        file.seek(0)
        shape, by_column, dtype = _header(file, path)
        if by_column and min(shape, default=0) > 1:
            raise TableError(f"{path.name} holds one column behind the other; save its rows: np.ascontiguousarray.")
        return _of_npy(path, shape, dtype, file.tell(), scratch)


def _header(file: Any, path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)  # type: ignore[no-untyped-call]
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_column, dtype = read(file)  # type: ignore[no-untyped-call]
    except (ValueError, SyntaxError, TokenError):  # numpy reads it as words of Python
        raise TableError(f"{path.name} can't be read: its header is damaged. Save it or copy it again.") from None
    return shape, by_column, dtype


def _of_npy(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], start: int, scratch: Scratch) -> Flat:
    if len(shape) != 2 or 0 in shape or dtype.kind not in "fiu":
        raise TableError(
            f"{path.name} holds numbers of the shape {shape} and type {dtype}; rows by columns of numbers are expected."
        )
    if path.stat().st_size < start + dtype.itemsize * shape[0] * shape[1]:
        raise TableError(f"{path.name} is cut off: it should hold {shape[0]:,} rows. Save it or copy it again.")
    return Flat(path.open("rb", buffering=0), shape, dtype, scratch, start)


def _is_plain_map(table: Any) -> bool:
    """Return whether an array is a whole memory map whose file holds what it holds."""
    plain = isinstance(table, np.memmap) and isinstance(table.base, mmap.mmap) and table.mode != "c"
    return plain and table.ndim == 2 and table.flags.c_contiguous and table.filename is not None


def _check_finite(flat: Flat, columns: Columns) -> None:
    """Refuse infinite numbers, and note whether cells are missing."""
    for block in flat.blocks():
        rows = flat[block]
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(rows.sum(dtype=np.float64)):
                continue
        bad = np.isinf(rows)
        if bad.any():
            row, column = (int(place[0]) for place in np.nonzero(bad))
            raise ValueError(
                f"{columns.called(column)} has an infinite value in row {block.start + row}, counted from 0. Correct "
                "it; a value that nobody knows is NaN."
            )
        flat.gapped = flat.gapped or bool(np.isnan(rows).any())


def _check_count(count: int, columns: Columns) -> None:
    if count != columns.count:
        raise ValueError(f"X has {count} columns of numbers; the detector was fitted with {columns.count}.")


def _called(table: Any) -> str:
    return str(getattr(table, "filename", table)) if not isinstance(table, Flat) else "X"
