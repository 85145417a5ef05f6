"""Why a row, or a group, is novel: how far it lies from the nearest known class, and in which columns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from vbrand.facts.bands import columns_together, ordered_numbers
from vbrand.model.components import Components
from vbrand.model.gaps import expected
from vbrand.model.levels import codes_of, one_hot
from vbrand.stage1.passage import Passage
from vbrand.types import FloatArray, IntArray

_SHOWN = 5
# columns that are named beside the first of those that go together
_NAMED = 3
DOUBT = "; no farther than those: it differs in spread or shape, or is not novel"
ROUNDING = "; most of it is less than a rounding step: it may be made by rounding alone"
# a level stands out if it has twice its usual share, and so much more of the rows
_MORE = 0.1
# standard deviations that a row with a level lies on the map from one without it
_APART = 2.0
# a column with a smaller share is named only if it has at least half the share of the first
_SMALL_SHARE = 0.05


@dataclass(frozen=True)
class Contribution:
    """What one column, or several that go together, add to the squared distance from a known class."""

    column: str  # of a band of neighbours the first and the last, and their mean values
    value: float  # of the row
    usual: float  # of the class
    share: float  # of the squared distance; shares sum to one; negative if the column brings the row nearer
    others: tuple[str, ...] = ()  # columns that go with it, and that the share is of, too
    within_rounding: bool = False  # whether it differs by less than it is rounded to


@dataclass(frozen=True)
class LevelShare:
    """A level that a group, or a row, has far more often than the class nearest to it."""

    column: str
    level: str
    share: float  # of the rows; 1 of a single one
    usual: float  # of those of the class

    def __str__(self) -> str:
        """Return it in words."""
        often = "" if self.share == 1.0 else f" in {self.share:.0%}"
        return f"{self.column}: {self.level}{often}, {self.usual:.0%} in its nearest class"


@dataclass(frozen=True)
class Explanation:
    """The nearest known class, how far away it is, and the columns that make the distance, the largest share first."""

    nearest: str
    distance: float  # in standard deviations of the class
    typical: float  # the distance of its own rows: the square root of the number of columns
    contributions: tuple[Contribution, ...]
    absent: int = 0  # columns without a value: they have no part in it
    levels: tuple[LevelShare, ...] = ()  # of columns of categories, those that stand out

    @property
    def is_doubtful(self) -> bool:
        """Return whether the row or group is no farther from the class than its rows are, nor of other levels."""
        return self.distance <= self.typical and not self.levels

    @property
    def is_rounding(self) -> bool:
        """Return whether columns that differ by less than a rounding step make most of the distance."""
        return not self.levels and sum(part.share for part in self.contributions if part.within_rounding) > 0.5

    def __str__(self) -> str:
        """Return a sentence and the columns with their shares of the squared distance; none if rounding may make it."""
        head = f"nearest known class: {self.nearest}"
        if self.typical:
            head += f", {self.distance:.1f} standard deviations away"
        if self.absent:
            head += f" ({self.absent} of the columns {'is' if self.absent == 1 else 'are'} empty)"
        doubt = DOUBT if self.is_doubtful else ROUNDING if self.is_rounding else ""
        lines = [f"{head} (its own rows: about {self.typical:.1f}{doubt})" if self.typical else f"{head}{doubt}"]
        lines += [f"  {level}" for level in self.levels[:_SHOWN]]
        near = self.is_rounding or (bool(self.levels) and self.distance <= self.typical)
        shown = () if near else self.contributions[:_SHOWN]
        lines += [
            f"  {c.column}: {c.value:.4g}, {'higher' if c.value > c.usual else 'lower'} than its {c.usual:.4g}"
            f"{_together(c.others)} ({c.share:.0%} of the distance)"
            for c in shown
            if c.share >= min(_SMALL_SHARE, 0.5 * self.contributions[0].share)
        ]
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True)
class Yardstick:
    """The known components, and the way to the coordinates in which distances from them are measured."""

    components: Components  # the known ones, in working coordinates
    class_of: IntArray
    classes: NDArray[Any]
    passage: Passage

    def whitened(self, rows: NDArray[Any]) -> FloatArray:
        """Return rows in coordinates in which the average scatter of the known components is the identity."""
        return self.whitened_working(self.passage.working(rows))

    def whitened_working(self, rows: FloatArray) -> FloatArray:
        """Return the same of rows in working coordinates."""
        p, levels = self.components.columns, self.components.levels
        if levels is not None:
            points = _APART * one_hot(codes_of(rows[:, p:], levels.sizes), sum(levels.sizes))
            numbers = replace(self, components=replace(self.components, levels=None))
            return np.column_stack([numbers.whitened_working(rows[:, :p]), points])
        average = self.components.expected_scatter.mean(axis=0)
        if np.isnan(rows).any():  # where they are most likely, with what known classes lead to expect
            rows = expected(rows, self.components.mean.mean(axis=0), np.linalg.inv(average))[0]
        root = np.linalg.cholesky(average)
        return np.asarray(linalg.solve_triangular(root, rows.T, lower=True).T)

    def class_centre(self, j: int) -> FloatArray:
        """Return where the model expects a known class in the kept columns, in the user's units."""
        own = self.class_of == j
        centre = np.average(self.components.mean[own], axis=0, weights=self.components.dof[own])[None]
        return np.asarray(self.passage.outward(centre)[0])

    def explain(self, rows: FloatArray) -> Explanation:
        """Return the explanation of a row, or of the middle of several, given in the user's units, (n, p)."""
        return self._explained(*self.passage.middle(rows), self.passage.level_shares(rows))

    def explain_place(self, working: FloatArray) -> Explanation:
        """Return the explanation of a place in working coordinates, (q,)."""
        return self._explained(self.passage.outward(working[None])[0], working, None)

    def _explained(self, kept: FloatArray, working: FloatArray, seen: FloatArray | None) -> Explanation:
        """Return the explanation of a place; `seen` are shares of rows with each level of categories, (L,)."""
        farthest = self.passage.coordinates.farthest
        deviation = np.clip(working, -farthest, farthest) - self.components.mean  # (K, q)
        if np.isnan(working).any():  # filled in so, a distance is that of the other columns, and they alone make it
            deviation = np.stack([self._filled(one, k) for k, one in enumerate(deviation)])
        divisor = self.components.divisor
        unit = np.einsum("kij,kj->ki", self.components.inverse_factor, deviation) * np.sqrt(divisor)[:, None]
        distance = np.square(unit).sum(axis=1)  # (y - m)' E[Sigma]^-1 (y - m)
        k = int((distance + self._apart(seen)).argmin())

        pull = np.sqrt(divisor[k]) * unit[k] @ self.components.inverse_factor[k]  # E[Sigma]^-1 (y - m)
        usual = self.passage.outward(self.components.mean[k][None])[0]
        parts = self.passage.by_column(kept, usual, deviation[k] * pull, pull)
        total = max(float(distance[k]), np.finfo(float).tiny)
        pieces = self.passage.pieces(kept, usual, deviation[k])
        root = self.components.inverse_factor[k] * np.sqrt(divisor[k])  # root' root = E[Sigma]^-1
        numbers = self.passage.kept.any()
        contributions = self._contributions(kept, usual, parts / total, pieces, root.T @ root) if numbers else []
        return Explanation(
            nearest=str(self.classes[self.class_of[k]]),
            distance=float(np.sqrt(distance[k])),
            typical=float(np.sqrt((~np.isnan(working)).sum())) if numbers else 0.0,
            contributions=tuple(sorted(contributions, key=lambda c: -c.share)),
            absent=int(np.isnan(kept).sum()),
            levels=self._standing_out(seen, k),
        )

    def _apart(self, seen: FloatArray | None) -> FloatArray:
        """Return by how much shares of levels differ from those of each known component, as squared distances, (K,)."""
        levels = self.components.levels
        if levels is None or seen is None:
            return np.zeros(self.components.dof.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(seen > 0.0, seen * (np.log(seen) - np.log(levels.counts / levels.totals)), 0.0)
        return np.asarray(2.0 * each.sum(axis=1))

    def _standing_out(self, seen: FloatArray | None, k: int) -> tuple[LevelShare, ...]:
        """Return the levels that are seen far more often than in component k, those first that differ most."""
        levels = self.components.levels
        if levels is None or seen is None:
            return ()
        usual = (levels.counts / levels.totals)[k]
        found = [
            LevelShare(*name, float(seen[j]), float(usual[j]))
            for j, name in enumerate(self.passage.level_names)
            if seen[j] >= usual[j] + _MORE and seen[j] >= 2.0 * usual[j]
        ]
        return tuple(sorted(found, key=lambda level: level.usual - level.share))

    def _filled(self, deviation: FloatArray, k: int) -> FloatArray:
        inverse = self.components.inverse_factor[k]
        return np.asarray(expected(deviation[None], np.zeros(deviation.size), inverse.T @ inverse)[0][0])

    def _contributions(
        self, kept: FloatArray, usual: FloatArray, shares: FloatArray, pieces: FloatArray, precision: FloatArray
    ) -> list[Contribution]:
        """Return what columns add, those together that go together."""
        names, steps = self.passage.kept_columns, self.passage.steps
        ordered = ordered_numbers(names) is not None
        found = list[Contribution]()
        for together in columns_together(shares, np.nan_to_num(pieces), precision, ordered=ordered):
            group = [j for j in together if not np.isnan(kept[j])]
            if not group:
                continue
            share = float(shares[group].sum())
            fine = bool((np.abs(kept - usual) < steps)[group].all())
            if ordered and len(group) > 1:
                band = f"{names[group[0]]} to {names[group[-1]]}"
                found.append(Contribution(band, float(kept[group].mean()), float(usual[group].mean()), share, (), fine))
            else:
                first, *others = sorted(group, key=lambda j: -shares[j])
                also = tuple(names[j] for j in others)
                found.append(Contribution(names[first], float(kept[first]), float(usual[first]), share, also, fine))
        return found


def _together(others: tuple[str, ...]) -> str:
    """Return which columns go with one, in words."""
    if not others:
        return ""
    more = "" if len(others) <= _NAMED else f" and {len(others) - _NAMED} more"
    return f", together with {', '.join(others[:_NAMED])}{more}"
