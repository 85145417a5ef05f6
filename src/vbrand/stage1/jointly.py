"""Bent scales of all columns together: what one column gains alone may cost more where it goes along with others."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from vbrand.samples import every_kth
from vbrand.stage1.tuning import TUNED, Stage1Tuning
from vbrand.stage1.warp import Warp
from vbrand.types import BoolArray, FloatArray, IntArray

_TINY = 1e-12


@dataclass(frozen=True)
class _Choice:
    """Deviations of rows from the centres of their classes, each column bent and as it is."""

    bent: FloatArray  # (n, p) in units of the scatter within classes
    straight: FloatArray  # (n, p)
    gain: FloatArray  # (p,) log slopes of the bent columns, in these units, over those of the others, summed over rows
    classes: tuple[slice, ...]  # rows of each
    tuning: Stage1Tuning

    def evidence(self, use: BoolArray) -> float:
        """Return the log likelihood of one Gaussian per class with these columns bent, but for a constant."""
        rows = np.where(use, self.bent, self.straight)
        n, p = rows.shape
        # as in (3.20), (3.22): scatters are drawn to their average
        average = (rows.T @ rows + self.tuning.spherical_rows * np.eye(p)) / (n + self.tuning.spherical_rows)
        squares = np.stack([rows[own].T @ rows[own] for own in self.classes])  # (J, p, p)
        count, alike = np.array([own.stop - own.start for own in self.classes]), self.tuning.mode_alike
        scatters = (squares + alike * average) / (count + alike)[:, None, None]
        # (3.39)  -1/2 n_j (log|S_j| + tr S_j^-1 Q_j / n_j) + log slopes
        traces = np.trace(np.linalg.solve(scatters, squares), axis1=1, axis2=2)
        return float(self.gain[use].sum() - 0.5 * (count * np.linalg.slogdet(scatters)[1] + traces).sum())


def bent_together(rows: FloatArray, member: IntArray, warp: Warp, tuning: Stage1Tuning = TUNED) -> Warp | None:
    """Return the maps that make labelled rows likelier with all columns together; None if there are none."""
    choice = _choice(rows, member, warp, tuning)
    use, best = warp.bent, choice.evidence(warp.bent)
    if best <= choice.evidence(np.zeros_like(use)):
        return None
    while True:
        alone = [(choice.evidence(_turned(use, [j])), j) for j in np.flatnonzero(warp.bent).tolist()]
        better = [j for score, j in sorted(alone, key=lambda pair: -pair[0]) if score > best]
        if not better:
            break
        # the better half at once if that is better still
        tried = [_turned(use, better[: max(1, len(better) // 2)]), _turned(use, better[:1])]
        scores = [choice.evidence(each) for each in tried]
        use, best = tried[int(np.argmax(scores))], max(scores)
    return replace(warp, reach=np.where(use, warp.reach, np.inf), high_reach=np.where(use, warp.high_reach, np.inf))


def _turned(use: BoolArray, columns: list[int]) -> BoolArray:
    """Return which columns are bent if these change."""
    other = use.copy()
    other[columns] = ~use[columns]
    return other


def _choice(rows: FloatArray, member: IntArray, warp: Warp, tuning: Stage1Tuning) -> _Choice:
    """Return both ways to take each column; outermost values count as the others nearest to them, on either scale."""
    own = [np.flatnonzero(member == j) for j in range(int(member.max()) + 1)]
    cut = [_within(rows[each[every_kth(each.size, tuning.rows_for_skew)]], tuning) for each in own]
    edges = np.cumsum([0, *(part.shape[0] for part, _ in cut)])
    classes = tuple(slice(*pair) for pair in pairwise(edges.tolist()))
    values, inside = (np.concatenate(parts) for parts in zip(*cut, strict=True))
    bent, straight = (_deviations(each, classes) for each in (warp.inward(values), values))
    size = [np.sqrt(np.square(each).mean(axis=0)) + _TINY * np.abs(each).max(axis=0) for each in (bent, straight)]
    slope = np.where(inside, np.log(warp.slopes(values)), 0.0).sum(axis=0) / np.maximum(inside.sum(axis=0), 1)
    # values that were cut have no slope of their own: they count as the others do on average
    gain = values.shape[0] * (slope - np.log(size[0]) + np.log(size[1]))
    return _Choice(bent / size[0], straight / size[1], gain, classes, tuning)


def _within(rows: FloatArray, tuning: Stage1Tuning) -> tuple[FloatArray, BoolArray]:
    """Return the rows of a class with outermost values cut, missing ones at the median, and which were neither."""
    ordered = np.sort(rows, axis=0)  # missing cells come last
    cells = (~np.isnan(rows)).sum(axis=0)
    cut = np.minimum(np.ceil(tuning.outermost * cells).astype(int), (cells - 1) // 2).clip(0)
    low, middle, high = (
        np.take_along_axis(ordered, at[None], axis=0)[0] for at in (cut, cells // 2, np.maximum(cells - 1 - cut, 0))
    )
    inside = (rows >= low) & (rows <= high)
    return np.nan_to_num(np.clip(np.where(np.isnan(rows), middle, rows), low, high)), inside


def _deviations(values: FloatArray, classes: tuple[slice, ...]) -> FloatArray:
    return np.concatenate([values[own] - values[own].mean(axis=0) for own in classes])
