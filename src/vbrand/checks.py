"""Settings in: each that is off gets one sentence."""

from collections.abc import Collection
from numbers import Integral, Real

import numpy as np

_LARGEST = float(np.finfo(np.float64).max)


def check_number(name: str, value: object, low: float, high: float = np.inf, *, open_low: bool = False) -> None:
    """Refuse anything but a number from low to high; `open_low` excludes low itself."""
    finite = isinstance(value, Real) and not isinstance(value, bool) and bool(abs(value) <= _LARGEST)  # type: ignore[operator]
    right = finite and low <= float(value) <= high  # type: ignore[arg-type]
    if not right or (open_low and float(value) == low):  # type: ignore[arg-type]
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
