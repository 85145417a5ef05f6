"""The check of a fit: labelled rows that it has not seen say what its components mean."""

from dataclasses import dataclass, replace

import numpy as np

from vbrand.inference.rows import FARTHEST
from vbrand.model.predictive import log_predictive_parts
from vbrand.robust.replicates import has_replicates
from vbrand.sums import log_sum
from vbrand.trust.cells import Cells, cells_of
from vbrand.trust.contrast import Contrast, contrast_of, missing_alike
from vbrand.trust.folds import Case, Fold, deal, hidden_fits
from vbrand.trust.lately import with_latest
from vbrand.trust.meaning import Checked, Meaning, by_meaning
from vbrand.trust.rareness import Rareness
from vbrand.trust.standing import Standing, by_class, standing_by_parts, standing_of
from vbrand.trust.table import Counts, draw_shares, rows_of_classes
from vbrand.trust.tuning import TUNED, CheckTuning
from vbrand.trust.votes import Votes, likeliest_weight, votes_of, weighed
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Verdict:
    """What a check found."""

    meaning: Meaning
    novel_draws: FloatArray  # (draws, C) share of each cell's rows that are novel
    novelty: FloatArray  # (folds, n) P(novel) of unlabelled rows, fold by fold
    hidden_novelty: FloatArray  # (h,) P(novel) of the hidden rows
    rows: IntArray  # (n,) the unlabelled rows that the folds ran over, in order
    unchecked: IntArray  # classes of which no row could be hidden
    again: bool = False  # whether rows look like replicates of fewer samples

    def of_first(self, count: int) -> "Verdict":
        """Return the verdict where only the first so many unlabelled rows are asked for."""
        looked_at = int((self.rows < count).sum())
        return replace(self, rows=self.rows[:looked_at], novelty=self.novelty[:, :looked_at])

    @property
    def cells(self) -> Cells:
        """Return the cells of the table."""
        assert self.meaning.checked is not None
        return self.meaning.checked.cells


def checked(case: Case, folds: int, generator: np.random.Generator, tuning: CheckTuning = TUNED) -> Verdict | None:
    """Return what hidden rows say, or None if no class has enough rows to hide any."""
    classes = int(case.prior.class_of.max()) + 1
    fold = deal(case.witnesses, classes, case.rows.shape[0] + _earlier_rows(case), folds, generator, tuning)
    if (fold < 0).all():
        return None

    fits = hidden_fits(case, fold, tuning)
    class_of = np.append(case.prior.class_of, np.full(case.posterior.components.dof.size - case.prior.known, -1))
    full = standing_by_parts(
        case.rows,
        lambda rows: standing_of(log_predictive_parts(rows, case.posterior), case.labelled.log_parts(rows)),
        case.room,
    )
    shared = _shares(case, fits, classes, tuning)
    # where rows are replicates a tree that does not see a row sees others of its sample
    again = _measured_again(case)
    contrast = None if again else _contrast(case, shared[0], generator, tuning)
    rareness = None
    if contrast is not None:
        full, fits, rareness = _ordered(case, full, fits, contrast)
    cells = cells_of(full, class_of, _hidden_by_component(fits), tuning)
    counts, unchecked = _table(case, fits, cells, shared)
    shares = draw_shares(counts, generator, tuning)
    if case.last is not None:
        now = np.mean([cells.mass(fit.unlabelled, fit.class_of)[: case.last].sum(axis=0) for fit in fits], axis=0)
        shares = with_latest(counts, shares, now, generator, tuning)

    farthest = max(float(fit.witnesses.unlike.max()) for fit in fits)
    found = Checked(case.labelled, cells, shares.classes, shares.novel, farthest, 1.0, rareness)
    votes = None if again else _votes(case, generator, tuning)
    found = _with_opinions(replace(found, votes=votes), case, fits)
    larger = _of_fit(counts, _with_earlier(case, cells, cells.mass(full, class_of).sum(axis=0)))
    return Verdict(
        Meaning(class_of, _scaled(found, larger)),
        np.minimum(larger * shares.novel_rows / counts.unlabelled, 1.0),
        np.stack([_novelty(fit, found, of_witnesses=False) for fit in fits]),
        np.concatenate([_novelty(fit, found, of_witnesses=True) for fit in fits]),
        case.sampled,
        unchecked,
        again,
    )


