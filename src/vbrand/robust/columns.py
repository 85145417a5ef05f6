"""Column by column: robust scales, what stands in where there is none, and columns that do not vary."""

import numpy as np

from vbrand.robust.scale import qn
from vbrand.types import BoolArray, FloatArray

# values that differ by less than this share of their magnitude differ by rounding alone
_ROUNDING = 32 * np.finfo(np.float64).eps

_LARGEST_SCALE = 1e150


def column_scales(rows: FloatArray, stand_in: FloatArray) -> FloatArray:
    """Return the Qn scale of each column, or its stand-in if half of the values agree, or Qn is 0, up to rounding."""
    half = rows.shape[0] // 2
    ordered = np.sort(rows, axis=0)
    closest = (ordered[half - 1 :] - ordered[: rows.shape[0] - half + 1]).min(axis=0)  # spread of the tightest half
    scale = qn(rows)
    return np.where(np.minimum(closest, scale) <= rounding_of(rows), stand_in, scale)


def checked_scales(scales: FloatArray) -> FloatArray:
    """Refuse scales of columns whose squares, which a covariance holds, would be no numbers; return them."""
    if not ((scales > 1.0 / _LARGEST_SCALE) & (scales < _LARGEST_SCALE)).all():
        raise ValueError("a column's values are too small or too large to calculate with. Use other units for it.")
    return scales


def spread_about(deviations: FloatArray) -> FloatArray:
    """Return a scale of each column of deviations, many of which may be zero.

    It is their root mean square, after each is cut at five times the median size of those that are not zero.
    """
    size = np.abs(deviations)
    with_gaps = np.where(size > 0.0, size, np.nan)
    varies = (size > 0.0).any(axis=0)
    limit = np.zeros(size.shape[1])
    limit[varies] = 5.0 * np.nanmedian(with_gaps[:, varies], axis=0)
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused by whoever asks for a scale
        return np.asarray(np.sqrt(np.square(np.minimum(size, limit)).mean(axis=0)))


def stand_in_scale(rows: FloatArray) -> FloatArray:
    """Return the scale a column takes when half of its values agree and nothing else is known."""
    return spread_about(rows - np.median(rows, axis=0))


def constant_columns(rows: FloatArray) -> BoolArray:
    """Return the columns whose values all agree up to rounding."""
    return np.asarray(np.ptp(rows, axis=0) <= rounding_of(rows))


def rounding_of(rows: FloatArray) -> FloatArray:
    """Return the largest difference in each column that rounding alone can make."""
    return np.asarray(_ROUNDING * np.abs(rows).max(axis=0))
