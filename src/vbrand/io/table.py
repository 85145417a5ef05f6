"""Tables in: whatever the user calls a table becomes float64 rows with named columns."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from vbrand.types import FloatArray, IntArray


def checked_rows(estimator: Any, table: Any, *, reset: bool, least_rows: int = 1) -> FloatArray:
    """Return a numpy, pandas or polars table as rows; names of columns are kept on the estimator, or compared."""
    try:
        rows = validate_data(
            estimator, table, reset=reset, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=least_rows
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


def _text_in(table: Any) -> str:
    """Return which column holds text, and where."""
    names = list(table.columns) if hasattr(table, "columns") else None
    values = np.asarray(table, dtype=object)
    for j in range(values.shape[1]):
        for i, value in enumerate(values[:, j].tolist()):
            if isinstance(value, str) and not _is_number(value):
                name = f"column {j}" if names is None else f"column '{names[j]}'"
                return (
                    f"{name} holds text ({value!r} in row {i}); numbers are expected. Leave the column out, or code it."
                )
    return "the table holds text; numbers are expected."


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_finite(rows: FloatArray, estimator: Any) -> None:
    bad = ~np.isfinite(rows)
    counts = bad.sum(axis=0)
    if counts.any():
        worst = int(counts.argmax())
        kind = "NaN" if np.isnan(rows[:, worst]).any() else "inf"
        others = int((counts > 0).sum()) - 1
        more = f", and {others} more columns have such values too" if others else ""
        raise ValueError(
            f"{column_name(estimator, worst)} has {counts[worst]} missing or infinite values ({kind}){more}. "
            "Drop those rows or columns, or fill them in, before the fit."
        )
