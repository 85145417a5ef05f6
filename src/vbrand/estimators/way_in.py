"""Labelled rows make the way in: scales that are bent where classes are skewed, components of wide tables, units."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.stage1.classes import check_sizes
from vbrand.stage1.coordinates import Coordinates
from vbrand.stage1.passage import Passage
from vbrand.stage1.reduction import Reduction, columns_wanted, reduce_columns
from vbrand.stage1.skew import learn_warp
from vbrand.stage1.warp import Warp
from vbrand.types import BoolArray, FloatArray


def way_in(
    detector: Any, rows: FloatArray, labels: NDArray[Any], names: tuple[str, ...] | None, kept: BoolArray
) -> tuple[Passage, FloatArray]:
    """Return the passage that a detector makes of labelled rows in the kept columns, and these as it measures them."""
    warp = _warp(detector, rows, labels)
    reduction, measured = _reduced(detector, rows if warp is None else warp.inward(rows), labels)
    step = None if warp is None or reduction is not None else warp.steps(rows)
    coordinates = Coordinates.of(measured, rounded=detector.scatter == "modes", step=step)
    return Passage(names, kept, reduction, coordinates, warp=warp), measured


def _given(detector: Any) -> bool:
    """Return whether the user says what classes look like in the columns as they are."""
    return detector.novel_mean is not None or detector.novel_scale is not None or detector.scatter != "modes"


def _warp(detector: Any, rows: FloatArray, labels: NDArray[Any]) -> Warp | None:
    """Return bent scales of the columns that classes are skewed in; None where all are taken as they are."""
    if detector.transforms is None or _given(detector) or rows.shape[1] == 0:
        return None
    return learn_warp(rows, np.unique(labels, return_inverse=True)[1], detector._tuning.stage1)


def _reduced(detector: Any, rows: FloatArray, labels: NDArray[Any]) -> tuple[Reduction | None, FloatArray]:
    """Return the reduction of a wide table, and the labelled rows in it; without numbers one that is always 0."""
    if rows.shape[1] == 0:
        return None, np.zeros((rows.shape[0], 1))
    classes, member = np.unique(labels, return_inverse=True)
    wanted, tuning = detector.reduce, detector._tuning.stage1
    if wanted == "auto":
        wanted = None if _given(detector) else columns_wanted(rows.shape[0], classes.size, tuning)
    if wanted is None or rows.shape[1] <= wanted:
        return None, rows
    check_sizes(classes, np.bincount(member))
    return reduce_columns(rows, member, wanted, tuning)