def _contrast(case: Case, shares: FloatArray, generator: np.random.Generator, tuning: CheckTuning) -> Contrast | None:
    """Return trees that tell unlabelled from labelled rows; None where they would tell them by how they came here.

    That is where columns are components of the labelled rows, and where cells are missing in one kind more than in the
    other.

    `shares` are those of the classes, (2, J), as the fit has them and as labelled: labelled rows weigh accordingly.
    """
    table, levels = _table_of_witnesses(case), _level_sizes(case)
    if case.own_axes or not missing_alike(case.rows, table, len(levels)):
        return None
    usual = shares.mean(axis=0)
    return contrast_of(case.rows, table, case.witnesses.member, usual, levels, generator, tuning)


def _measured_again(case: Case) -> bool:
    """Return whether labelled or unlabelled rows are replicates of fewer samples."""
    columns, member = case.labelled.components.columns, case.witnesses.member
    labelled = _table_of_witnesses(case)[:, :columns]
    by_class = [labelled[member == j] for j in np.unique(member)]
    return has_replicates([case.rows[:, :columns]]) or has_replicates(by_class)


def _table_of_witnesses(case: Case) -> FloatArray:
    return np.asarray(np.clip(case.witnesses.rows, -FARTHEST, FARTHEST))


def _ordered(case: Case, full: Standing, fits: list[Fold], contrast: Contrast) -> tuple[Standing, list[Fold], Rareness]:
    """Return where rows stand in the fit and in the folds, in the order of how rare they are, and what tells it."""
    rows, witnesses = contrast.log_odds(case.rows), contrast.log_odds(_table_of_witnesses(case))
    hidden = np.concatenate([fit.hidden for fit in fits])
    unlike = np.concatenate([fit.witnesses.unlike for fit in fits])
    rareness = Rareness(contrast, np.sort(unlike), np.sort(witnesses[hidden]))

    def ordered(standing: Standing, log_odds: FloatArray) -> Standing:
        return replace(standing, order=rareness.of(standing.unlike, log_odds))

    found = [
        replace(fit, unlabelled=ordered(fit.unlabelled, rows), witnesses=ordered(fit.witnesses, witnesses[fit.hidden]))
        for fit in fits
    ]
    return ordered(full, rows), found, rareness


def _of_fit(counts: Counts, rows: FloatArray) -> FloatArray:
    """Return by what the share of novelty is larger in the fit with all labels, which has so many rows in each cell.

    With all labels classes keep rows that they lose to a novel component without some; novel rows stay where they are.
    """
    # (9.16)  t_c / the rows of the cell in the fit with all labels, in the cells of novel components
    of_novel = np.arange(rows.size) >= counts.starts[1]
    return np.where(of_novel, counts.unlabelled / np.maximum(rows, 1.0), 1.0)


def _scaled(found: Checked, factor: FloatArray) -> Checked:
    """Return the shares of cells with those of novelty so many times as large, at most 1."""
    novel = np.minimum(factor * found.novel, 1.0)
    # where all rows are novel, to the last digit, any class may have what is left to known ones
    classes = np.maximum(found.classes, np.finfo(np.float64).tiny)
    classes /= classes.sum(axis=1, keepdims=True)
    return replace(found, novel=novel, classes=classes * (1.0 - novel)[:, None])


