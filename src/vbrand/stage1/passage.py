"""The way from the user's table to working coordinates and back: columns are kept, bent, reduced, centred, scaled."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.rows import Rows, Source
from vbrand.io.tables.categories import OTHER_LEVEL, Category
from vbrand.stage1.classes import KnownClasses
from vbrand.stage1.coordinates import Coordinates
from vbrand.stage1.reduction import Reduction
from vbrand.stage1.warp import Warp
from vbrand.types import BoolArray, FloatArray

# of a column's robust scale: a coarser step is worth a sentence
_COARSE = 0.1
# of a column's robust scale, too: steps so long leave it two or three levels
_LEVELS = 2.0


def column_means(rows: FloatArray) -> FloatArray:
    """Return the mean of each column over the cells that there are, NaN where there is none."""
    if not np.isnan(rows).any():
        return np.asarray(rows.mean(axis=0))
    cells = (~np.isnan(rows)).sum(axis=0)
    return np.asarray(np.where(cells > 0, np.nansum(rows, axis=0) / np.maximum(cells, 1), np.nan))


@dataclass(frozen=True)
class Passage:
    """Both directions between a table of p columns and the q working coordinates of the model."""

    names: tuple[str, ...] | None  # (p,) of the table's columns; None where they have none
    kept: BoolArray  # (p,) columns that vary among the labelled rows
    reduction: Reduction | None  # of a wide table
    coordinates: Coordinates  # of q columns: the kept ones, or what they were reduced to
    categories: tuple[Category, ...] = ()  # columns of categories, which come after those q
    warp: Warp | None = None  # of the kept columns, where classes are skewed within some; None: in none

    @property
    def columns(self) -> tuple[str, ...]:
        """Return what the columns are called: names, or numbers counted from 0."""
        return tuple(map(str, range(self.kept.size))) if self.names is None else self.names

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """Return the kept columns as a sentence names them."""
        spoken = self.columns if self.names is not None else [f"column {name}" for name in self.columns]
        return tuple(name for name, keep in zip(spoken, self.kept, strict=True) if keep)

    @property
    def working_columns(self) -> tuple[str, ...]:
        """Return names of the columns that the model works on."""
        if self.reduction is not None:
            return (*(f"component {i + 1}" for i in range(self.reduction.axes.shape[0])), "left over")
        return tuple(name for name, keep in zip(self.columns, self.kept, strict=True) if keep)

    @property
    def bent_columns(self) -> tuple[str, ...]:
        """Return the columns whose scale is bent, as a sentence names them."""
        if self.warp is None:
            return ()
        return tuple(name for name, bent in zip(self.kept_columns, self.warp.bent, strict=True) if bent)

    @property
    def coarse_columns(self) -> tuple[str, ...]:
        """Return the columns whose rounding matters, with their steps, as a sentence names them."""
        step, unit = self.coordinates.step, self.coordinates.unit
        if step is None or self.reduction is not None:
            return ()
        matters, step = (step > _COARSE * unit) & (self.steps > 0.0), self.steps
        return tuple(
            f"{name} to {size:.6g}"
            for name, size, spoken in zip(self.kept_columns, step.tolist(), matters.tolist(), strict=True)
            if spoken
        )

    @property
    def log_volume(self) -> float:
        """Return log |dz/dy| where scales are not bent: what a log density gains on the way to the user's units."""
        return self.coordinates.log_volume

    def log_volumes(self, rows: Rows) -> FloatArray:
        """Return log |dz/dy| of rows of this passage, (n,): less where cells are missing."""
        q, volume = rows.columns, np.full(len(rows), self.log_volume)
        for block in rows.blocks():
            if rows.gapped and np.isnan(cells := rows.table[block][:, :q]).any():
                volume[block] = self.coordinates.log_volumes(cells)
            if self.warp is not None and self.reduction is None:
                volume[block] += self.warp.log_slopes(self.outward(rows.working(block)[:, :q]))
        return volume

    @property
    def level_sizes(self) -> tuple[int, ...]:
        """Return the numbers of levels of the columns of categories."""
        return tuple(one.size for one in self.categories)

    @property
    def level_names(self) -> tuple[tuple[str, str], ...]:
        """Return column and level of all levels of categories, one column after the other, (L, 2)."""
        return tuple(
            (self.columns[one.column], level) for one in self.categories for level in (*one.levels, OTHER_LEVEL)
        )

    def level_shares(self, table: NDArray[Any]) -> FloatArray | None:
        """Return the share of rows of a table with each level, among those that have one, (L,); None: no categories."""
        if not self.categories:
            return None
        parts = list[FloatArray]()
        for one in self.categories:
            column = table[:, one.column]
            there = column[~np.isnan(column)].astype(np.int64)
            parts.append(np.bincount(there, minlength=one.size) / max(there.size, 1))
        return np.concatenate(parts)

    @property
    def used(self) -> BoolArray:
        """Return which columns have a part in answers, (p,): the kept ones and the categories."""
        used = self.kept.copy()
        used[[one.column for one in self.categories]] = True
        return used

    def rows(self, table: NDArray[Any] | Source) -> Rows:
        """Return the rows of a table as the model sees them; no copy of numbers that are as they were."""
        if isinstance(table, np.ndarray):
            return self.coordinates.view(self._as_modelled(table), self.level_sizes)
        whole = self.reduction is None and self.warp is None and self.kept.all()
        return self.coordinates.view(table if whole else table.mapped(self._as_modelled), self.level_sizes)

    def reaching(self, scatters: FloatArray) -> "Passage":
        """Return a passage whose coordinates end where squares would swallow the least of these scatters, (K, q, q)."""
        return replace(self, coordinates=self.coordinates.reaching(scatters))

    def working(self, table: NDArray[Any]) -> FloatArray:
        """Return rows of a table in working coordinates, however far out."""
        return self.with_levels(self.coordinates.inward(self._measured(table).astype(np.float64)), table)

    def middle(self, table: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean of some rows: in the kept columns, and in working coordinates."""
        kept = self._bent(table[:, self.kept])
        mean = column_means(kept)
        measured = mean if self.reduction is None else self.reduction.inward(kept).mean(axis=0)
        measured = measured if self.kept.any() else np.zeros(1)
        return self._straight(mean), self.coordinates.inward(measured)

    def outward(self, points: FloatArray) -> FloatArray:
        """Return points of working coordinates, (n, q), in the kept columns and the user's units."""
        if not self.kept.any():
            return points[:, :0]
        measured = self.coordinates.outward(points)
        return self._straight(measured if self.reduction is None else self.reduction.outward(measured))

    def classes_outward(self, known: KnownClasses) -> KnownClasses:
        """Return known classes in the user's units; of a reduced table what its components can show.

        Where a scale is bent, scatters are those that it has about the centres.
        """
        measured = self.coordinates.classes_outward(known)
        measured = measured if self.reduction is None else self.reduction.classes_outward(measured)
        if self.warp is None:
            return measured
        centres = self.warp.outward(measured.centres)
        slopes, slope = self.warp.slopes(centres), self.warp.slopes(centres.mean(axis=0))
        return replace(
            measured,
            centres=centres,
            scatters=measured.scatters / (slopes[:, :, None] * slopes[:, None, :]),
            average=measured.average / np.outer(slope, slope),
        )

    def standardised(self, values: FloatArray) -> FloatArray:
        """Return values of the kept columns in robust scales from the middle of the labelled rows, column by column."""
        own = self.coordinates if self.reduction is None else self.reduction
        return np.asarray((self._bent(values) - own.centre) / own.unit)

    def by_column(self, kept: FloatArray, usual: FloatArray, parts: FloatArray, pull: FloatArray) -> FloatArray:
        """Return what each kept column adds to a squared distance, given what each working column adds.

        `kept` is a row and `usual` the centre that its distance is from, in the kept columns; `pull` is the gradient of
        half the squared distance in working coordinates. What the size of the rest adds to the distance of a reduced
        row is shared out among columns as they make that rest.
        """
        if self.reduction is None:
            return parts
        kept, usual = self._bent(kept), self._bent(usual)
        within = self.reduction.contributions(kept - usual, pull / self.coordinates.unit)
        return np.asarray(within + parts[-1] * self.reduction.rest_by_column(kept))

    def pieces(self, kept: FloatArray, usual: FloatArray, deviation: FloatArray) -> FloatArray:
        """Return the part of a deviation in working coordinates, (q,), that each kept column makes, (p, q)."""
        if self.reduction is None:
            return np.diag(deviation)
        apart = (self._bent(kept) - self._bent(usual)) / self.reduction.unit
        scores = apart[:, None] * self.reduction.axes.T  # (p, q - 1)
        return np.column_stack([scores / self.coordinates.unit[:-1], np.zeros(kept.size)])

    @property
    def steps(self) -> FloatArray:
        """Return what the kept columns are rounded to, 0 where nothing is known of it, (p,).

        Of columns with hardly more than two levels, such as absent and present, each is what it is: none was rounded.
        """
        step = self.coordinates.step if self.warp is None else self.warp.step
        if step is None or self.reduction is not None:
            return np.zeros(int(self.kept.sum()))
        return step if self.warp is not None else np.where(step >= _LEVELS * self.coordinates.unit, 0.0, step)

    def with_levels(self, numbers: NDArray[Any], table: NDArray[Any]) -> NDArray[Any]:
        """Return numbers of rows, and after them their levels, -1 for a missing one."""
        if not self.categories:
            return numbers
        codes = table[:, [one.column for one in self.categories]]
        return np.column_stack([numbers, np.where(np.isnan(codes), -1.0, codes)])

    def _as_modelled(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return rows as the model sees them, but for units."""
        return self.with_levels(self._measured(table), table)

    def _measured(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return the columns that coordinates are of."""
        if not self.kept.any():
            return np.zeros((table.shape[0], 1))
        kept = self._bent(table if self.kept.all() else table[:, self.kept])
        return kept if self.reduction is None else self.reduction.inward(kept)

    def _bent(self, kept: NDArray[Any]) -> NDArray[Any]:
        """Return kept columns on the scales that the model measures them by: the one place where rows are mapped."""
        return kept if self.warp is None else self.warp.inward(kept)

    def _straight(self, bent: FloatArray) -> FloatArray:
        """Return kept columns in the user's units."""
        return bent if self.warp is None else self.warp.outward(bent)
