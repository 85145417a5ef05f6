"""Column by column: robust scales, what stands in where there is none, and columns that do not vary."""

import numpy as np

from vbrand.robust.scale import qn
from vbrand.types import BoolArray, FloatArray

# values that differ by less than this share of their magnitude differ by rounding alone
_ROUNDING = 32 * np.finfo(np.float64).eps

_LARGEST_SCALE = 1e150


def column_scales(rows: FloatArray, stand_in: FloatArray) -> FloatArray:
    """Return the Qn scale of each column, or its stand-in if half of the values agree, or Qn is 0, up to rounding.

    Of a column with missing cells the others say it; one of a single value takes its stand-in.
    """
    if np.isnan(rows).any():
        return np.array([_observed_scale(column, each) for column, each in zip(rows.T, stand_in, strict=True)])
    half = rows.shape[0] // 2
    ordered = np.sort(rows, axis=0)
    closest = (ordered[half - 1 :] - ordered[: rows.shape[0] - half + 1]).min(axis=0)  # spread of the tightest half
    scale = qn(rows)
    return np.where(np.minimum(closest, scale) <= rounding_of(rows), stand_in, scale)


def _observed_scale(column: FloatArray, stand_in: float) -> float:
    values = column[~np.isnan(column)]
    return float(column_scales(values[:, None], np.array([stand_in]))[0]) if values.size > 1 else stand_in


def medians(rows: FloatArray) -> FloatArray:
    """Return the median of each column, of those cells that there are; 0 where there is none."""
    if not np.isnan(rows).any():
        return np.asarray(np.median(rows, axis=0))
    some = ~np.isnan(rows).all(axis=0)
    middle = np.zeros(rows.shape[1])
    middle[some] = np.nanmedian(rows[:, some], axis=0)
    return middle


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
        squares = np.square(np.minimum(size, limit))
        if not np.isnan(size).any():
            return np.asarray(np.sqrt(squares.mean(axis=0)))
        return np.asarray(np.sqrt(np.nansum(squares, axis=0) / np.maximum((~np.isnan(size)).sum(axis=0), 1)))


def stand_in_scale(rows: FloatArray) -> FloatArray:
    """Return the scale a column takes when half of its values agree and nothing else is known."""
    return spread_about(rows - medians(rows))


def constant_columns(rows: FloatArray) -> BoolArray:
    """Return the columns whose values all agree up to rounding, or that have none."""
    span = np.fmax.reduce(rows, axis=0) - np.fmin.reduce(rows, axis=0)
    return np.asarray((span <= rounding_of(rows)) | np.isnan(span))


def rounding_of(rows: FloatArray) -> FloatArray:
    """Return the largest difference in each column that rounding alone can make."""
    return np.asarray(_ROUNDING * np.fmax.reduce(np.abs(rows), axis=0))