def _hidden_by_component(fits: list[Fold]) -> FloatArray:
    """Return the hidden rows that fell into the known components, and into each novel one, (T + 1,)."""
    shares = [(np.exp(fit.witnesses.log_shares).sum(axis=0), fit.class_of) for fit in fits]
    return np.asarray(np.sum([np.append(rows[of >= 0].sum(), rows[of < 0]) for rows, of in shares], axis=0))


def _table(
    case: Case, fits: list[Fold], cells: Cells, shared: tuple[FloatArray, FloatArray]
) -> tuple[Counts, IntArray]:
    """Return the table of unlabelled and hidden rows by cell, and the classes of which no row was hidden.

    Unlabelled rows are counted in the fits that the hidden ones took part in: there both kinds are treated alike.
    """
    rows = np.mean([cells.mass(fit.unlabelled, fit.class_of).sum(axis=0) for fit in fits], axis=0)
    rows = _with_earlier(case, cells, rows)
    classes = shared[0].shape[1]
    hidden = np.zeros((classes, rows.size))
    for fit in fits:
        np.add.at(hidden, case.witnesses.member[fit.hidden], cells.mass(fit.witnesses, fit.class_of))

    # a class of which no row could be hidden is believed to fall where the others do, among the known components
    none = np.flatnonzero(hidden.sum(axis=1) == 0.0)
    labelled = _labelled_rows(case, classes)
    of_known = np.arange(rows.size) < cells.starts[1]
    usual = np.where(of_known, hidden.sum(axis=0) + 1.0 / rows.size, 0.0)
    unchecked = none[np.isin(none, case.witnesses.member)]
    for j in none.tolist():
        # of one that a person has named there are no labelled rows: it falls where the rows of its components do
        own = usual if j in unchecked else usual / usual.sum() + _held(fits, cells, j)
        hidden[j] = max(1.0, labelled[j]) * own / own.sum()
    # what would a row be that falls where none is? as if there were one
    counts = np.maximum(np.round(rows), 1.0).astype(np.int64)
    return Counts(counts, hidden, cells.starts, *shared), unchecked


def _held(fits: list[Fold], cells: Cells, j: int) -> FloatArray:
    """Return the unlabelled rows that the components of a class hold, by cell, (C,)."""
    held = np.zeros(cells.starts[-1])
    for fit in fits:
        shares = np.exp(fit.unlabelled.log_shares[:, fit.class_of == j]).sum(axis=1)
        held += np.bincount(np.searchsorted(cells.known, fit.unlabelled.order), shares, minlength=held.size)
    return held / len(fits)


def _labelled_rows(case: Case, classes: int) -> FloatArray:
    """Return the witnesses of each class, (J,); of a class that a person has named its rows, in the same measure."""
    witnesses = np.bincount(case.witnesses.member, minlength=classes).astype(np.float64)
    known = np.bincount(case.labelled.class_of, np.exp(case.labelled.log_weights), minlength=classes)
    named = witnesses == 0.0
    return np.asarray(np.where(named, known * witnesses.sum() / known[~named].sum(), witnesses))


def _earlier_rows(case: Case) -> int:
    return 0 if case.earlier is None else round(float(case.earlier.sum()))


def _earlier_of_classes(case: Case, classes: int) -> FloatArray:
    """Return the rows of earlier batches that the components of each class hold, (J,)."""
    if case.earlier is None:
        return np.zeros(classes)
    known = case.prior.class_of >= 0
    held = case.earlier[: case.prior.known]
    return np.asarray(np.bincount(case.prior.class_of[known], held[known], minlength=classes))


def _with_earlier(case: Case, cells: Cells, rows: FloatArray) -> FloatArray:
    """Return the rows of all batches by cell, given those of this one: what a component means is a matter of all.

    (14.5)  t_c of all batches = t_c (1 + rows of its component in earlier ones / its rows in this one)
    """
    if case.earlier is None:
        return rows
    class_of = np.append(case.prior.class_of, np.full(case.earlier.size - case.prior.known, -1))
    held = np.append(case.earlier[class_of >= 0].sum(), case.earlier[class_of < 0])  # (T + 1,)
    now, width = np.add.reduceat(rows, cells.starts[:-1]), np.diff(cells.starts)
    of = np.repeat(np.arange(held.size), width)
    share = np.where(now[of] > 0.0, rows / np.maximum(now[of], np.finfo(np.float64).tiny), 1.0 / width[of])
    return np.asarray(rows + share * held[of])


