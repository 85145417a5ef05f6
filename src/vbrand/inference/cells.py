"""Missing cells and categories in the sampler: cells are drawn together with the component of their row.

The component of a row comes first, by the cells that the row has, and the others follow given that component: one draw
of both. Until the next one the row counts as complete. A level that is missing has no part in anything.
"""

from dataclasses import dataclass

import numpy as np

from vbrand.inference.kernel import Slices
from vbrand.inference.rows import Rows
from vbrand.model.gaps import absent_cells, by_moments, draw_all, expect_all
from vbrand.model.levels import added_up
from vbrand.model.posterior import RowScores
from vbrand.types import FloatArray, IntArray, Labels


@dataclass(frozen=True)
class Absent:
    """Rows with missing cells, in working coordinates, and where these are; all rows where there are categories."""

    places: IntArray  # (m,) of the rows in the table
    rows: FloatArray  # (m, p) NaN where a cell is missing
    first: IntArray  # (m + 1,) where the missing cells of each begin
    columns: IntArray  # (cells,)
    codes: IntArray  # (m, c) levels of categories

    @classmethod
    def of(cls, rows: Rows) -> "Absent | None":
        """Return the rows of a table that have missing cells or categories; None if none has."""
        if not rows.gapped and not rows.levels:
            return None
        working = rows.numbers(slice(None))
        places = np.arange(len(rows)) if rows.levels else np.flatnonzero(np.isnan(working).any(axis=1))
        return cls(places, working[places], *absent_cells(working[places]), rows.codes(places))


def begun(rows: Rows, labels: Labels, components: int) -> FloatArray | None:
    """Return cells to start from, the means of components; None where none is missing."""
    if not rows.gapped:
        return None
    working = rows.numbers(slice(None))
    return by_moments(working, labels.astype(np.int64), components)[0][np.isnan(working)]


def filled(rows: Rows, cells: FloatArray | None) -> Rows:
    """Return rows with these cells where some are missing, row after row."""
    if cells is None:
        return rows
    working = rows.working(slice(None))
    working[np.isnan(working)] = cells
    return Rows.plain(working, rows.levels)


def draw_rows(
    absent: Absent, scores: RowScores, slices: Slices, generator: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return the components of rows with missing cells, (m,), among those that slices allow, and these cells."""
    count, depths = scores.constant.size, slices.depths[absent.places]
    precision = scores.root.transpose(0, 2, 1) @ scores.root  # (K, p, p)
    log_odds = np.full((absent.places.size, count), -np.inf)
    for k in range(count):
        own = np.flatnonzero((depths > k - slices.known) | (k < slices.known))
        if own.size:
            log_odds[own, k] = _observed(_some(absent, own), scores, precision, k)

    if scores.levels is not None:
        # (10.17)  + sum over columns of log theta
        log_odds += added_up(scores.levels, absent.codes)
    # (10.7) with N(y_o | mu_k, Sigma_k), by the largest of log odds with Gumbel noise
    labels = (log_odds - np.log(generator.standard_exponential(log_odds.shape))).argmax(axis=1)
    cells, noise = np.empty(absent.columns.size), generator.standard_normal(absent.columns.size)
    row_of = np.repeat(np.arange(labels.size), np.diff(absent.first))
    for k in np.unique(labels).tolist():
        own, inside = np.flatnonzero(labels == k), labels[row_of] == k
        part = _some(absent, own)
        whole, room = part.rows.copy(), np.empty(precision.shape[1:])
        draw_all(whole, part.first, part.columns, scores.centre[[k]], precision[[k]], noise[inside], room)
        cells[inside] = whole[np.isnan(part.rows)]
    return labels, cells


def _observed(part: Absent, scores: RowScores, precision: FloatArray, k: int) -> FloatArray:
    """Return the scores of rows in a component by the cells that they have, (m,)."""
    whole, log_missing, room = part.rows.copy(), np.empty(part.places.size), np.empty((2, *precision.shape[1:]))
    own = scores.centre[[k]], precision[[k]]
    expect_all(whole, part.first, part.columns, *own, np.empty(0), log_missing, *room)
    distance = np.square((whole - scores.centre[k]) @ scores.root[k].T).sum(axis=1)
    # (10.14)  log N(y_o) = log N(y_o, E[y_m | y_o]) + m/2 log 2 pi - 1/2 log |P_mm|,  P = Sigma^-1
    constant = scores.constant[k] + 0.5 * np.diff(part.first) * np.log(2.0 * np.pi)
    return np.asarray(constant - 0.5 * (distance + log_missing))


def _some(absent: Absent, chosen: IntArray) -> Absent:
    return Absent(absent.places[chosen], absent.rows[chosen], *absent_cells(absent.rows[chosen]), absent.codes[chosen])
