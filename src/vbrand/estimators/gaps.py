"""Missing cells of a table: which rows can be fitted, and what is to be said."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.kernel import each_piece
from vbrand.inference.rows import Rows
from vbrand.io.tables.likeness import Given
from vbrand.io.tables.validated import Columns
from vbrand.stage1.passage import Passage
from vbrand.types import BoolArray, IntArray

_NAMED = 5


def has_cells(table: NDArray[Any], kept: BoolArray | slice = slice(None)) -> BoolArray:
    """Return which rows have a cell in a kept column: others say nothing to a fit."""
    if not _gaps(table):
        return np.ones(table.shape[0], dtype=bool)
    return np.asarray(~np.isnan(table[:, kept]).all(axis=1))


def with_cells(table: Given, kept: BoolArray) -> Given:
    """Return a table in which only rows count that have a cell in a kept column; sweeps over others leave such out."""
    if not isinstance(table.rows, np.ndarray):
        return table
    some = has_cells(table.rows, kept)
    if some.all():
        return table
    counted = np.flatnonzero(some) if table.counted is None else table.counted[some[table.counted]]
    if not counted.size:
        raise ValueError("no row has any value, all cells are NaN: there is nothing to discover.")
    return replace(table, counted=counted)


def log_volume_of(rows: Rows, passage: Passage) -> float:
    """Return what the bound of these rows gains on the way back to the user's units: (6.9), cell by cell."""
    if not rows.gapped and passage.warp is None:
        return len(rows) * passage.log_volume
    parts = each_piece(rows, _volume_of, lambda piece: (passage,), lambda piece, found: found)
    return sum(parts)


def _volume_of(rows: Rows, passage: Passage) -> float:
    return float(passage.log_volumes(rows).sum())


def notes_on_cells(table: Any, passage: Passage) -> list[str]:
    """Return what is to be said of the missing cells of unlabelled rows."""
    columns, kept, rows = Columns(passage.kept.size, passage.names), passage.used, Rows.plain(table)
    if not rows.gapped:
        return []
    parts = each_piece(rows, _absent, lambda piece: (kept,), lambda piece, found: found)
    absent, empty = np.sum([part[0] for part in parts], axis=0), sum(part[1] for part in parts)
    cells, by_column = int(absent.sum()), absent / len(rows)
    if not cells:
        return []
    held = int((by_column > 0.0).sum())
    notes = [
        f"missing cells: {cells:,} of {table.shape[0] * int(kept.sum()):,}, in {held:,} "
        f"{'column' if held == 1 else 'columns'}. Answers rest on the others; none was filled in."
    ]
    mostly = np.flatnonzero(by_column > 0.5)
    if mostly.size:
        named = ", ".join(f"{columns.called(j)} ({by_column[j]:.0%})" for j in mostly[:_NAMED].tolist())
        more = f" and {mostly.size - _NAMED} more" if mostly.size > _NAMED else ""
        notes.append(f"mostly empty: {named}{more}.")
    if empty:
        notes.append(_on_empty(empty))
    return notes


def note_on_empty_rows(table: NDArray[Any], passage: Passage) -> str | None:
    """Return what is to be said of rows that have no value at all; None where there are none."""
    empty = int((~has_cells(table, passage.used)).sum())
    return _on_empty(empty) if empty else None


def _on_empty(rows: int) -> str:
    have, them = ("row has", "it") if rows == 1 else ("rows have", "them")
    return f"{rows:,} {have} no value at all: what is said of {them} would be said of any row."


def _absent(rows: Rows, kept: BoolArray) -> tuple[IntArray, int]:
    """Return how many cells each kept column misses, (p,), and how many rows have none at all."""
    absent, empty = np.zeros(kept.size, np.int64), 0
    for block in rows.blocks():
        missing = np.isnan(rows.table[block]) & kept
        absent += missing.sum(axis=0)
        empty += int(missing[:, kept].all(axis=1).sum())
    return absent, empty


def notes_on_classes(table: NDArray[Any], labels: NDArray[Any], columns: Columns, kept: BoolArray) -> tuple[str, ...]:
    """Return which columns have no value in a class: what is believed of them is borrowed from the other classes."""
    if not _gaps(table):
        return ()
    notes = list[str]()
    for label in np.unique(labels):
        none = np.flatnonzero(np.isnan(table[labels == label]).all(axis=0) & kept)
        if none.size:
            notes.append(f"class {label!s} has no value in {columns.listed(none)}: borrowed from the other classes.")
    return tuple(notes)


def _gaps(table: NDArray[Any]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(table.sum(dtype=np.float64)))
