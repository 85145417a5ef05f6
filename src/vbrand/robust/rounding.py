"""The step to which the values of a column were rounded, as far as the values show it."""

import numpy as np

from vbrand.types import FloatArray

# share of the gaps between neighbouring values that must be whole multiples of a step; the others are slips of a pen
_MOST = 0.9
# of a step: how far from a whole multiple a gap may be, since decimals are no exact binary numbers
_NEARLY = 1e-3
# steps to try: the smallest gaps, for the very smallest may be a slip
_TRIED = 5


def rounding_steps(rows: FloatArray) -> FloatArray:
    """Return the step of each column, 0 where none is seen.

    Values of the columns are multiples of it but for a shift. A step that no two values share is not seen: it would be
    finer than the rows are many.

    >>> rounding_steps(np.array([[4.9, 3.0], [5.1, 9.0], [5.0, 6.0], [5.1, 3.0]])).round(6)
    array([0.1, 3. ])
    """
    return np.array([_step(column[~np.isnan(column)]) for column in rows.T])


def _step(column: FloatArray) -> float:
    values, counts = np.unique(column, return_counts=True)
    if values.size < 2 or (counts == 1).all():
        return 0.0
    gaps = np.diff(values)
    # values that differ in their last digits only are one value
    gaps = gaps[gaps > 1e-9 * np.abs(values).max()]
    if not gaps.size:
        return 0.0
    for step in np.unique(gaps)[:_TRIED][::-1].tolist():
        multiples = gaps / step
        if (np.abs(multiples - np.round(multiples)) <= _NEARLY * np.maximum(multiples, 1.0)).mean() >= _MOST:
            return float(step)
    return 0.0
