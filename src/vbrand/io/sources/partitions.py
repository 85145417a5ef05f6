"""Data frames and arrays of Dask -> labelled rows in memory, all others on the workers."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.io.sources.cluster import client_of
from vbrand.io.sources.scratch import Scratch
from vbrand.io.sources.workers import WorkerRows, gathered_parts
from vbrand.io.tables.frames import TableError
from vbrand.io.tables.labels import read_labels
from vbrand.io.tables.validated import Columns

Collected = tuple[NDArray[Any], NDArray[Any], WorkerRows, Columns]


def is_collection(table: Any) -> bool:
    """Return whether this is a data frame or an array of Dask."""
    return "dask" in sys.modules and hasattr(table, "__dask_graph__") and hasattr(table, "to_delayed")


def collected(table: Any, wanted: Columns, engine: Any, scratch: Scratch) -> WorkerRows:
    """Return the rows of a collection that has the columns of a fit, and perhaps others."""
    names = _names(table)
    if names is not None and wanted.names is not None:
        missing = [name for name in wanted.names if name not in names]
        if missing:
            raise ValueError(
                f"the Dask table has no column '{missing[0]}', which the detector was fitted with. Columns are matched "
                "by name, in any order."
            )
        table = table[list(wanted.names)]
    columns = _columns(table, None)
    if columns.count != wanted.count:
        raise ValueError(f"X has {columns.count} columns; the detector was fitted with {wanted.count}.")
    return _opened(table, None, columns, engine, scratch)[0]


def collected_labelled(table: Any, labels: Any, engine: Any, scratch: Scratch) -> Collected:
    """Return labelled rows, their labels, the other rows and the columns of a collection.

    `labels` name the column that holds the classes, or have one entry per row.
    """
    label = labels if isinstance(labels, str) else None
    if label is not None and label not in (_names(table) or ()):
        raise ValueError(f"y is {label!r}, but the Dask collection has no such column: name one, or give one per row.")
    columns = _columns(table, label)
    rest, rows, cells = _opened(table, label, columns, engine, scratch)
    if label is not None:
        if not cells:
            raise ValueError(f"column '{label}' has no label in any row; label some rows of each class you know.")
        return rows, read_labels(cells)[0], rest, columns

    known, given = read_labels(labels.compute() if hasattr(labels, "compute") else labels)
    if given.size != len(rest):
        raise ValueError(f"y has {given.size:,} labels for {len(rest):,} rows; one for each row is expected.")
    return rest[given], known[given], rest.without(given), columns


def _opened(
    table: Any, label: str | None, columns: Columns, engine: Any, scratch: Scratch
) -> tuple[WorkerRows, NDArray[Any], list[Any]]:
    client = client_of(engine)
    if hasattr(table, "columns"):
        partitions = table.to_delayed()
    else:
        whole = table if table.numblocks[1] == 1 else table.rechunk({1: -1})
        partitions = whole.to_delayed()[:, 0].tolist()
    dtype = _precision(table, label)
    futures = client.compute(list(partitions))  # each keeps how it is made
    parts = [client.submit(_part, future, columns, label, dtype, pure=False) for future in futures]
    return gathered_parts(client, parts, columns.count, dtype, scratch)


def _names(table: Any) -> list[Any] | None:
    return list(table.columns) if hasattr(table, "columns") else None


def _columns(table: Any, label: str | None) -> Columns:
    """Return the measured columns; refuse those that hold no numbers."""
    names = _names(table)
    if names is None:
        if table.ndim != 2 or np.isnan(table.shape[1]):
            raise ValueError(f"the Dask array has the shape {table.shape}; rows by columns of numbers are expected.")
        if table.dtype.kind not in "biuf":
            raise ValueError(f"the Dask array holds {table.dtype}; numbers are expected.")
        return Columns(int(table.shape[1]), None)
    for name, dtype in zip(names, table.dtypes, strict=True):
        if name != label and getattr(dtype, "kind", "O") not in "biuf":
            raise ValueError(f"column '{name}' holds {dtype}; numbers are expected. Leave the column out, or code it.")
    own = [name for name in names if name != label]
    return Columns(len(own), tuple(own) if all(isinstance(name, str) for name in own) else None)


def _precision(table: Any, label: str | None) -> Any:
    """Return single precision if all columns have it, else double."""
    if not hasattr(table, "columns"):
        return np.float32 if table.dtype == np.float32 else np.float64
    kinds = {str(dtype) for name, dtype in zip(table.columns, table.dtypes, strict=True) if name != label}
    return np.float32 if kinds == {"float32"} else np.float64


def _part(table: Any, columns: Columns, label: str | None, dtype: Any) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
    """Return the rows of a partition without a label, those that have one, and these: on a worker."""
    numbers = table if label is None or not hasattr(table, "columns") else table.drop(columns=label)
    if hasattr(numbers, "to_numpy"):
        rows = np.ascontiguousarray(_floats(numbers.to_numpy, dtype=dtype, na_value=np.nan))
    else:
        rows = np.ascontiguousarray(_floats(np.asarray, numbers, dtype=dtype))
    bad = np.argwhere(~np.isfinite(rows))
    if bad.size:
        raise TableError(
            f"{columns.called(int(bad[0, 1]))} has a missing or infinite value in a partition of the Dask table (there "
            f"in row {bad[0, 0]}, counted from 0). Drop such rows or columns, or fill them in."
        )
    if label is None:
        return rows, rows[:0], []
    cells = table[label]
    given = ~(cells.isna() | cells.isin([-1])).to_numpy(bool)
    return rows[~given], rows[given], cells[given].astype(object).tolist()


def _floats(make: Any, *table: Any, **how: Any) -> NDArray[Any]:
    try:
        return np.asarray(make(*table, **how))
    except (TypeError, ValueError):
        raise TableError(
            "a partition of the Dask table holds text where it should hold numbers. Correct it, or leave it out."
        ) from None
