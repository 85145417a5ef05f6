"""Data frames and arrays of Dask -> labelled rows in memory, all others on the workers."""

import sys
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.io.sources.cluster import client_of
from vbrand.io.sources.scratch import Scratch
from vbrand.io.sources.workers import WorkerRows, gathered_parts, looked_at
from vbrand.io.tables.categories import (
    Categories,
    Category,
    Wanted,
    are_few,
    check_levels,
    column_of,
    recoded,
    texts_of,
    wanted_places,
)
from vbrand.io.tables.frames import TableError
from vbrand.io.tables.labels import read_labels
from vbrand.io.tables.validated import TEXT_REMEDY, Columns

Collected = tuple[NDArray[Any], NDArray[Any], WorkerRows, Columns, Categories]


def is_collection(table: Any) -> bool:
    """Return whether this is a data frame or an array of Dask."""
    return "dask" in sys.modules and hasattr(table, "__dask_graph__") and hasattr(table, "to_delayed")


def collected(table: Any, wanted: Columns, engine: Any, scratch: Scratch, categories: Categories = ()) -> WorkerRows:
    """Return the rows of a collection that has the columns of a fit, and perhaps others; some are categories."""
    names = _names(table)
    if names is not None and wanted.names is not None:
        missing = [name for name in wanted.names if name not in names]
        if missing:
            raise ValueError(
                f"the Dask table has no column '{missing[0]}', which the detector was fitted with. Columns are matched "
                "by name, in any order."
            )
        table = table[list(wanted.names)]
    columns = _columns(table, None, [one.column for one in categories])
    if columns.count != wanted.count:
        raise ValueError(f"X has {columns.count} columns; the detector was fitted with {wanted.count}.")
    client = client_of(engine)
    return _opened(table, _parts(table, client), None, columns, categories, client, scratch)[0]


def collected_labelled(table: Any, labels: Any, engine: Any, scratch: Scratch, wanted: Wanted = None) -> Collected:
    """Return labelled rows, their labels, the other rows, the columns of a collection and which are categories.

    `labels` name the column that holds the classes, or have one entry per row; `wanted` are the categories.
    """
    label = labels if isinstance(labels, str) else None
    if label is not None and label not in (_names(table) or ()):
        raise ValueError(f"y is {label!r}, but the Dask collection has no such column: name one, or give one per row.")
    client = client_of(engine)
    parts = _parts(table, client)
    categories = _categories(table, parts, label, wanted, client)
    columns = _columns(table, label, [one.column for one in categories])
    rest, rows, cells = _opened(table, parts, label, columns, categories, client, scratch)
    if label is not None:
        if not cells:
            raise ValueError(f"column '{label}' has no label in any row; label some rows of each class you know.")
        return rows, read_labels(cells)[0], rest, columns, categories

    known, given = read_labels(labels.compute() if hasattr(labels, "compute") else labels)
    if given.size != len(rest):
        raise ValueError(f"y has {given.size:,} labels for {len(rest):,} rows; one for each row is expected.")
    return rest[given], known[given], rest.without(given), columns, categories


def _parts(table: Any, client: Any) -> list[Any]:
    """Return the partitions of a collection, on workers."""
    if hasattr(table, "columns"):
        partitions = table.to_delayed()
    elif table.ndim == 2:
        whole = table if table.numblocks[1] == 1 else table.rechunk({1: -1})
        partitions = whole.to_delayed()[:, 0].tolist()
    else:
        return []  # it is refused
    return list(client.compute(list(partitions)))  # each keeps how it is made


def _opened(
    table: Any,
    parts: list[Any],
    label: str | None,
    columns: Columns,
    categories: Categories,
    client: Any,
    scratch: Scratch,
) -> tuple[WorkerRows, NDArray[Any], list[Any]]:
    dtype = np.float64 if categories else _precision(table, label)
    rows = [client.submit(_part, part, columns, label, dtype, categories, pure=False) for part in parts]
    return gathered_parts(client, rows, columns.count, dtype, scratch)


