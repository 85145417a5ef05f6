"""Tables in: whatever the user calls a table becomes float64 rows with named columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from vbrand.types import IntArray


def checked_rows(estimator: Any, table: Any, *, reset: bool, least_rows: int = 1) -> NDArray[Any]:
    """Return a numpy, pandas or polars table as float64 or float32 rows, with no copy where it is that already.

    Names of columns are kept on the estimator, or compared with those it has.
    """
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
        raise
    _check_finite(rows, estimator)
    return np.asarray(rows)


def column_name(estimator: Any, index: int) -> str:
    """Return what the user calls a column: its name, or its number counted from 0."""
    names = getattr(estimator, "feature_names_in_", None)
    return f"column {index}" if names is None else f"column '{names[index]}'"


def column_list(estimator: Any, indices: IntArray, most: int = 5) -> str:
    """Return the names of the first few columns and how many more there are."""
    names = ", ".join(column_name(estimator, int(j)) for j in indices[:most])
    return names if indices.size <= most else f"{names} and {indices.size - most} more"


def _numeric(table: Any) -> Any:
    """Refuse a data frame with columns of dates or durations, and return it."""
    dtypes = getattr(table, "dtypes", None)
    if dtypes is not None and hasattr(table, "columns"):
        for name, dtype in zip(table.columns, dtypes, strict=True):
            if str(dtype).lower().startswith(("date", "time", "duration")):
                raise ValueError(f"column '{name}' holds dates or times ({dtype}); numbers are expected. Leave it out.")
    return table


def _text_in(table: Any) -> str:
    """Return which column holds text, and where."""
    names = list(table.columns) if hasattr(table, "columns") else None
    values = np.asarray(table, dtype=object)
    for j in range(values.shape[1]):
        for i, value in enumerate(values[:, j].tolist()):
            if isinstance(value, str) and not is_number(value):
                name = f"column {j}" if names is None else f"column '{names[j]}'"
                return (
                    f"{name} holds text ({value!r} in row {i}); numbers are expected. Leave the column out, or code it."
                )
    return "the table holds text; numbers are expected."


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_finite(rows: NDArray[Any], estimator: Any) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(rows.sum(dtype=np.float64))  # no second table where all is well
    counts = (~np.isfinite(rows)).sum(axis=0) if suspect else np.zeros(rows.shape[1], dtype=np.int64)
    if counts.any():
        worst = int(counts.argmax())
        kind = "NaN" if np.isnan(rows[:, worst]).any() else "inf"
        others = int((counts > 0).sum()) - 1
        more = f", and {others} more columns have such values too" if others else ""
        raise ValueError(
            f"{column_name(estimator, worst)} has {counts[worst]} missing or infinite values ({kind}){more}. "
            "Drop those rows or columns, or fill them in."
        )
