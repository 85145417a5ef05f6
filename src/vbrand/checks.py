"""Checks of settings: one that can't be used is refused with one sentence."""

import math
from collections.abc import Collection
from numbers import Integral, Real

import numpy as np

_LONGEST = 60
_MOST_NAMES = 10
_MOST_WORKERS = 10_000


def check_number(name: str, value: object, low: float, high: float = np.inf, *, open_low: bool = False) -> None:
    """Refuse anything but a number from low to high; `open_low` excludes low itself."""
    number = _as_float(value)
    if not low <= number <= high or not math.isfinite(number) or (open_low and number == low):
        begin = f"above {low:g}" if open_low else f"from {low:g}"
        end = "" if high == np.inf else f" to {high:g}" if not open_low else f" and up to {high:g}"
        end = end or ("" if open_low else " up")
        raise ValueError(f"{name} is {brief(value)}; it must be a number {begin}{end}.")


def check_whole(name: str, value: object, low: int, high: int | None = None) -> None:
    """Refuse anything but a whole number of at least low, and at most high."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
        raise ValueError(f"{name} is {brief(value)}; it must be a whole number, {low} or more.")
    if high is not None and int(value) > high:
        raise ValueError(f"{name} is {brief(value)}; it must be a whole number, at most {high:,}.")


def check_jobs(value: object) -> None:
    """Refuse anything but a number of workers as joblib has it: None, or a whole number other than 0."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and not (whole and 0 < abs(int(value)) <= _MOST_WORKERS):  # type: ignore[call-overload]
        raise ValueError(f"n_jobs is {brief(value)}; it must be a whole number, 1 or more, or -1 for one per core.")


def check_engine(value: object) -> None:
    """Refuse anything but a client of Dask."""
    if value is not None and not (hasattr(value, "submit") and hasattr(value, "gather")):
        raise ValueError(f"engine is {brief(value)}; a dask.distributed.Client is expected.")


def check_seed(value: object) -> None:
    """Refuse anything but what random numbers can start from, as scikit-learn has it."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is None or isinstance(value, np.random.RandomState) or value is np.random:
        return
    if not (whole and 0 <= int(value) < 2**32):  # type: ignore[call-overload]
        raise ValueError(f"random_state is {brief(value)}; it must be None, a RandomState, or from 0 to 2**32 - 1.")


def check_flag(name: str, value: object) -> None:
    """Refuse anything but True or False, also as 0, 1 or a number of numpy."""
    if not isinstance(value, bool | np.bool_ | Integral):
        raise ValueError(f"{name} is {brief(value)}; it must be True or False.")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse anything but one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {brief(value)}; it must be {' or '.join(repr(choice) for choice in choices)}.")


def brief(value: object) -> str:
    """Return a value as a message shows it: in one line, and not all of a long one."""
    return _cut(repr(value))


def names_there(names: Collection[object]) -> str:
    """Return names as a message lists them: of many the first few, of a long one the beginning.

    >>> names_there(["oat", "rye"])
    'oat, rye'
    """
    shown = ", ".join(_cut(str(name)) for name in list(names)[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"


def _cut(text: str) -> str:
    """Return a text in one line, and not all of a long one."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _as_float(value: object) -> float:
    """Return a number of any kind as a float; nan for what is not a number, or too large for a float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
