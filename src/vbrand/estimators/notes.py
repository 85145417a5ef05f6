"""What was done to a table, in sentences: columns reduced, rounded, rows that are copies, modes of classes."""

import numpy as np

from vbrand.estimators.fitted import Learned
from vbrand.estimators.gaps import notes_on_cells
from vbrand.facts.groups import plural
from vbrand.io.tables.likeness import Given
from vbrand.model.prior import Prior

# labelled rows of a class: with fewer, half of the novel rows are missed or known ones called novel (docs/few.md)
_FEW = 10
# classes that a sentence names
_NAMED = 5


def notes_on(learned: Learned, prior: Prior, pieces: list[int], table: Given, again: bool = False) -> tuple[str, ...]:
    """Return what was done to labelled rows and to a table.

    `pieces` are classes that novel components belong to; `again`: rows look like replicates.
    """
    notes, classes, reduction = list[str](), learned.classes, learned.passage.reduction
    if reduction is not None:
        notes.append(
            f"{reduction.axes.shape[1]} columns were reduced to {reduction.axes.shape[0]} principal "
            "components and the size of what they leave over."
        )

    bent = learned.passage.bent_columns
    if bent:
        named = ", ".join(bent[:_NAMED]) + (f" and {len(bent) - _NAMED} more" if len(bent) > _NAMED else "")
        notes.append(f"skewed columns, measured on a scale that is bent as a logarithm is: {named}.")
    coarse = learned.passage.coarse_columns
    if coarse:
        notes.append(f"rounded columns: {', '.join(coarse)}. No group is taken to be thinner than that.")
    notes += [*learned.notes, *table.notes, *notes_on_cells(table.rows, learned.passage), *_guesses(learned)]

    if again:
        notes.append(
            "many rows are nearer to others than chance puts them. If they are replicates of one sample, name the "
            "samples (groups=, --replicate COLUMN): each would count once, and fewer known rows be called novel."
        )

    modes = np.bincount(prior.class_of[prior.class_of >= 0])
    if (modes > 1).any():
        several = ", ".join(f"{classes[j]!s} ({modes[j]})" for j in np.flatnonzero(modes > 1))
        notes.append(f"known classes with several modes: {several}.")
    if pieces:
        several = ", ".join(f"{classes[j]!s} ({pieces.count(j)})" for j in dict.fromkeys(sorted(pieces)))
        notes.append(f"components that were taken for pieces of known classes: {several}.")

    if learned.passage.kept.any():
        notes.append(f"tails: {prior.components.kernels[0].sentence}")
    return tuple(notes)


def _guesses(learned: Learned) -> list[str]:
    """Return which classes have so few labelled rows that what is near them is a guess."""
    _, known = learned.views[0]
    columns = int(learned.passage.kept.sum())
    rows = np.bincount(known.class_of, known.rows, learned.labelled_classes).astype(np.int64)
    # a class is described by its place and its scatter: p + p (p + 1) / 2 numbers
    few = np.flatnonzero((rows < _FEW) & (rows <= columns * (columns + 3) // 2))
    notes = list[str]()
    for count in np.unique(rows[few]).tolist():
        names = [f"'{learned.classes[j]!s}'" for j in few[rows[few] == count].tolist()]
        listed = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        notes.append(
            f"{count} labelled rows for {plural(columns, 'column', 'columns')}: what is near {listed} is a guess."
        )
    return notes
