"""The way from the user's units to those the model works in, and back."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.rows import FARTHEST, Rows, Source
from vbrand.robust.columns import checked_scales, column_scales, medians, stand_in_scale
from vbrand.robust.rounding import rounding_steps
from vbrand.samples import evenly
from vbrand.stage1.classes import KnownClasses
from vbrand.stage1.elicit import Beliefs
from vbrand.stage1.tuning import TUNED
from vbrand.types import FloatArray, IntArray

# of a column's scale: columns add up to others where rows lie so near one plane
_FLAT = 1e-4
# working coordinates with a square
_FINITE = 1e150
# parts of the rows that are looked at, one of which has none that is wrong
_PARTS = 20
# however thin a class is, what lies within this many scales counts as it is
_NEAREST = 300.0


@dataclass(frozen=True)
class Coordinates:
    """Working coordinates z = (y - centre) / unit: centred, and of order one in every column."""

    centre: FloatArray  # (p,)
    unit: FloatArray  # (p,)
    step: FloatArray | None = None  # (p,) to which values are rounded, in the user's units; None: to none
    farthest: float = FARTHEST  # beyond it working coordinates count as that

    @classmethod
    def of(cls, rows: FloatArray, *, rounded: bool = True, step: FloatArray | None = None) -> "Coordinates":
        """Return coordinates in which the columns of these rows have median 0 and robust scale 1.

        Unless values are `rounded`, they are taken as they stand; `step` says to what, where they do not show it.
        """
        if not rows.any():  # what stands for numbers where there are none
            return cls(np.zeros(rows.shape[1]), np.ones(rows.shape[1]))
        unit = checked_scales(column_scales(rows, stand_in=stand_in_scale(rows)))
        if step is None:
            step = rounding_steps(rows) if rounded else np.zeros(unit.size)
        return cls(medians(rows), unit, step if step.any() else None)

    def where_columns_add_up(self, rows: FloatArray, member: IntArray) -> "Coordinates":
        """Return coordinates for these rows of classes: if columns add up to others, none is known to the last digit.

        Without that no scatter would have an inverse.
        """
        whole = ~np.isnan(rows).any(axis=1)
        rows, member = np.clip(rows[whole] / self.unit, -FARTHEST, FARTHEST), member[whole]
        if not _add_up([rows[member == j] for j in np.unique(member)]):
            return self
        finest = TUNED.finest * self.unit
        return replace(self, step=finest if self.step is None else np.maximum(self.step, finest))

    @property
    def log_volume(self) -> float:
        """Return log |dz/dy|: what a log density gains on the way back to the user's units."""
        # (3.2)  log p(y) = log p(z) - sum_j log s_j
        return -float(np.log(self.unit).sum())

    def log_volumes(self, rows: FloatArray) -> FloatArray:
        """Return the same for rows of which some cells may be missing: of those that there are, (n,)."""
        return np.asarray(-(~np.isnan(rows)).astype(np.float64) @ np.log(self.unit))

    @property
    def noise(self) -> FloatArray | None:
        """Return the scatter that rounding hides, in working coordinates, (p, p)."""
        # (3.25)  D_jj = step_j^2 / 12: a value lies anywhere within half a step
        return None if self.step is None else np.diag(np.square(self.step / self.unit) / 12.0)

    def view(self, table: NDArray[Any] | Source, levels: tuple[int, ...] = ()) -> Rows:
        """Return the rows of a table as the kernel takes them, with no copy of it; the last columns may be levels."""
        centre, multiplier, as_they_are = self.centre, 1.0 / self.unit, len(levels)
        if as_they_are:
            centre = np.append(centre, np.zeros(as_they_are))
            multiplier = np.append(multiplier, np.ones(as_they_are))
        return Rows(table, centre, multiplier, self.farthest, levels)

    def reaching(self, scatters: FloatArray) -> "Coordinates":
        """Return coordinates that end where squares would swallow the least of these scatters, (K, p, p)."""
        # (3.1)  r = max(300, 1e6 min(1, l^1/2)),  l: the least eigenvalue of a known scatter
        least = max(float(np.linalg.eigvalsh(scatters).min()), 0.0)
        return replace(self, farthest=max(FARTHEST * min(1.0, np.sqrt(least)), _NEAREST))

    def inward(self, rows: FloatArray) -> FloatArray:
        """Return rows in working coordinates."""
        # (3.1)  z = (y - c) / s, never so far out that squares are infinite
        with np.errstate(over="ignore"):
            return np.clip((rows - self.centre) * (1.0 / self.unit), -_FINITE, _FINITE)

    def beliefs_inward(self, beliefs: Beliefs) -> Beliefs:
        """Return beliefs about centres and shapes, given in the user's units, in working coordinates."""
        mean, scale = beliefs.novel_mean, beliefs.novel_scale
        return replace(
            beliefs,
            novel_mean=None if mean is None else self.inward(mean),
            novel_scale=None if scale is None else scale / np.outer(self.unit, self.unit),
        )

    def outward(self, points: FloatArray) -> FloatArray:
        """Return points of the working coordinates in the user's units."""
        return np.asarray(self.centre + points * self.unit)

    def classes_outward(self, known: KnownClasses) -> KnownClasses:
        """Return known classes in the user's units."""
        square = np.outer(self.unit, self.unit)
        return replace(
            known,
            centres=self.outward(known.centres),
            scatters=known.scatters * square,
            average=known.average * square,
        )


def _add_up(classes: list[FloatArray]) -> bool:
    """Return whether most rows of each class lie in one plane, given the rows of each; some may be far from it."""
    p = classes[0].shape[1] if classes else 0
    if sum(rows.shape[0] - 1 for rows in classes) <= p:  # so few lie in a plane whatever they are
        return False
    # rows that are far from it turn the plane of all; that of some of them is right
    size = 2 * p + 2
    parts = [rows[first : first + size] for rows in classes for first in range(0, rows.shape[0] - size + 1, size)]
    apart = [np.concatenate([rows - rows.mean(axis=0) for rows in classes])]
    apart += [parts[i] - parts[i].mean(axis=0) for i in evenly(len(parts), _PARTS).tolist()]
    for rows in apart:
        normal = np.linalg.eigh(rows.T @ rows)[1][:, 0]
        across = [own @ normal for own in classes]
        if np.median(np.concatenate([np.abs(own - np.median(own)) for own in across])) <= _FLAT:
            return True
    return False
