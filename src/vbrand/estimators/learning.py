"""Stage 1 as the settings of a detector want it: the known classes of labelled rows."""

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from vbrand.estimators.tuning import Tuning
from vbrand.model.kernels import Kernel
from vbrand.stage1.classes import KnownClasses, learn_classes
from vbrand.stage1.levels import classes_without_numbers, learn_levels
from vbrand.stage1.modes import learn_modes
from vbrand.stage1.passage import Passage
from vbrand.types import FloatArray


class Wish(Protocol):
    """What a detector says about stage 1."""

    scatter: Literal["modes", "mrcd", "mcd", "empirical"]
    support_fraction: float
    max_modes: int
    n_jobs: int | None
    _tuning: Tuning


def known_classes(
    wish: Wish, rows: FloatArray, labels: NDArray[Any], kernel: Kernel, passage: Passage, noise: FloatArray | None
) -> KnownClasses:
    """Return the known classes of labelled rows in working coordinates, levels of categories last.

    `noise` is what rounding hides of their scatter.
    """
    tuning, sizes = wish._tuning.stage1, passage.level_sizes
    numbers = rows[:, : rows.shape[1] - len(sizes)]
    if not passage.kept.any():
        known = classes_without_numbers(labels, kernel)
    else:
        known = _of_numbers(wish, numbers, labels, kernel, noise)
    if not sizes:
        return known
    return learn_levels(known, rows, np.searchsorted(known.labels, labels), sizes, kernel, tuning)


def _of_numbers(
    wish: Wish, rows: FloatArray, labels: NDArray[Any], kernel: Kernel, noise: FloatArray | None
) -> KnownClasses:
    tuning = wish._tuning.stage1
    if wish.scatter == "modes":
        return learn_modes(
            rows,
            labels,
            kernel=kernel,
            support_fraction=wish.support_fraction,
            max_modes=wish.max_modes,
            n_jobs=wish.n_jobs,
            tuning=tuning,
            noise=noise,
        )
    return learn_classes(
        rows,
        labels,
        scatter=wish.scatter,
        support_fraction=wish.support_fraction,
        n_jobs=wish.n_jobs,
        tuning=tuning,
    )
