"""Labels in: class names of rows, with -1, None or NaN for rows nobody has labelled."""

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
    values = labels.to_numpy() if hasattr(labels, "to_numpy") else np.asarray(labels)
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
    if all(isinstance(value, bool | int | float | np.number) for value in known):
        numbers = np.zeros(values.size)
        numbers[given] = known
        if not (numbers == np.round(numbers)).all():
            raise ValueError("Unknown label type: labels must be whole numbers or text, not measurements.")
        return numbers.astype(np.int64)
    text = np.full(values.size, "", dtype=object)
    text[given] = [str(value) for value in known]
    if "novel" in text:
        raise ValueError("a class is called 'novel', the name that new groups get. Give the class another name.")
    return text.astype(str)
