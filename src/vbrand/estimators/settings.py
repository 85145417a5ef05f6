"""Settings that are beliefs or effort: words, numbers in a range, arrays of numbers, or one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np

from vbrand.checks import brief, check_choice, check_number, check_whole
from vbrand.model.kernels import KERNELS
from vbrand.types import FloatArray

# strengths, weights and factors beyond them are no beliefs, and would leave the range of numbers
SMALLEST, LARGEST = 1e-12, 1e12
# room is made for as many components, starts and sweeps as are asked for: of more, memory would have no end
MOST_PLACES, MOST_SWEEPS = 100_000, 10_000_000


def check_beliefs(detector: Any) -> None:
    """Refuse strengths, weights and shapes of a detector that are no beliefs."""
    for name in ("known_mean_strength", "known_scatter_strength"):
        if getattr(detector, name) is not None:
            check_number(name, getattr(detector, name), SMALLEST, LARGEST)
    for name in ("known_scatter_factor", "known_weight", "novel_weight", "novel_mean_strength"):
        check_number(name, getattr(detector, name), SMALLEST, LARGEST)

    if detector.novel_dof is not None:
        check_number("novel_dof", detector.novel_dof, 0.0, LARGEST)
    for name in ("novel_mean", "novel_scale"):
        if getattr(detector, name) is not None:
            _numbers(name, getattr(detector, name))

    value = detector.concentration
    pair = value if isinstance(value, tuple) and len(value) == 2 else (value,)
    try:
        for each in pair:
            check_number("concentration", each, SMALLEST, LARGEST)
    except ValueError:
        raise ValueError(
            f"concentration is {brief(value)}; it must be a number from {SMALLEST:g} to {LARGEST:g}, or a tuple "
            "of two: shape and rate."
        ) from None


def check_effort(detector: Any) -> None:
    """Refuse words and numbers of VBrand that are no way to fit, to search or to check."""
    check_choice("kernel", detector.kernel, tuple(KERNELS))
    check_choice("scatter", detector.scatter, ("modes", "mrcd", "mcd", "empirical"))
    check_choice("search", detector.search, ("moves", "restarts", "none"))
    check_number("tol", detector.tol, 0.0)
    if not (isinstance(detector.check, str) and detector.check == "auto"):
        check_whole("check", detector.check, 0)
    if detector.max_false_novelty is not None:
        check_number("max_false_novelty", detector.max_false_novelty, 0.0, 1.0)
    for name in ("max_novel", "max_modes", "n_starts"):
        check_whole(name, getattr(detector, name), 1, MOST_PLACES)
    check_whole("max_iter", detector.max_iter, 1, MOST_SWEEPS)


@contextmanager
def extremes_told() -> Iterator[None]:
    """Turn a matrix that is no scatter, for want of digits, into a sentence that says what to do."""
    try:
        yield
    except np.linalg.LinAlgError:
        raise ValueError(
            "the rows are too extreme to calculate with: a column is a sum of others, or cells lie too far out. Leave "
            "out columns that follow from others, correct or drop wild cells, or use scatter='modes' or 'mrcd'."
        ) from None


def plain(value: Any) -> Any:
    """Return a number of any kind, or a pair of them, as floats; all else as it is."""
    if isinstance(value, tuple):
        return tuple(plain(each) for each in value)
    return float(value) if isinstance(value, Real) else value


def as_numbers(name: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return a setting as an array of this shape, or refuse it."""
    array = _numbers(name, value)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} has the shape {array.shape}; finite numbers of the shape {shape} are expected.")
    return array


def _numbers(name: str, value: Any) -> FloatArray:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is {brief(value)}; an array of finite numbers is expected.") from None