def _categories(table: Any, parts: list[Any], label: str | None, wanted: Wanted, client: Any) -> Categories:
    """Return the columns of categories, by their type, by the levels that they have, or because the user says so."""
    names = _names(table)
    own = None if names is None else [name for name in names if name != label]
    if wanted is None or (own is None and (isinstance(wanted, str) or table.ndim != 2)):
        return ()
    if isinstance(wanted, str):
        types = [str(dtype).lower() for name, dtype in zip(names or (), table.dtypes, strict=True) if name != label]
        typed = {j for j, kind in enumerate(types) if kind.startswith(("category", "bool"))}
        places = sorted(typed | {j for j, kind in enumerate(types) if kind.startswith(("object", "str"))})
    else:
        places = wanted_places(wanted, own, table.shape[1] if own is None else len(own))
        typed = set(places)
    seen = [Counter[str]() for _ in places]
    for counts in looked_at(client, _levels, parts, label, places) if places else ():
        for total, one in zip(seen, counts, strict=True):
            total.update(one)
    found = list[Category]()
    for j, levels in zip(places, seen, strict=True):
        if j in typed or are_few(levels, levels.total()):
            check_levels(f"column {j}" if own is None else f"column '{own[j]}'", len(levels), levels.total())
            found.append(Category(j, tuple(sorted(levels))))
    return tuple(found)


def _levels(table: Any, label: str | None, places: list[int]) -> list[Counter[str]]:
    """Return how often some columns of a partition have each level: on a worker."""
    numbers = _without(table, label)
    return [Counter(text for text in texts_of(column_of(numbers, j)) if text is not None) for j in places]


def _without(table: Any, label: str | None) -> Any:
    return table if label is None or not hasattr(table, "columns") else table.drop(columns=label)


def _names(table: Any) -> list[Any] | None:
    return list(table.columns) if hasattr(table, "columns") else None


def _columns(table: Any, label: str | None, categories: list[int]) -> Columns:
    """Return the measured columns; refuse those that hold neither numbers nor categories."""
    names = _names(table)
    if names is None:
        if table.ndim != 2 or np.isnan(table.shape[1]):
            raise ValueError(f"the Dask array has the shape {table.shape}; rows by columns of numbers are expected.")
        if table.dtype.kind not in "biuf":
            raise ValueError(f"the Dask array holds {table.dtype}; numbers are expected.")
        return Columns(int(table.shape[1]), None)
    own = [name for name in names if name != label]
    for j, name in enumerate(own):
        dtype = table.dtypes[name]
        if j not in categories and getattr(dtype, "kind", "O") not in "biuf":
            raise ValueError(f"column '{name}' holds {dtype}; numbers are expected. {TEXT_REMEDY}")
    return Columns(len(own), tuple(own) if all(isinstance(name, str) for name in own) else None)


def _precision(table: Any, label: str | None) -> Any:
    """Return single precision if all columns have it, else double."""
    if not hasattr(table, "columns"):
        return np.float32 if table.dtype == np.float32 else np.float64
    kinds = {str(dtype) for name, dtype in zip(table.columns, table.dtypes, strict=True) if name != label}
    return np.float32 if kinds == {"float32"} else np.float64


def _part(
    table: Any, columns: Columns, label: str | None, dtype: Any, categories: Categories
) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
    """Return the rows of a partition without a label, those that have one, and these: on a worker."""
    numbers = recoded(_without(table, label), categories, columns)
    if hasattr(numbers, "to_numpy"):
        rows = np.ascontiguousarray(_floats(numbers.to_numpy, dtype=dtype, na_value=np.nan))
    else:
        rows = np.ascontiguousarray(_floats(np.asarray, numbers, dtype=dtype))
    bad = np.argwhere(np.isinf(rows))
    if bad.size:
        raise TableError(
            f"{columns.called(int(bad[0, 1]))} has an infinite value in a partition of the Dask table (there in row "
            f"{bad[0, 0]}, counted from 0). Correct it; a value that nobody knows is NaN."
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