def _shares(case: Case, fits: list[Fold], classes: int, tuning: CheckTuning) -> tuple[FloatArray, FloatArray]:
    """Return the shares of the classes among known rows, as the fit has them and as labelled, and what they are worth.

    Both are (2, J).
    """
    held = _earlier_of_classes(case, classes)  # H
    fell = np.zeros((classes, classes))  # hidden rows by class and class of component
    for fit in fits:
        known = fit.class_of >= 0
        held += np.exp(by_class(fit.unlabelled.log_shares[:, known], fit.class_of[known])).sum(axis=0) / len(fits)
        own = np.exp(by_class(fit.witnesses.log_shares[:, known], fit.class_of[known]))
        np.add.at(fell, case.witnesses.member[fit.hidden], own)
    members = np.concatenate([case.witnesses.member[fit.hidden] for fit in fits])
    hidden = np.bincount(members, minlength=classes).astype(np.float64)

    labelled = _labelled_rows(case, classes)
    # a class of which no row could be hidden is believed to stay in its own components
    none = hidden == 0
    hidden = np.where(none, np.maximum(labelled, 1.0), hidden)
    fell[none, none] = hidden[none]

    labelled = labelled / labelled.sum()
    rows = rows_of_classes(held, fell, hidden, (case.rows.shape[0] + _earlier_rows(case)) * labelled, tuning)
    # no more than the hidden rows that tell it, nor than the rows that were counted
    worth = 1.0 / (1.0 / (fell.sum(axis=1) + 1.0) + 1.0 / (held + 1.0))
    return np.stack([rows / rows.sum(), labelled]), np.stack([worth, np.full(classes, tuning.shift)])


def _with_opinions(found: Checked, case: Case, fits: list[Fold]) -> Checked:
    """Return how far to trust whom in which class a known row is of: the fit, the labelled rows alone, and trees."""
    member = case.witnesses.member
    by_fit, by_labels = list[FloatArray](), list[FloatArray]()
    for fit in fits:
        known = by_meaning(fit.witnesses, found, fit.class_of)[0]
        own = np.arange(fit.hidden.size), member[fit.hidden]
        by_fit.append((known - log_sum(known, axis=1, keepdims=True))[own])
        by_labels.append(fit.witnesses.log_labelled[own])
    first, second = np.exp(np.concatenate(by_fit)), np.exp(np.concatenate(by_labels))

    weight = likeliest_weight(first, second)
    votes = found.votes
    if votes is not None:
        hidden = np.concatenate([fit.hidden for fit in fits])
        both = weight * first + (1.0 - weight) * second
        votes = weighed(votes, _table_of_witnesses(case)[hidden], member[hidden], both)
    return replace(found, fit_weight=weight, votes=votes)


def _votes(case: Case, generator: np.random.Generator, tuning: CheckTuning) -> Votes | None:
    """Return trees that tell the known classes apart; None where there is one."""
    table, member = _table_of_witnesses(case), case.witnesses.member
    return votes_of(table, member, case.taught, _level_sizes(case), generator, tuning)


def _level_sizes(case: Case) -> tuple[int, ...]:
    levels = case.labelled.components.levels
    return () if levels is None else levels.sizes


def _novelty(fit: Fold, found: Checked, of_witnesses: bool) -> FloatArray:
    """Return P(novel) of rows in a fold."""
    standing = fit.witnesses if of_witnesses else fit.unlabelled
    mass = found.cells.mass(standing, fit.class_of)
    return np.asarray(mass @ found.novel)
