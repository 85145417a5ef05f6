"""Labels in: class names of rows; -1, None, NaN and blank text are rows that nobody has labelled."""

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.types import BoolArray, IntArray

# letters of the name of a class: every row takes room for the longest
_LONGEST = 1_000
# labels are kept as 64-bit integers
_LARGEST = 2**63
_HALF_LETTER = re.compile("[\ud800-\udfff]")


def read_labels(labels: Any) -> tuple[NDArray[Any], BoolArray]:
    """Return the labels as ints or text, and which of them are given.

    >>> read_labels(["rye", None, "oat", ""])
    (array(['rye', '', 'oat', ''], dtype='<U3'), array([ True, False,  True, False]))
    >>> read_labels([3.0, float("nan"), 5.0])
    (array([3, 0, 5]), array([ True, False,  True]))
    """
    values = _as_array(labels)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"labels have the shape {values.shape}; one label for each row is expected.")
    given = np.array([not _is_missing(value) for value in values.tolist()], dtype=bool)
    if not given.any():
        raise ValueError("all rows are unlabelled; label some rows of each class you know.")
    return _as_numbers_or_text(values, given), given


def names_alike(classes: NDArray[Any]) -> list[str]:
    """Return names of classes that differ only in capitals and blanks, those that are alike together.

    >>> names_alike(np.array(["Nord", "nord ", "rye"]))
    ["'Nord' and 'nord '"]
    """
    if classes.dtype.kind != "U":
        return []
    alike = dict[str, list[str]]()
    for name in classes.tolist():
        alike.setdefault("".join(name.split()).casefold(), []).append(f"'{name}'")
    return [" and ".join(names) for names in alike.values() if len(names) > 1]


def read_samples(groups: Any, rows: int) -> IntArray:
    """Return the sample that each row is of, as a number; a row without a name is one of its own.

    >>> read_samples(["a", None, "b", "a"], rows=4)
    array([0, 1, 2, 0])
    """
    values = _as_array(groups)
    if values.shape != (rows,):
        raise ValueError(
            f"groups have the shape {values.shape}; the name of a sample for each of {rows} rows is expected."
        )
    number = dict[Any, int]()
    try:
        keys = [(row,) if _is_nothing(value) else value for row, value in enumerate(values.tolist())]
        return np.array([number.setdefault(key, len(number)) for key in keys])
    except TypeError:
        raise ValueError("groups hold values that are no names; text or numbers are expected.") from None


def check_names(names: Iterable[str]) -> None:
    """Refuse names that no array or file can hold."""
    for name in set(names):
        if len(name) > _LONGEST:
            raise ValueError(
                f"a label has {len(name):,} characters ({name[:20]!r}...); names of classes have at most {_LONGEST:,}. "
                "Shorten it, or choose another column of labels."
            )
        if "\0" in name or _HALF_LETTER.search(name):
            raise ValueError(f"label {name!r} holds a character that text files can't hold. Take it out.")


def _as_array(labels: Any) -> NDArray[Any]:
    if isinstance(labels, np.ma.MaskedArray):
        values = labels.data.astype(object)
        values[np.ma.getmaskarray(labels)] = None
        return values
    if hasattr(labels, "to_pylist"):  # of pyarrow, whose text has no numpy of its own
        return np.array([*labels.to_pylist(), None], dtype=object)[:-1]
    return np.asarray(labels.to_numpy() if hasattr(labels, "to_numpy") else labels, dtype=object)


def _is_nothing(value: Any) -> bool:
    """Return whether a value is None, NaN, NA or blank; -1 is a name."""
    return _is_missing(value) and not (isinstance(value, Real) and value == -1)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str | bytes):
        return not value.strip()
    try:
        return bool(value != value) or bool(value == -1)
    except (TypeError, ArithmeticError):  # pandas.NA and Decimal("sNaN") answer neither yes nor no
        return True
    except ValueError:
        raise _no_label(value) from None


def _as_numbers_or_text(values: NDArray[Any], given: BoolArray) -> NDArray[Any]:
    known = values[given].tolist()
    if all(_is_number(value) for value in known):
        numbers = np.zeros(values.size, dtype=np.int64)
        numbers[given] = [_whole(value) for value in known]
        return numbers

    names = [_name(value) for value in known]
    check_names(names)
    _refuse_two_kinds(known, names)
    for name in set(names):
        if is_of_groups(name):
            raise ValueError(f"a class is called '{name}', a name that new groups get. Give the class another name.")
    text = np.full(values.size, "", dtype=object)
    text[given] = names
    return text.astype(str)


def is_of_groups(name: str) -> bool:
    """Return whether a name is one that new groups get."""
    return re.fullmatch(r"novel( \d+)?", name) is not None


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | Decimal | np.bool_)


def _whole(value: Any) -> int:
    if not (math.isfinite(value) and value == int(value)):
        raise ValueError("Unknown label type: labels must be whole numbers or text, not measurements.")
    if not -_LARGEST <= value < _LARGEST:
        raise ValueError(
            f"label {_shown(value)} is too large: whole numbers of up to 18 digits are kept. Give the labels as text."
        )
    return int(value)


def _name(value: Any) -> str:
    """Return the name of a class whatever it is given as, or refuse what has none."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise ValueError(f"label {_shown(value)} is no text in UTF-8; decode the labels first.") from None
    if isinstance(value, complex | np.complexfloating):
        raise ValueError(f"Unknown label type: {value!r} is a complex number; labels are whole numbers or text.")
    if isinstance(value, bool | np.bool_):
        return str(value)
    if _is_number(value) and math.isfinite(value) and value == int(value):
        return str(int(value))
    if isinstance(value, dict | list | set | tuple | np.ndarray) or repr(value) == object.__repr__(value):
        raise _no_label(value)
    return str(value)


def _refuse_two_kinds(values: list[Any], names: list[str]) -> None:
    """Refuse labels that are one class as text, and two as they were given."""
    kind = dict[str, bool]()
    for value, name in zip(values, names, strict=True):
        is_text = isinstance(value, str | bytes)
        if kind.setdefault(name, is_text) != is_text:
            raise ValueError(
                f"label {name} is given as a number and as text ({name!r}). Give all labels as text, or all as numbers."
            )


def _no_label(value: Any) -> ValueError:
    return ValueError(f"{_shown(value)} is no label; one whole number or one text for each row is expected.")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
