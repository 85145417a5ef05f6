"""What the labelled rows teach: one robust centre and scatter for each known class."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from vbrand.robust.columns import column_scales, constant_columns, medians, rounding_of, spread_about, stand_in_scale
from vbrand.robust.mcd import fit_empirical, fit_mcd
from vbrand.robust.mrcd import RobustFit, fit_mrcd
from vbrand.stage1.gaps import fit_with_gaps
from vbrand.stage1.lessons import Lessons
from vbrand.stage1.tuning import TUNED, Stage1Tuning
from vbrand.types import FloatArray, IntArray

Scatter = Literal["mrcd", "mcd", "empirical"]

FEWEST_ROWS = 3


@dataclass(frozen=True)
class KnownClasses:
    """What stage 1 knows: J classes, in the order of `labels`, of one or more components each."""

    labels: NDArray[Any]  # (J,)
    class_of: IntArray  # (K,) the class that a component means
    rows: IntArray  # (K,) labelled rows of each component
    rows_used: IntArray  # (K,) rows that its centre and scatter rest on
    centres: FloatArray  # (K, p)
    scatters: FloatArray  # (K, p, p)
    conditions: FloatArray  # (K,) condition number of the scatter, relative to its target
    rhos: FloatArray  # (K,) share of the target in the scatter; 0 where nothing was regularised
    average: FloatArray  # (p, p) the scatter of an average component
    alike: float  # how alike the scatters are, in rows: so many with the average scatter count in each
    lessons: Lessons | None = None  # what each labelled row taught; not for robust fits, which are learned anew
    levels: FloatArray | None = None  # (K, L) labelled rows with each level of columns of categories
    level_sizes: tuple[int, ...] = ()  # (c,) numbers of levels
    numbers: bool = True  # whether any column is of numbers; if not, one that is 0 stands for them

    @property
    def trimmed(self) -> FloatArray:
        """Return the share of each component's rows that its centre and scatter do not rest on."""
        return np.asarray(1.0 - self.rows_used / self.rows)


def learn_classes(
    rows: FloatArray,
    labels: NDArray[Any],
    *,
    scatter: Scatter = "mrcd",
    support_fraction: float = 0.5,
    n_jobs: int | None = None,
    tuning: Stage1Tuning = TUNED,
) -> KnownClasses:
    """Return one robust fit per label; classes run in parallel and the answer does not depend on how.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rows = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(9, 2, (50, 2))])
    >>> known = learn_classes(rows, np.repeat(["oat", "rye"], 50))
    >>> known.labels, known.rows_used
    (array(['oat', 'rye'], dtype='<U3'), array([25, 25]))
    >>> known.centres.round(1)
    array([[-0.1,  0.2],
           [ 9.3,  9.2]])
    """
    classes, member = np.unique(labels, return_inverse=True)
    check_sizes(classes, np.bincount(member))
    _check_columns(rows)
    stand_in = stand_in_scales(rows, member)

    fits = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_fit_class)(rows[member == j], label, scatter, support_fraction, stand_in)
        for j, label in enumerate(classes)
    )

    scatters = np.stack([fit.scatter for fit in fits])
    return KnownClasses(
        labels=classes,
        class_of=np.arange(classes.size),
        rows=np.bincount(member),
        rows_used=np.array([fit.subset.sum() for fit in fits]),
        centres=np.stack([fit.centre for fit in fits]),
        scatters=scatters,
        conditions=np.array([fit.condition for fit in fits]),
        rhos=np.array([fit.rho for fit in fits]),
        average=np.average(scatters, axis=0, weights=np.bincount(member)),
        alike=tuning.most_alike,
    )


def stand_in_scales(rows: FloatArray, member: IntArray) -> FloatArray:
    """Return the scale that a column takes in a class where half of its values agree.

    It is the scale of the deviations from the medians of the classes. Where those are all zero (the column only tells
    classes apart), it is that of the deviations from the overall median.
    """
    middles = np.stack([medians(rows[member == j]) for j in range(int(member.max()) + 1)])  # (J, p)
    within = spread_about(rows - middles[member])
    return np.asarray(np.where(within <= rounding_of(rows), stand_in_scale(rows), within))


def pooled_scales(rows: FloatArray, member: IntArray, stand_in: FloatArray) -> FloatArray:
    """Return the robust scale of each column within classes, pooled over them."""
    sizes = np.bincount(member)
    scales = np.stack([column_scales(rows[member == j], stand_in) for j in range(sizes.size)])
    return np.asarray(np.sqrt(np.average(np.square(scales), axis=0, weights=sizes)))


def _fit_class(
    rows: FloatArray, label: object, scatter: Scatter, support_fraction: float, stand_in: FloatArray
) -> RobustFit:
    """Return the fit of one class; an error says which class it was."""
    try:
        scale = column_scales(rows, stand_in)
        fit: Callable[[FloatArray], RobustFit] = partial(fit_mrcd, scale=scale, support_fraction=support_fraction)
        if scatter == "mcd":
            fit = partial(fit_mcd, support_fraction=support_fraction)
        elif scatter == "empirical":
            fit = fit_empirical
        return fit_with_gaps(rows, scale, fit) if np.isnan(rows).any() else fit(rows)
    except ValueError as error:
        raise ValueError(f"class {label!s}: {error}") from None


def check_sizes(classes: NDArray[Any], sizes: IntArray) -> None:
    """Refuse a class that is too small, by name."""
    for label, size in zip(classes, sizes, strict=True):
        if size < FEWEST_ROWS:
            raise ValueError(
                f"class {label!s} has {size} {'row' if size == 1 else 'rows'}; a robust scatter needs at least "
                f"{FEWEST_ROWS}. Merge it with another class, or leave its rows unlabelled."
            )


def _check_columns(rows: FloatArray) -> None:
    for j in np.flatnonzero(constant_columns(rows)).tolist():
        raise ValueError(f"column {j} has the same value in all labelled rows. Drop it.")
