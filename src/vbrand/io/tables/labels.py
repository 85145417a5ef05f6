"""Labels in: class names of rows, with -1, None or NaN for rows nobody has labelled."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.types import BoolArray


def read_labels(labels: Any) -> tuple[NDArray[Any], BoolArray]:
    """Return the labels as ints or text, and which of them are given.

    >>> read_labels(["rye", None, "oat"])
    (array(['rye', '', 'oat'], dtype='<U3'), array([ True, False,  True]))
    >>> read_labels([3.0, float("nan"), 5.0])
    (array([3, 0, 5]), array([ True, False,  True]))
    """
    values = labels.to_numpy() if hasattr(labels, "to_numpy") else np.asarray(labels, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"labels have the shape {values.shape}; one label for each row is expected.")
    given = np.array([not _is_missing(value) for value in values.tolist()], dtype=bool)
    if not given.any():
        raise ValueError("all rows are unlabelled; label some rows of each class you know.")
    return _as_numbers_or_text(values, given), given


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return False
    try:
        return bool(value != value) or value == -1
    except TypeError:  # pandas.NA answers neither yes nor no
        return True


def _as_numbers_or_text(values: NDArray[Any], given: BoolArray) -> NDArray[Any]:
    known = values[given].tolist()
    if all(isinstance(value, bool | int | float | np.number | np.bool_) for value in known):
        if not all(np.isfinite(value) and value == int(value) for value in known):
            raise ValueError("Unknown label type: labels must be whole numbers or text, not measurements.")
        numbers = np.zeros(values.size, dtype=np.int64)
        numbers[given] = [int(value) for value in known]
        return numbers
    text = np.full(values.size, "", dtype=object)
    text[given] = [str(value) for value in known]
    for name in text[given]:
        if re.fullmatch(r"novel( \d+)?", name):
            raise ValueError(f"a class is called '{name}', a name that new groups get. Give the class another name.")
    return text.astype(str)
