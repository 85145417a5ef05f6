"""Rows that count: copies, and replicates of one sample, are no evidence of their own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.facts.groups import plural
from vbrand.io.tables.categories import Categories
from vbrand.io.tables.labels import read_samples
from vbrand.io.tables.likeness import Given, Likeness
from vbrand.robust.copies import Repeats, fingerprints, repeats_of
from vbrand.robust.replicates import first_of_samples, replicates_of
from vbrand.stage1.classes import FEWEST_ROWS
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class LabelledRows:
    """Labelled rows without copies, samples by the mean of their replicates."""

    rows: NDArray[Any]  # (n, p)
    labels: NDArray[Any]  # (n,)
    prints: IntArray  # of all of them, by which copies are known
    notes: tuple[str, ...]
    replicates: int = 0  # other rows of its sample that a row had, where nobody named samples


def samples_of(groups: Any, rows: int) -> IntArray | None:
    """Return the sample that each row is of, by numbers; None where `groups` names none."""
    return None if groups is None else read_samples(groups, rows)


def labelled_rows(
    table: NDArray[Any], labels: NDArray[Any], samples: IntArray | None, coded: Categories = ()
) -> LabelledRows:
    """Return the labelled rows that count; `coded` are columns of categories."""
    classes, member = np.unique(labels, return_inverse=True)
    rows, first = _averaged(table, samples, coded)
    if samples is not None:
        _check_one_class(samples, first, member, classes)

    # equal rows of different classes are no copies: the class is one more column
    repeats = repeats_of(np.column_stack([rows[first], member[first]]))
    counted = first if repeats is None else first[repeats.counted]
    if repeats is not None:
        _check_left(classes, member[first], member[counted])
    prints = fingerprints(rows[first]).view(np.int64)
    notes = _notes("labelled row", table.shape[0], first.size, repeats)

    if samples is not None:
        return LabelledRows(rows[counted], labels[counted], prints, notes)

    numbers, own = _numbers(rows[counted], coded), member[counted]
    replicates = replicates_of(numbers, own)
    found = first_of_samples(numbers, own, replicates) if replicates else np.arange(counted.size)
    if np.bincount(own[found]).min() < FEWEST_ROWS:
        return LabelledRows(rows[counted], labels[counted], prints, notes)
    notes += _note_on_samples("labelled rows", counted.size, found.size)
    counted = counted[found]
    return LabelledRows(rows[counted], labels[counted], prints, notes, replicates)


def given_rows(
    table: NDArray[Any],
    likeness: Likeness,
    samples: IntArray | None,
    labelled: IntArray | None,
    coded: Categories = (),
    replicates: int = 0,
) -> Given:
    """Return the rows of a table to discover, and which of them count.

    `labelled` are the fingerprints of labelled rows: copies of those do not. `coded` are columns of categories. Where
    labelled rows had so many `replicates` each, those of a sample count once here, too.
    """
    rows, first = _averaged(table, samples, coded)
    whole = first.size == rows.shape[0]
    repeats = repeats_of(rows if whole else rows[first], None if labelled is None else labelled.view(np.uint64))
    counted = first if repeats is None else first[repeats.counted]
    notes = _notes("row", rows.shape[0], first.size, repeats)

    if replicates and samples is None:
        found = first_of_samples(_numbers(rows[counted], coded), np.zeros_like(counted), replicates)
        notes += _note_on_samples("rows", counted.size, found.size)
        counted = counted[found]
    return Given(rows, likeness, None if counted.size == rows.shape[0] else counted, notes)


def _numbers(rows: NDArray[Any], coded: Categories) -> FloatArray:
    """Return the columns that are no categories, as numbers."""
    return np.delete(rows.astype(np.float64), [one.column for one in coded], axis=1)


def _note_on_samples(what: str, rows: int, samples: int) -> tuple[str, ...]:
    if samples == rows:
        return ()
    told = f"{rows:,} {what} look like measurements of {samples:,} samples: each sample counts once."
    return (f"{told} If that is wrong, name the samples (groups=, --replicate COLUMN).",)


def _averaged(table: NDArray[Any], samples: IntArray | None, coded: Categories) -> tuple[NDArray[Any], IntArray]:
    """Return the table with the mean of its sample for each row, and the first row of each sample.

    In columns of categories it is the commonest level.
    """
    if samples is None:
        return table, np.arange(table.shape[0])
    _, first, number = np.unique(samples, return_index=True, return_inverse=True)
    means = np.stack([_means(number, column) for column in table.T], axis=1)
    for one in coded:
        means[:, one.column] = _commonest(number, table[:, one.column], one.size)
    return means[number], np.sort(first)


def _means(number: IntArray, column: NDArray[Any]) -> FloatArray:
    """Return the mean of each sample in a column, over the cells that there are."""
    if not np.isnan(column).any():
        return np.asarray(np.bincount(number, column) / np.bincount(number))
    here = ~np.isnan(column)
    cells = np.bincount(number[here], minlength=int(number.max()) + 1)
    sums = np.bincount(number[here], column[here], int(number.max()) + 1)
    return np.where(cells > 0, sums / np.maximum(cells, 1), np.nan)


def _commonest(number: IntArray, column: NDArray[Any], levels: int) -> FloatArray:
    """Return the level that most rows of each sample have, NaN where none has any."""
    here, samples = ~np.isnan(column), int(number.max()) + 1
    at = number[here] * levels + column[here].astype(np.int64)
    counts = np.bincount(at, minlength=samples * levels).reshape(samples, levels)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), np.nan)


def _check_one_class(samples: IntArray, first: IntArray, member: IntArray, classes: NDArray[Any]) -> None:
    """Refuse samples of two classes."""
    own = np.empty(int(samples.max()) + 1, dtype=np.int64)
    own[samples[first]] = member[first]
    other = np.flatnonzero(own[samples] != member)
    if other.size:
        row = int(other[0])
        raise ValueError(
            f"rows of one sample (groups) have two labels, {classes[own[samples[row]]]!s} and "
            f"{classes[member[row]]!s}. Give each sample one label."
        )


def _check_left(classes: NDArray[Any], before: IntArray, after: IntArray) -> None:
    """Refuse a class that has rows enough only with its copies."""
    sizes, left = (np.bincount(member, minlength=classes.size) for member in (before, after))
    for j in np.flatnonzero((left < FEWEST_ROWS) & (sizes >= FEWEST_ROWS)).tolist():
        raise ValueError(
            f"class {classes[j]!s} has {sizes[j]} rows, but only {left[j]} different ones; a robust scatter needs at "
            f"least {FEWEST_ROWS}. Merge it with another class, or leave its rows unlabelled."
        )


def _notes(what: str, rows: int, samples: int, repeats: Repeats | None) -> tuple[str, ...]:
    """Return what is to be said of rows that do not count."""
    notes = list[str]()
    if samples < rows:
        named = plural(samples, "sample", "samples")
        notes.append(f"{plural(rows, what, f'{what}s')} of {named}: each counts once, by the mean of its rows.")
    if repeats is not None and repeats.twice:
        notes.append(f"{plural(repeats.twice, f'{what} is a copy', f'{what}s are copies')} of others: they count once.")
    if repeats is not None and repeats.labelled:
        copies = plural(repeats.labelled, f"{what} is a copy of a labelled one", f"{what}s are copies of labelled ones")
        notes.append(f"{copies}, which count already.")
    return tuple(notes)
