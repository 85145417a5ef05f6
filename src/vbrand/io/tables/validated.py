"""Tables in: whatever the user calls a table becomes float64 rows with named columns."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from vbrand.checks import brief
from vbrand.types import IntArray

TEXT_REMEDY = "Leave the column out, code it, or name it in categories= at fit if its levels are few."
_COMPLEX = "give real numbers, such as real and imaginary parts in columns of their own."


@dataclass(frozen=True)
class Columns:
    """The columns of a table as the user knows them."""

    count: int
    names: tuple[str, ...] | None  # None where they have none

    def called(self, index: int) -> str:
        """Return what the user calls a column: its name, or its number counted from 0."""
        return f"column {index}" if self.names is None else f"column '{self.names[index]}'"

    def listed(self, indices: IntArray, most: int = 5) -> str:
        """Return the names of the first few columns and how many more there are."""
        names = ", ".join(self.called(int(j)) for j in indices[:most])
        return names if indices.size <= most else f"{names} and {indices.size - most} more"


def first_rows(estimator: Any, table: Any, least_rows: int) -> tuple[NDArray[Any], Columns]:
    """Return the rows of the table that an estimator is fitted to, and its columns; the estimator stays as it is.

    Cells that are missing are NaN.
    """
    # scikit-learn notes columns on the estimator while it validates; a fit that is refused later should leave no trace
    stand_in = type(type(estimator).__name__, (BaseEstimator,), {})()
    rows = _validated(stand_in, table, reset=True, least_rows=least_rows)
    names = getattr(stand_in, "feature_names_in_", None)
    columns = Columns(rows.shape[1], None if names is None else tuple(str(name) for name in names))
    _check_finite(rows, columns)
    return rows, columns


def more_rows(estimator: Any, table: Any, columns: Columns) -> NDArray[Any]:
    """Return the rows of another table, which has the columns that the estimator was fitted with."""
    rows = _validated(estimator, table, reset=False, least_rows=1)
    _check_finite(rows, columns)
    return rows


def _validated(estimator: Any, table: Any, *, reset: bool, least_rows: int) -> NDArray[Any]:
    """Return a numpy, pandas or polars table as float64 or float32 rows, with no copy where it is that already."""
    try:
        rows = validate_data(
            estimator,
            _numeric(table),
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=least_rows,
        )
    except ValueError as error:
        if "could not convert string" in str(error):
            raise ValueError(_text_in(table)) from None
        if "Complex data not supported" in str(error):
            raise ValueError(f"Complex data not supported: {_COMPLEX}") from None
        if "minimum of" in str(error) and "sample" in str(error):
            raise ValueError(f"{error} Give more rows.") from None
        if "\n" in str(error):  # scikit-learn shows the rows, however many there are
            words = [line for line in str(error).splitlines() if not line.startswith(("array=", "[", " "))]
            raise ValueError(" ".join(words)) from None
        raise
    return np.asarray(rows)


def _numeric(table: Any) -> Any:
    """Refuse what is no table, or has columns of dates or durations; return the table, masked and NA cells as NaN."""
    if isinstance(table, str | bytes | os.PathLike):
        raise ValueError(
            f"X is {str(table)[:60]!r}; a table is expected, not its name. Read it first: pandas.read_csv."
        )
    if type(table) in (dict, set):  # a sparse matrix of scipy may be a dict, too; scikit-learn refuses it
        raise ValueError(f"X is a {type(table).__name__}; a table is expected: rows of numbers, or a data frame.")
    if np.ma.is_masked(table):
        number = table.dtype if table.dtype.kind == "f" else np.float64
        return table.astype(number).filled(np.nan)
    dtypes = getattr(table, "dtypes", None)
    if hasattr(table, "isna") and dtypes is not None and "O" in {kind.kind for kind in np.atleast_1d(dtypes)}:
        table = table.mask(table.isna(), np.nan)  # pandas' NA is no number, and NaN is
    if dtypes is not None and hasattr(table, "columns"):
        for name, dtype in zip(table.columns, dtypes, strict=True):
            if str(dtype).lower().startswith(("date", "time", "duration", "period")):
                raise ValueError(f"column '{name}' holds dates or times ({dtype}); numbers are expected. Leave it out.")
    return table


def _text_in(table: Any) -> str:
    """Return which column holds text, and where."""
    names = list(table.columns) if hasattr(table, "columns") else None
    values = np.asarray(table, dtype=object)
    for j in range(values.shape[1] if values.ndim == 2 else 0):
        for i, value in enumerate(values[:, j].tolist()):
            if isinstance(value, str) and not is_number(value):
                name = f"column {j}" if names is None else f"column '{names[j]}'"
                where = f"{name} holds text ({brief(value)} in row {i})"
                return f"{where}; numbers are expected. {TEXT_REMEDY}"
    return "the table holds text; numbers are expected."


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_finite(rows: NDArray[Any], columns: Columns) -> None:
    """Refuse infinite numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(rows.sum(dtype=np.float64))  # no second table where all is well
    if not suspect:
        return
    counts = np.isinf(rows).sum(axis=0)
    if not counts.any():
        return
    worst = int(counts.argmax())
    others = int((counts > 0).sum()) - 1
    more = f", and {others} more columns have such values too" if others else ""
    raise ValueError(
        f"{columns.called(worst)} has {counts[worst]} infinite values{more}. Correct them; a value that nobody "
        "knows is NaN."
    )
