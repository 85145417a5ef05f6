"""Files -> labelled rows in memory and all others in a flat file, in one pass over them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.io.sources.flat import Flat
from vbrand.io.sources.levels import Levels
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.frames import Frame, TableError, arrow
from vbrand.io.tables.material import check_labels, numbers_or_text, without_minus_one


@dataclass(frozen=True)
class Gathered:
    """Labelled rows, and the rows that nobody has labelled."""

    rows: NDArray[Any]  # (m, p)
    labels: NDArray[Any]  # (m,) whole numbers or text
    rest: Flat  # (n, p)


def gathered(frame: Frame, columns: list[str], label: str, scratch: Scratch, levels: Levels | None = None) -> Gathered:
    """Return the rows of a table, those without a label on disk; columns of categories have `levels`."""
    names = names_of(frame, label)
    single = np.float32 if frame.single and not levels else np.float64
    rows, labels, rest = [np.empty((0, len(columns)), single)], list[str](), Flat.empty(scratch, len(columns), single)

    scratch.heard(done := 0, frame.rows)
    for block, cells in frame.blocks(columns, label, levels=levels):
        given = [names[cell] for cell in cells]
        known = np.array([name is not None for name in given], dtype=bool)
        rows.append(block[known])
        labels += [name for name in given if name is not None]
        rest.add(block[~known])
        done += len(cells)
        scratch.heard(done, frame.rows)
    arrow().default_memory_pool().release_unused()
    return Gathered(np.concatenate(rows), numbers_or_text(labels, None)[0], rest)


def spooled(frame: Frame, columns: list[str], scratch: Scratch, advice: str, levels: Levels | None = None) -> Flat:
    """Return the rows of a table on disk."""
    rows = Flat.empty(scratch, len(columns), np.float32 if frame.single and not levels else np.float64)
    scratch.heard(0, frame.rows)
    for block, _ in frame.blocks(columns, advice=advice, levels=levels):
        rows.add(block)
        scratch.heard(len(rows), frame.rows)
    arrow().default_memory_pool().release_unused()
    return rows


def names_of(frame: Frame, label: str) -> dict[str | None, str | None]:
    """Return what each cell of the column of labels says: the name of a class, or None."""
    seen = dict.fromkeys(cell for _, cells in frame.blocks([], label) for cell in cells)
    cells = list(seen)
    names = without_minus_one(cells)
    if not any(names):
        raise TableError(
            f"column '{label}' of {frame.name} has no label in any row; label some rows of each class you know."
        )
    check_labels([name for name in names if name is not None], label, frame.name)
    return dict(zip(cells, names, strict=True))
