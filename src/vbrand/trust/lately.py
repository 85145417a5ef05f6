"""The last batch beside those before: novelty that has just appeared must not drown in rows of earlier batches.

Rows of one class fall where its rows fell before, in whatever number they come: earlier rows are to the table of the
last batch what hidden rows are. Novelty of before is one more class, which comes as often as it did. What goes beyond
all of these has just appeared.
"""

import numpy as np

from vbrand.trust.table import Counts, Shares, draw_shares, rows_of_classes
from vbrand.trust.tuning import CheckTuning
from vbrand.types import FloatArray


def with_latest(
    counts: Counts, shares: Shares, now: FloatArray, generator: np.random.Generator, tuning: CheckTuning
) -> Shares:
    """Return what rows of the last batch are, `now` by cell, (C,), given the table of all batches and what that says.

    The draws are rows of all batches if all were like the last one.
    """
    latest = of_batch(counts, shares, now, tuning)
    found = draw_shares(latest, generator, tuning)
    # (14.11)  P(novel | c, last batch) = P(new | c) + (1 - P(new | c)) P(novel | c, all batches)
    old = 1.0 - found.novel
    drawn = (1.0 - found.novel_rows / np.maximum(latest.unlabelled, 1)) * (1.0 - shares.novel_rows / counts.unlabelled)
    rows = np.round((1.0 - drawn) * counts.unlabelled).astype(np.int64)
    return Shares(old[:, None] * shares.classes, found.novel + old * shares.novel, rows)


def of_batch(counts: Counts, shares: Shares, now: FloatArray, tuning: CheckTuning) -> Counts:
    """Return the table of the last batch, given that of all, what its rows are, and those of the last batch, (C,).

    Classes have the shares that this batch shows (9.4), or about those that they have in all batches.
    """
    means = np.column_stack([shares.classes, shares.novel]).T  # (J + 1, C)
    before = np.maximum(counts.unlabelled - now, 0.0)
    # (14.9)  b_jc of the last batch = b_jc + P(j | c) t_c of earlier ones,  and of novelty, of which none is hidden
    hidden = np.vstack([counts.hidden, np.zeros(now.size)]) + means * before
    fell = hidden.sum(axis=1)

    # as if one row more were of any class
    usual = (means * before).sum(axis=1) + 1.0 / means.shape[0]
    usual *= now.sum() / usual.sum()
    # novelty of before may stay away, which says nothing of the known classes; what is more than usual has appeared
    again = min(float(usual[-1]), float(rows_of_classes(now, hidden, fell, usual, tuning)[-1]))
    novelty = again * hidden[-1] / max(fell[-1], 1.0)
    known = rows_of_classes(np.maximum(now - novelty, 0.0), hidden[:-1], fell[:-1], usual[:-1], tuning)
    rows = np.append(known, again)
    loose = np.append(np.full(known.size, tuning.shift), fell[-1] + 1.0)
    firm = np.append(1.0 / (1.0 / (fell[:-1] + 1.0) + 1.0 / (known + 1.0)), fell[-1] + 1.0)
    return Counts(
        np.round(now).astype(np.int64),
        hidden,
        counts.starts,
        np.stack([rows / rows.sum(), usual / usual.sum()]),
        np.stack([firm, loose]),
        float(before.sum()),
    )
