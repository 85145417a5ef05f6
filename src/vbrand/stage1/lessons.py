"""What each labelled row taught, so that it can be forgotten again: stage 1 without some rows is an update."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.kernel import statistics_of_labels, sweep
from vbrand.inference.moves import without
from vbrand.inference.rows import FARTHEST, Rows
from vbrand.model.components import Components, posterior_from
from vbrand.model.posterior import Posterior, scores_of
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.model.weights import prior_weights
from vbrand.types import BoolArray, FloatArray, IntArray

# relative gain of the bound below which the ascent of a class's modes ends, and its sweeps at the most: what is asked
# is whether a mode is worth anything, not where it lies
_LOOSE, _SWEEPS = 1e-6, 50


@dataclass(frozen=True)
class Witnesses:
    """Labelled rows that answers are checked against: all of a class, or an even sample where there are many."""

    rows: FloatArray  # (n, p) in working coordinates
    member: IntArray  # (n,) the class of each


@dataclass(frozen=True)
class Lessons:
    """The modes of the known classes as their rows made them, in whitened coordinates."""

    mode_of: IntArray  # (n,) the mode that each labelled row belongs to, -1 for none
    components: Components  # (K,) one per mode
    statistics: Statistics  # (K,) of the rows of each mode
    root: FloatArray  # (p, p) from whitened to working coordinates
    inverse: FloatArray  # (p, p) and back
    sphere: FloatArray | None = None  # (p, p) the average scatter within modes there; None: the identity
    shares: FloatArray | None = None  # (n,) how far each row counts for levels of categories; None: there are none

    def of_rows(self, chosen: IntArray) -> "Lessons":
        """Return the lessons of some of the rows; what the modes are does not change."""
        shares = None if self.shares is None else self.shares[chosen]
        return replace(self, mode_of=self.mode_of[chosen], shares=shares)


@dataclass(frozen=True)
class Taught:
    """What the rows of one mode taught, whichever of them are hidden."""

    own: IntArray  # which rows they are
    alone: Posterior  # the mode by itself
    absent: Statistics  # of its rows that are not at hand, about the mode's origin
    before: Prior  # what is believed of the mode after these


@dataclass(frozen=True)
class Recalled:
    """The lessons of labelled rows that are at hand."""

    white: FloatArray  # (n, p) the rows in whitened coordinates
    modes: tuple[Taught, ...]  # K of them
    vague: Components  # what was believed of a mode before its rows


@contextmanager
def not_too_extreme() -> Iterator[None]:
    """Say what to do where labelled rows lead to no scatter."""
    try:
        yield
    except np.linalg.LinAlgError:
        raise ValueError(
            "the labelled rows are too extreme to check against, or do not fit what was learned from them. "
            "Look for outliers among them and fit again, or turn the check off (check=0)."
        ) from None


def recalled(lessons: Lessons, rows: FloatArray, vague: Components) -> Recalled:
    """Return what rows, (n, p) in working coordinates, taught; `vague` is what was believed of a mode before."""
    # with missing cells coordinates are the working ones
    white = np.clip(rows if lessons.sphere is not None else rows @ lessons.inverse.T, -FARTHEST, FARTHEST)
    modes = tuple(_taught(lessons, white, vague, k) for k in range(lessons.components.dof.size))
    return Recalled(white, modes, vague)


def _taught(lessons: Lessons, white: FloatArray, vague: Components, k: int) -> Taught:
    mode, own = np.array([k]), np.flatnonzero(lessons.mode_of == k)
    absent = lessons.statistics.reordered(mode)
    alone = Posterior(lessons.components.reordered(mode), prior_weights(np.ones(1), 1.0, 1))
    if own.size > 0:
        at_hand = sweep(Rows.plain(white[own]), scores_of(alone), None, 1).statistics
        # (5.3)  N, R, s and Q of all rows are the sums of those of parts of them; some may not be at hand
        absent = absent + at_hand.about(absent.origin).scaled(-1.0)
    if absent.counts[0] < 0.5:
        # an ascent ends a step before its weights are those of its scatter: that step is nothing that a row taught
        absent = absent.scaled(0.0)
    return Taught(own, alone, absent, Prior(posterior_from(vague, absent), alone.weights, np.zeros(0, dtype=np.int64)))


def bare(rows: Recalled, hidden: BoolArray) -> BoolArray:
    """Return which modes have no number left without the hidden ones of their rows, (K,)."""
    counts = ~hidden & ~np.isnan(rows.white).all(axis=1)  # a row may have categories only
    return np.array([mode.absent.counts[0] < 0.5 and not counts[mode.own].any() for mode in rows.modes])


def forgotten(lessons: Lessons, rows: Recalled, hidden: BoolArray) -> Statistics:
    """Return the statistics of the modes without the hidden ones of their rows, (n,).

    In heavy tails the weights of all rows at hand follow: a scatter that keeps the weights which hidden rows made would
    know half of what they taught.
    """
    statistics = lessons.statistics
    parts = {name: getattr(statistics, name).copy() for name in ("counts", "weights", "sums", "squares")}
    for k in np.unique(lessons.mode_of[hidden & (lessons.mode_of >= 0)]).tolist():
        mode = rows.modes[k]
        left = Rows.plain(rows.white[mode.own[~hidden[mode.own]]])
        found = ascend(left, mode.before, mode.alone, winners=np.zeros(len(left), dtype=np.int32)).statistics
        found = found.about(mode.absent.origin) + mode.absent
        for name, part in parts.items():
            part[k] = getattr(found, name)[0]
    return Statistics(origin=statistics.origin, evidence=0.0, **parts)


def needless(lessons: Lessons, rows: Recalled, hidden: BoolArray, class_of: IntArray) -> IntArray:
    """Return the modes that labelled rows would not have made without the hidden ones, (n,).

    A hidden row falls into a mode that it helped to make more often than an unlabelled row of its class does.
    `class_of` are the classes of the modes, (K,). A class of which some rows are not at hand keeps its modes: it has
    many.
    """
    gone = list[int]()
    for j in np.unique(class_of).tolist():
        modes = np.flatnonzero(class_of == j)
        own = np.isin(lessons.mode_of, modes)
        tried, shown = np.unique(lessons.mode_of[own & hidden]), own & ~hidden
        at_hand = all(rows.modes[k].absent.counts[0] < 0.5 for k in modes.tolist())
        if at_hand and tried.size and np.unique(lessons.mode_of[shown]).size > 1:
            gone += _needless_of_class(rows.white[shown], lessons.mode_of[shown], tried, rows.vague)
    return np.array(gone, dtype=np.int64)


def _needless_of_class(white: FloatArray, mode_of: IntArray, tried: IntArray, vague: Components) -> list[int]:
    """Return those of the tried modes that some rows of their class, (n, p), would not have made."""
    modes, home, sizes = np.unique(mode_of, return_inverse=True, return_counts=True)
    plain, left, gone = Rows.plain(np.ascontiguousarray(white)), modes.tolist(), list[int]()

    def climb(start: Statistics, winners: NDArray[np.int32]) -> Ascent:
        count = start.counts.size
        alike = vague.reordered(np.zeros(count, dtype=np.int64))
        prior = Prior(alike, prior_weights(np.ones(1), 1.0, count), np.zeros(0, dtype=np.int64))
        return ascend(plain, prior, start, winners=winners, tol=_LOOSE, max_iter=_SWEEPS, sort=False)

    found = climb(statistics_of_labels(plain, home, modes.size), home.astype(np.int32))
    smallest_first = modes[np.argsort(sizes, kind="stable")]
    for k in smallest_first[np.isin(smallest_first, tried)].tolist():
        if len(left) == 1:
            break
        fewer = climb(*without(found.statistics, found.winners, [left.index(k)]))
        # (3.40)  a mode goes if the bound of the rows of its class that are not hidden is higher without it
        if fewer.bound.total > found.bound.total:
            found = fewer
            left.remove(k)
            gone.append(k)
    return gone
