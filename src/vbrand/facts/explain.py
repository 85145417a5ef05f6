"""Why a row, or a group, is novel: how far it lies from the nearest known class, and in which columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from vbrand.model.components import Components
from vbrand.stage1.coordinates import Coordinates
from vbrand.stage1.reduction import Reduction
from vbrand.types import BoolArray, FloatArray, IntArray

_SHOWN = 5
DOUBT = "; no farther than those: another spread or shape, or no novelty"
_FARTHEST = 1e6
# of columns with less, only those that matter half as much as the first are named
_SMALL_SHARE = 0.05


@dataclass(frozen=True)
class Contribution:
    """What one column adds to the squared distance from a known class."""

    column: str
    value: float  # of the row
    usual: float  # of the class
    share: float  # of the squared distance; shares sum to one, and a column that brings it nearer has a negative one


@dataclass(frozen=True)
class Explanation:
    """The nearest known class, how far it is, and the columns that make the distance, those that matter most first."""

    nearest: str
    distance: float  # in standard deviations of the class, its own scatter
    typical: float  # what its rows have on average: the square root of the number of columns
    contributions: tuple[Contribution, ...]

    @property
    def is_doubtful(self) -> bool:
        """Return whether it is no farther from the class than its own rows are."""
        return self.distance <= self.typical

    def __str__(self) -> str:
        """Return a sentence and the columns; shares are of the squared distance, and may add to more than all of it.

        Columns that bring the row nearer have negative shares.
        """
        head = f"nearest known class: {self.nearest}, {self.distance:.1f} standard deviations away"
        lines = [f"{head} (its own rows: about {self.typical:.1f}{DOUBT if self.is_doubtful else ''})"]
        lines += [
            f"  {c.column}: {c.value:.4g}, {'higher' if c.value > c.usual else 'lower'} than its {c.usual:.4g}"
            f" ({c.share:.0%} of the distance)"
            for c in self.contributions[:_SHOWN]
            if c.share >= min(_SMALL_SHARE, 0.5 * self.contributions[0].share)
        ]
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True)
class Yardstick:
    """The known components and the way to the coordinates that they are measured in."""

    components: Components  # the known ones, in working coordinates
    class_of: IntArray
    classes: NDArray[Any]
    columns: tuple[str, ...]
    kept: BoolArray
    coordinates: Coordinates
    reduction: Reduction | None

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """Return the names of the columns that are measured with."""
        return tuple(name for name, keep in zip(self.columns, self.kept, strict=True) if keep)

    def working(self, rows: NDArray[Any]) -> FloatArray:
        """Return rows in working coordinates."""
        kept = rows[:, self.kept].astype(np.float64)
        return self.coordinates.inward(kept if self.reduction is None else self.reduction.inward(kept))

    def whitened(self, rows: NDArray[Any]) -> FloatArray:
        """Return rows in coordinates in which the average scatter of the known components is the identity."""
        root = np.linalg.cholesky(self.components.expected_scatter.mean(axis=0))
        return np.asarray(linalg.solve_triangular(root, self.working(rows).T, lower=True).T)

    def standardised(self, values: FloatArray) -> FloatArray:
        """Return values of the kept columns in robust scales from the middle of the labelled rows, column by column."""
        own = self.coordinates if self.reduction is None else self.reduction
        return np.asarray((values - own.centre) / own.unit)

    def class_centre(self, j: int) -> FloatArray:
        """Return where the model expects a known class in the kept columns, in the user's units."""
        own = self.class_of == j
        centre = np.average(self.components.mean[own], axis=0, weights=self.components.dof[own])[None]
        outer = self.coordinates.places_outward(centre)
        return np.asarray(outer[0] if self.reduction is None else self.reduction.places_outward(outer)[0])

    def explain(self, rows: FloatArray) -> Explanation:
        """Return the explanation of a row in the user's units, or of the middle of several, (n, p)."""
        middle = rows[:, self.kept]
        kept = middle.mean(axis=0)
        inner = kept if self.reduction is None else self.reduction.inward(middle).mean(axis=0)
        deviation = np.clip(self.coordinates.inward(inner), -_FARTHEST, _FARTHEST) - self.components.mean  # (K, q)
        spread = self.components.spread
        unit = np.einsum("kij,kj->ki", self.components.inverse_factor, deviation) * np.sqrt(spread)[:, None]
        distance = np.square(unit).sum(axis=1)  # (y - m)' E[Sigma]^-1 (y - m)
        k = int(distance.argmin())
        pull = np.sqrt(spread[k]) * unit[k] @ self.components.inverse_factor[k]  # E[Sigma]^-1 (y - m)
        parts, usual = self._by_column(kept, k, deviation[k] * pull, pull)
        total = max(float(distance[k]), np.finfo(float).tiny)
        contributions = [
            Contribution(name, float(value), float(middle), float(part / total))
            for name, value, middle, part in zip(self.kept_columns, kept, usual, parts, strict=True)
        ]
        return Explanation(
            nearest=str(self.classes[self.class_of[k]]),
            distance=float(np.sqrt(distance[k])),
            typical=float(np.sqrt(inner.size)),
            contributions=tuple(sorted(contributions, key=lambda c: -c.share)),
        )

    def _by_column(self, row: FloatArray, k: int, parts: FloatArray, pull: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what each kept column adds to the squared distance, and what is usual there, in the user's units.

        Of a reduced table what the size of the rest adds is shared out among columns as they make that rest.
        """
        usual = self.coordinates.places_outward(self.components.mean[k])
        if self.reduction is None:
            return parts, usual
        usual = self.reduction.places_outward(usual[None])[0]
        within = self.reduction.contributions(row - usual, pull / self.coordinates.unit)
        return within + parts[-1] * self.reduction.rest_by_column(row), usual
