"""What was done to a table, in sentences: columns reduced, rounded, rows that are copies, modes of classes."""

import numpy as np

from vbrand.estimators.fitted import Learned
from vbrand.io.tables.likeness import Given
from vbrand.model.prior import Prior


def notes_on(learned: Learned, prior: Prior, pieces: list[int], table: Given) -> tuple[str, ...]:
    """Return what was done to labelled rows and to a table; `pieces` are classes that novel components belong to."""
    notes, classes, reduction = list[str](), learned.classes, learned.passage.reduction
    if reduction is not None:
        notes.append(
            f"{reduction.axes.shape[1]} columns were reduced to {reduction.axes.shape[0]} principal "
            "components and the size of what they leave over."
        )

    coarse = learned.passage.coarse_columns
    if coarse:
        notes.append(f"rounded columns: {', '.join(coarse)}. No group is taken to be thinner than that.")
    notes += [*learned.notes, *table.notes]

    modes = np.bincount(prior.class_of)
    if (modes > 1).any():
        several = ", ".join(f"{classes[j]!s} ({modes[j]})" for j in np.flatnonzero(modes > 1))
        notes.append(f"known classes with several modes: {several}.")
    if pieces:
        several = ", ".join(f"{classes[j]!s} ({pieces.count(j)})" for j in dict.fromkeys(sorted(pieces)))
        notes.append(f"components that were taken for pieces of known classes: {several}.")

    notes.append(f"tails: {prior.components.kernels[0].sentence}")
    return tuple(notes)
