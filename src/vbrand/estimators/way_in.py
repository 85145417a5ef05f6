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
    warp = None if _is_wide(detector, rows, labels) else _warp(detector, rows, labels)
    reduction, measured = _reduced(detector, rows if warp is None else warp.inward(rows), labels)
    step = None if warp is None else warp.steps(rows)
    coordinates = Coordinates.of(measured, rounded=detector.scatter == "modes", step=step)
    if detector.scatter == "modes" and reduction is None and measured.shape[1] > 1:
        coordinates = coordinates.where_columns_add_up(measured, np.unique(labels, return_inverse=True)[1])
    return Passage(names, kept, reduction, coordinates, warp=warp), measured


def _given(detector: Any) -> bool:
    """Return whether the user says what classes look like in the columns as they are."""
    return detector.novel_mean is not None or detector.novel_scale is not None or detector.scatter != "modes"


def _warp(detector: Any, rows: FloatArray, labels: NDArray[Any]) -> Warp | None:
    """Return bent scales of the columns that classes are skewed in; None where all are taken as they are."""
    if detector.transforms is None or _given(detector) or rows.shape[1] == 0:
        return None
    return learn_warp(rows, np.unique(labels, return_inverse=True)[1], detector._tuning.stage1)


def _columns_wanted(detector: Any, rows: FloatArray, labels: NDArray[Any]) -> int | None:
    """Return how many columns the table is reduced to if it has more; None where all are taken."""
    if detector.reduce == "auto":
        classes = np.unique(labels).size
        return None if _given(detector) else columns_wanted(rows.shape[0], classes, detector._tuning.stage1)
    return None if detector.reduce is None else int(detector.reduce)


def _is_wide(detector: Any, rows: FloatArray, labels: NDArray[Any]) -> bool:
    """Return whether columns are reduced to components."""
    wanted = _columns_wanted(detector, rows, labels)
    return wanted is not None and rows.shape[1] > wanted


def _reduced(detector: Any, rows: FloatArray, labels: NDArray[Any]) -> tuple[Reduction | None, FloatArray]:
    """Return the reduction of a wide table, and the labelled rows in it; without numbers one that is always 0."""
    if rows.shape[1] == 0:
        return None, np.zeros((rows.shape[0], 1))
    wanted = _columns_wanted(detector, rows, labels)
    if wanted is None or rows.shape[1] <= wanted:
        return None, rows
    classes, member = np.unique(labels, return_inverse=True)
    check_sizes(classes, np.bincount(member))
    return reduce_columns(rows, member, wanted, detector._tuning.stage1)
