"""From a fitted detector to the check of its answer, and from its verdict to what is stored."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.estimators.fitted import Learned
from vbrand.inference.batches import Earlier
from vbrand.inference.cavi import Ascent
from vbrand.inference.rows import Rows, with_cells
from vbrand.model.posterior import Posterior
from vbrand.model.prior import Prior
from vbrand.samples import evenly, every_kth
from vbrand.stage1.lessons import Witnesses
from vbrand.trust.check import Verdict
from vbrand.trust.folds import Case, Relearn
from vbrand.trust.meaning import Meaning
from vbrand.trust.standing import Labelled, labelled_view
from vbrand.types import FloatArray, IntArray

# P(novel) below which a component is taken for a piece of a known class
_EVEN = 0.5


def with_witnesses(learned: Learned, rows: FloatArray, labels: NDArray[Any], most: int) -> Learned:
    """Return what was learned with at most so many labelled rows of each class, for answers to be checked against."""
    member = np.searchsorted(learned.classes, labels)
    by_class = [np.flatnonzero(member == j) for j in range(learned.classes.size)]
    chosen = np.concatenate([own[evenly(own.size, most)] for own in by_class])
    views = tuple(
        (kernel, known if known.lessons is None else replace(known, lessons=known.lessons.of_rows(chosen)))
        for kernel, known in learned.views
    )
    return replace(learned, views=views, witnesses=Witnesses(rows[chosen], member[chosen]))


def without_witnesses(learned: Learned) -> Learned:
    """Return what was learned without any labelled row: its answers can't be checked."""
    views = tuple((kernel, replace(known, lessons=None)) for kernel, known in learned.views)
    return replace(learned, views=views, witnesses=None)


def labelled_classes(prior: Prior, rows: IntArray, earlier: Earlier | None) -> Labelled:
    """Return the known classes as labelled rows alone show them, and beside them groups that were named.

    `prior` is that of stage 1, whose components hold so many labelled rows each.
    """
    if earlier is None:
        return labelled_view(prior, rows)
    named = earlier.taught.counts[prior.known :][earlier.class_of >= 0]
    return labelled_view(earlier.known(prior), np.append(rows, np.maximum(named, 1.0)))


def case_of(
    rows: Rows,
    fit: Ascent,
    prior: Prior,
    labelled: Labelled,
    witnesses: Witnesses,
    relearn: Relearn,
    most: int,
    earlier: FloatArray | None = None,
    last: int | None = None,
) -> Case:
    """Return the fit as its check takes it, on at most so many rows.

    `earlier` are the rows of earlier batches that the first components hold; of more than `most` they count as `most`.
    `last` are those of the last batch among the rows, which come first; None where there were none before. Rows without
    any value, which only rows on disk may still have among them, have no part in it, as they have none in the fit.
    """
    every = every_kth(len(rows), most)
    table = rows.working(every)
    share, some = table.shape[0] / len(rows), with_cells(table, rows.columns)
    sampled = np.arange(*every.indices(len(rows)))[some]
    return Case(
        rows=table if some.all() else table[some],
        fit=replace(fit, statistics=fit.statistics.scaled(share), winners=fit.winners[every][some]),
        prior=prior,
        posterior=fit.posterior,
        labelled=labelled,
        witnesses=witnesses,
        relearn=relearn,
        sampled=sampled,
        earlier=None if earlier is None else _scaled(earlier, share, most, fit.posterior.components.dof.size),
        last=None if last is None else int((sampled < last).sum()),
        room=rows.aside,
    )


def _scaled(earlier: FloatArray, share: float, most: int, components: int) -> FloatArray:
    """Return the rows of earlier batches by component, in the measure of the rows that are looked at."""
    factor = min(share, most / max(float(earlier.sum()), 1.0))
    return factor * np.append(earlier, np.zeros(components - earlier.size))


def refuse_without_check(max_false_novelty: float | None) -> None:
    """Refuse a share of false novelty where nothing is checked."""
    if max_false_novelty is not None:
        raise ValueError(
            "max_false_novelty needs the check, which is off or has no labelled rows (a model that was saved without "
            "them). Turn the check on, or leave max_false_novelty out."
        )


def warn_of_room(max_novel: int) -> None:
    """Warn the caller of `discover` that there may be more novel groups than there is room for."""
    words = f"all {max_novel} places for novel groups are in use: raise max_novel, there may be more of them."
    warnings.warn(words, UserWarning, stacklevel=7)


def plain_meaning(prior: Prior, posterior: Posterior) -> Meaning:
    """Return the meaning of components that nothing was learned about: what they stand for."""
    return Meaning(np.append(prior.class_of, np.full(posterior.components.dof.size - prior.known, -1)))


def pieces_of_classes(meaning: Meaning, counts: FloatArray) -> IntArray:
    """Return the novel components that hold rows, `counts` of the first of them, and are more likely known."""
    held = np.zeros(meaning.class_of.size)
    held[: counts.size] = counts
    return np.flatnonzero((meaning.class_of < 0) & (held >= 1.0) & (meaning.matrix[:, -1] < _EVEN))


def strict_threshold(verdict: Verdict | None, threshold: float, max_false_novelty: float | None) -> float | None:
    """Return the threshold that at most the allowed share of the hidden rows exceeds; None if any share is allowed."""
    if verdict is None or max_false_novelty is None:
        return None
    edge = np.quantile(verdict.hidden_novelty, 1.0 - max_false_novelty, method="higher")
    return float(np.clip(edge, threshold, 1.0 - np.finfo(np.float64).eps))
