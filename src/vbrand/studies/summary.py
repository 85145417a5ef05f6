"""Lines of a study -> means and standard errors by cell."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vbrand.studies.runner import Line

Key = Callable[[Line], Any]


@dataclass(frozen=True)
class Cell:
    """Mean, standard error and number of replicates; with one replicate the error is not known: nan."""

    mean: float
    error: float
    count: int


def cells(lines: Iterable[Line], value: str, key: Key) -> dict[Any, Cell]:
    """Return the mean of a column for each key; lines whose key is None are left out."""
    values: dict[Any, list[float]] = {}
    for line in lines:
        if key(line) is not None:
            values.setdefault(key(line), []).append(float(line[value]))
    return {name: _cell(np.array(held)) for name, held in values.items()}


def _cell(values: Any) -> Cell:
    error = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")
    return Cell(float(values.mean()), error, int(values.size))
