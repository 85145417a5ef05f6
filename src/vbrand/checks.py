"""Checks of settings: one that can't be used is refused with one sentence."""

import math
from collections.abc import Collection
from numbers import Integral, Real

import numpy as np


def check_number(name: str, value: object, low: float, high: float = np.inf, *, open_low: bool = False) -> None:
    """Refuse anything but a number from low to high; `open_low` excludes low itself."""
    number = _as_float(value)
    if not low <= number <= high or not math.isfinite(number) or (open_low and number == low):
        begin = f"above {low:g}" if open_low else f"from {low:g}"
        end = "" if high == np.inf else f" to {high:g}" if not open_low else f" and up to {high:g}"
        raise ValueError(f"{name} is {value!r}; it must be a number {begin}{end}{'' if end or open_low else ' up'}.")


def check_whole(name: str, value: object, low: int) -> None:
    """Refuse anything but a whole number of at least low."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
        raise ValueError(f"{name} is {value!r}; it must be a whole number, {low} or more.")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse anything but one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}; it must be {' or '.join(repr(choice) for choice in choices)}.")


def _as_float(value: object) -> float:
    """Return a number of any kind as a float; nan for what is not a number, or too large for a float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
