"""Profiles: what the rows of each group usually have in each column, side by side."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.facts.bands import ordered_numbers
from vbrand.facts.explain import Yardstick
from vbrand.facts.groups import Group, GroupKind, some_rows
from vbrand.samples import evenly
from vbrand.types import FloatArray, IntArray

# the most columns that a picture has room for: as names to be read, and as points of a curve
_MOST_NAMES = 40
_MOST_POINTS = 500


@dataclass(frozen=True)
class Profiles:
    """Quartiles of the columns of each group, in the user's units; NaN where a group has no rows."""

    columns: tuple[str, ...]  # the names of those that are drawn
    of: int  # number of columns that could be drawn
    positions: FloatArray | None  # (c,) if the names are ordered numbers, such as wavelengths
    lower: FloatArray  # (groups, c)
    middle: FloatArray  # (groups, c); for a known class without rows, what the model expects
    upper: FloatArray  # (groups, c)
    scaled: FloatArray  # (3, groups, c) lower, middle and upper in robust scales from the middle of the labelled rows

    @property
    def are_spectra(self) -> bool:
        """Return whether columns are positions on an axis, as in a spectrum."""
        return self.positions is not None

    @property
    def axis(self) -> FloatArray:
        """Return where columns are drawn, (c,)."""
        return np.arange(float(len(self.columns))) if self.positions is None else self.positions

    @property
    def drawn(self) -> FloatArray:
        """Return lower, middle and upper as they are drawn: spectra in the user's units, (3, groups, c)."""
        return np.stack([self.lower, self.middle, self.upper]) if self.are_spectra else self.scaled


@dataclass(frozen=True)
class LevelShares:
    """How often the rows of each group have each level of categories: of many levels those that differ most."""

    names: tuple[tuple[str, str], ...]  # (L,) column and level
    of: int  # number of levels that could be drawn
    shares: FloatArray  # (groups, L) of the rows of a group that have a level in the column


def level_shares_of(
    table: Any, clusters: IntArray, groups: tuple[Group, ...], yardstick: Yardstick
) -> LevelShares | None:
    """Return how often groups have each level; None where there are no categories."""
    passage = yardstick.passage
    if not passage.categories:
        return None
    shares = np.array([passage.level_shares(some_rows(table, clusters, k)) for k in range(len(groups))])
    apart = np.ptp(shares[[group.rows > 0 for group in groups]], axis=0)
    there = int((shares > 0.0).any(axis=0).sum())  # a level that no row has ties with those that all have
    chosen = np.sort(np.lexsort((-shares.max(axis=0), -apart))[: min(there, _MOST_NAMES)])
    return LevelShares(tuple(passage.level_names[j] for j in chosen.tolist()), there, shares[:, chosen])


def profiles_of(table: Any, clusters: IntArray, groups: tuple[Group, ...], yardstick: Yardstick) -> Profiles:
    """Return the profiles of the groups; of a wide table only some columns."""
    quartiles = np.full((3, len(groups), int(yardstick.passage.kept.sum())), np.nan)
    for k, group in enumerate(groups):
        if group.rows:
            rows = some_rows(table, clusters, k)[:, yardstick.passage.kept]
            quartiles[:, k] = _quartiles(rows)
        elif group.kind == GroupKind.KNOWN:
            quartiles[1, k] = yardstick.class_centre(k)

    scaled = yardstick.passage.standardised(quartiles)
    names = yardstick.passage.kept_columns
    positions = ordered_numbers(names)
    known = np.array([group.kind == GroupKind.KNOWN for group in groups])
    shown = _telling(scaled[1], known) if positions is None else evenly(len(names), _MOST_POINTS)
    everything = Profiles(names, len(names), positions, quartiles[0], quartiles[1], quartiles[2], scaled)
    return _of_columns(everything, shown)


def _quartiles(rows: FloatArray) -> FloatArray:
    """Return the quartiles of each column over the cells that there are, (3, p); NaN where there is none."""
    if not np.isnan(rows).any():
        return np.asarray(np.quantile(rows, [0.25, 0.5, 0.75], axis=0))
    quartiles, some = np.full((3, rows.shape[1]), np.nan), ~np.isnan(rows).all(axis=0)
    quartiles[:, some] = np.nanquantile(rows[:, some], [0.25, 0.5, 0.75], axis=0)
    return quartiles


def _telling(middle: FloatArray, known: NDArray[np.bool_]) -> IntArray:
    """Return the columns in which novel groups lie farthest from every known class, in the order of the table."""
    p = middle.shape[1]
    if p <= _MOST_NAMES:
        return np.arange(p)
    novel = middle[~known] if (~known).any() else middle[known]
    with np.errstate(invalid="ignore"):
        apart = np.abs(novel[:, None] - middle[known][None])  # (novel, known, p)
    apart = np.where(np.isnan(apart) | (apart == 0.0), np.inf, apart).min(axis=1)
    apart = np.where(np.isinf(apart), 0.0, apart).max(axis=0)
    return np.sort(np.argsort(-apart, kind="stable")[:_MOST_NAMES])


def _of_columns(profiles: Profiles, chosen: IntArray) -> Profiles:
    return replace(
        profiles,
        columns=tuple(profiles.columns[j] for j in chosen.tolist()),
        positions=None if profiles.positions is None else profiles.positions[chosen],
        lower=profiles.lower[:, chosen],
        middle=profiles.middle[:, chosen],
        upper=profiles.upper[:, chosen],
        scaled=profiles.scaled[:, :, chosen],
    )
