"""What the variational fit found: labels, groups and probabilities from the predictive densities of its components."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from vbrand.discovery.base import Discovery
from vbrand.discovery.context import Context
from vbrand.discovery.memberships import Predictive, group_probabilities, label_names, memberships
from vbrand.facts.check import Check, check_of
from vbrand.facts.events import EventLog
from vbrand.facts.facts import Climb
from vbrand.facts.groups import GroupCount, Past, describe_groups
from vbrand.inference.cavi import Stopped
from vbrand.inference.growth import Move
from vbrand.inference.kernel import each_piece
from vbrand.inference.rows import Rows
from vbrand.inference.search import Found
from vbrand.model.posterior import Bound
from vbrand.samples import chunks
from vbrand.sums import log_sum
from vbrand.trust.check import Verdict
from vbrand.types import BoolArray, FloatArray, IntArray

_DRAWS = 200
# probabilities of up to so many rows x groups are computed at once
_AT_ONCE = 5_000_000
# a row whose best component has at least this probability is taken as certain when labels are drawn
_CERTAIN = 1.0 - 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class VariationalDiscovery(Discovery):
    """The answer of `VBrand.discover`.

    For a large table probabilities are computed when they are first asked for, from the table as it is at that time.
    """

    elbo: float  # in the user's units, every constant kept
    bound: Bound  # its terms, in working coordinates
    traces: list[FloatArray]  # the bound of every sweep of every start (moves: of those kept), in the user's units
    history: tuple[Move, ...]  # the moves of the search, kept or not
    stopped: Stopped
    group_components: IntArray  # novel components that are groups, in their order
    group_numbers: IntArray  # those that stand in their names
    _rows: Rows  # the table as the model sees it
    _predictive: Predictive

    @cached_property
    def probabilities(self) -> FloatArray:
        """Return probabilities of known classes and novel groups, (n, J + groups); rows sum to 1."""
        result = self._rows.answers("probabilities", (self.labels.size, len(self.groups)), np.float64)

        def taken(piece: slice, found: FloatArray) -> None:
            result[piece] = found
            self._rows.let_go()

        each_piece(self._rows, group_probabilities, lambda piece: (self._predictive, self.group_components), taken)
        return result

    def prepare(self) -> None:
        """Compute probabilities now, where the table is small."""
        if self.labels.size * len(self.groups) <= _AT_ONCE:
            _ = self.probabilities

    def after(self, log: EventLog) -> "VariationalDiscovery":
        """Return the same discovery, which knows what became of groups."""
        found = replace(self, log=log)
        found.prepare()
        return found

    @property
    def class_probabilities(self) -> FloatArray:
        """Return probabilities of the known classes and of novelty (last), (n, J + 1); rows sum to 1."""
        return self._class_probabilities_of(np.arange(self.labels.size))

    def _class_probabilities_of(self, rows: IntArray) -> FloatArray:
        some = self._rows if rows.size == len(self._rows) else replace(self._rows, table=self._rows.table[rows])
        known = [np.exp(members.known) for _, members in memberships(some, self._predictive)]
        return np.column_stack([np.concatenate(known), self.novelty_probability[rows]])

    def _climb(self) -> Climb:
        return Climb(max(self.traces, key=lambda trace: float(trace[-1])), self.history)

    def label_draws(self, n_draws: int = 1_000, random_state: Any = None) -> IntArray:
        """Return draws of `clusters`, (draws, n), each row by its own probabilities, independently of the others."""
        generator = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        steps = np.cumsum(self.probabilities, axis=1)[:, :-1]  # (n, J + groups - 1)
        return np.stack([(steps < generator.random((steps.shape[0], 1))).sum(axis=1) for _ in range(n_draws)])


@dataclass(frozen=True)
class Fit:
    """What the search found and how it got there, bounds in the user's units."""

    elbo: float
    bound: Bound  # the terms of the bound, in working coordinates
    traces: list[FloatArray]
    history: tuple[Move, ...]
    stopped: Stopped


@dataclass(frozen=True)
class _Lines:
    """The answers for each of some rows."""

    clusters: IntArray  # (n,) before groups are numbered by size
    novelty: FloatArray  # (n,)
    score: FloatArray  # (n,)


@dataclass
class _Tally:
    """What is added up over the blocks of a table."""

    certain: IntArray  # (novel columns + 1,) rows that are certain of theirs, or of being known
    doubtful: list[FloatArray]  # shares of the other rows
    mean: FloatArray  # (J + novel columns,) sums of probabilities
    cells: FloatArray  # (C,) rows by cell; no cells if nothing was checked
    doubted: FloatArray  # (J + novel columns, C) the same by cluster, as far as rows may be known at all


@dataclass(frozen=True)
class Numbered:
    """What earlier batches say of novel components, and last of novelty among the known ones."""

    numbers: IntArray  # (columns,) that groups had before; 0 for none
    rows: FloatArray  # (columns,) of earlier batches
    held: FloatArray  # (columns,) those of them that are called novel
    cells: FloatArray  # (columns, C) the same by cell, as far as they may be known at all
    alive: BoolArray  # (columns,) groups that stay, even if no row of this batch is theirs
    centres: FloatArray  # (columns, q) where they lie, in working coordinates
    unused: int  # the first number that no group has had


def in_user_units(found: Found, volume: float) -> Fit:
    """Return what was found, with bounds as they are in the user's units: more by the log volume of all rows."""
    # (6.9)  bound + n log|dz/dy|
    return Fit(
        elbo=found.best.bound.total + volume,
        bound=found.best.bound,
        traces=[trace + volume for trace in found.traces],
        history=tuple(replace(move, bound=move.bound + volume) for move in found.history),
        stopped=found.best.stopped,
    )


def discovery_of(
    context: Context,
    rows: Rows,
    fit: Fit,
    predictive: Predictive,
    weights: FloatArray,
    generator: np.random.Generator,
    verdict: Verdict | None = None,
    counted: IntArray | None = None,
    before: Numbered | None = None,
) -> VariationalDiscovery:
    """Return the discovery for a table in the user's units.

    `rows` is the table as the model sees it, `weights` are the expected weights of the components (K,), `counted` are
    the rows that the fit rests on, if others are copies. Memberships are computed block by block whenever they are
    needed: no array of rows by components is kept. `before` says which groups there were in earlier batches.
    """
    n, classes = len(rows), context.classes
    lines, tally = _tallied(rows, predictive, context, counted=verdict is None)
    sizes = np.bincount(lines.clusters, minlength=classes.size + tally.certain.size)
    group_components, numbers = _groups_in_order(sizes[classes.size :], before)
    past = _past(group_components, numbers, group_components < (predictive.meaning.class_of < 0).sum(), before)
    names = tuple(own.name for own in past)
    evidence = slice(None) if counted is None else counted
    held = sizes[classes.size + group_components]
    check = None
    if verdict is not None:
        check = _check(tally, lines.novelty[evidence], held, group_components, names, verdict, context, before)
    if verdict is None:
        weight = _weights_of_groups(weights, predictive.meaning.class_of, group_components)
        count = _count_groups(tally.certain, np.concatenate(tally.doubtful), context.min_group, generator)
    else:
        weight = _checked_weights(tally.mean / n, classes.size, group_components)
        share = 1.0 if counted is None else counted.size / n  # of the rows, that are no copies
        earlier = 0.0 if before is None else before.cells.sum(axis=0)
        count = _count_checked(share * tally.cells + earlier, verdict, context.min_group)

    found = VariationalDiscovery(
        context=context,
        labels=_named(rows, lines.clusters, group_components, classes),
        clusters=lines.clusters,
        novelty_probability=lines.novelty,
        novelty_score=lines.score,
        groups=describe_groups(
            context.table,
            lines.clusters,
            weight,
            lines.novelty,
            classes,
            context.min_group,
            context.yardstick,
            doubtful=() if check is None else check.doubtful,
            counted=counted,
            before=past,
        ),
        n_groups=count,
        check=check,
        elbo=fit.elbo,
        bound=fit.bound,
        traces=fit.traces,
        history=fit.history,
        stopped=fit.stopped,
        group_components=group_components,
        group_numbers=numbers,
        _rows=rows,
        _predictive=predictive,
    )
    found.prepare()
    return found


def _named(rows: Rows, clusters: IntArray, group_components: IntArray, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the label of each row; clusters are numbered anew, in place, novel groups by size."""
    rank = np.arange(classes.size + max(int(group_components.max(initial=-1)) + 1, 1))
    rank[classes.size + group_components] = classes.size + np.arange(group_components.size)
    names = label_names(classes)
    labels = rows.answers("labels", clusters.shape, names.dtype)
    for chunk in chunks(clusters.size):
        clusters[chunk] = rank[clusters[chunk]]
        labels[chunk] = names[np.minimum(clusters[chunk], classes.size)]
        rows.let_go()
    return labels


def _tallied(rows: Rows, predictive: Predictive, context: Context, *, counted: bool) -> tuple[_Lines, _Tally]:
    """Return the answers for the rows and what they add up to, piece by piece.

    `counted` is whether groups are counted by drawing the component of rows that are not certain of theirs.
    """
    n, known = len(rows), context.classes.size
    lines = _Lines(
        rows.answers("clusters", (n,), np.int64),
        rows.answers("novelty_probability", (n,), np.float64),
        rows.answers("novelty_score", (n,), np.float64),
    )

    def given(piece: slice) -> tuple[Any, ...]:
        # rows that are here have their answers written to their place
        room = None if rows.elsewhere else _Lines(lines.clusters[piece], lines.novelty[piece], lines.score[piece])
        return predictive, known, context.threshold, counted, room

    def taken(piece: slice, found: tuple[_Lines, _Tally]) -> _Tally:
        own, tally = found
        if rows.elsewhere:
            lines.clusters[piece], lines.novelty[piece], lines.score[piece] = own.clusters, own.novelty, own.score
        rows.let_go()
        return tally

    first, *others = each_piece(rows, _tallied_piece, given, taken)
    for tally in others:
        first.certain += tally.certain
        first.mean += tally.mean
        first.cells += tally.cells
        first.doubted += tally.doubted
        first.doubtful += tally.doubtful
    return lines, first


def _tallied_piece(
    rows: Rows, predictive: Predictive, known: int, threshold: float, counted: bool, room: _Lines | None
) -> tuple[_Lines, _Tally]:
    """Return the same of one piece, block by block, the answers in `room` if there is any."""
    n, meaning = len(rows), predictive.meaning
    columns = int((meaning.class_of < 0).sum()) + (meaning.checked is not None)
    cells = 0 if meaning.checked is None else int(meaning.checked.cells.starts[-1])
    lines = _Lines(np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)) if room is None else room
    tally = _Tally(
        certain=np.zeros(columns + 1, dtype=np.int64),
        doubtful=[],
        mean=np.zeros(known + columns),
        cells=np.zeros(cells),
        doubted=np.zeros((known + columns, cells)),
    )

    for block, part in memberships(rows, predictive):
        novel = part.is_novel(threshold)
        clusters = np.where(novel, known + part.novel.argmax(axis=1), part.best_class)
        lines.clusters[block] = clusters
        lines.novelty[block] = part.novelty_probability
        lines.score[block] = part.novelty_score(threshold)
        tally.mean += np.exp(np.column_stack([part.known, part.novel])).sum(axis=0)
        if part.cells is not None and part.doubt is not None:
            tally.cells += part.cells.sum(axis=0)
            np.add.at(tally.doubted, clusters, part.cells * part.doubt[:, None])

        if counted:
            shares = np.exp(np.column_stack([part.novel, log_sum(part.known, axis=1)]))  # (b, columns + 1)
            sure = shares.max(axis=1) >= _CERTAIN
            tally.certain += np.bincount(shares[sure].argmax(axis=1), minlength=tally.certain.size)
            tally.doubtful.append(shares[~sure])
    return lines, tally


def _check(
    tally: _Tally,
    novelty: FloatArray,
    sizes: IntArray,
    group_components: IntArray,
    names: tuple[str, ...],
    verdict: Verdict,
    context: Context,
    before: Numbered | None,
) -> Check:
    """Return how far to trust the answer; `novelty` is that of the rows that the fit rests on."""
    known, threshold = context.classes.size, context.threshold
    novel = verdict.novelty > threshold  # (folds, m) of the rows that were looked at
    agreement = (novel == (novelty[verdict.rows] > threshold)).mean()
    return check_of(
        names,
        sizes,
        tally.doubted[known + group_components],
        tally.doubted[:known].sum(axis=0),
        verdict.novel_draws,
        agreement=float(agreement),
        hidden_novelty=verdict.hidden_novelty,
        unchecked=tuple(str(context.classes[j]) for j in verdict.unchecked.tolist()),
        earlier=None if before is None else (before.held[group_components], before.cells[group_components]),
    )


def _weights_of_groups(weights: FloatArray, meaning: IntArray, group_components: IntArray) -> FloatArray:
    """Return the weights of known classes and novel groups, from those of components."""
    known = meaning >= 0
    return np.append(np.bincount(meaning[known], weights[known]), weights[~known][group_components])


def _checked_weights(mean: FloatArray, known: int, group_components: IntArray) -> FloatArray:
    """Return the weights of known classes and novel groups from mean probabilities, (J + novel columns,).

    Novelty that is in no group goes to the groups, or to the known classes where there is none.
    """
    of_known, of_groups = mean[:known], mean[known + group_components]
    if of_groups.size == 0:
        return np.asarray(of_known / of_known.sum())
    return np.append(of_known, of_groups * mean[known:].sum() / of_groups.sum())


def _groups_in_order(sizes: IntArray, before: Numbered | None) -> tuple[IntArray, IntArray]:
    """Return the novel components that are groups, by their numbers, and these; new ones are numbered by size."""
    largest_first = _by_size(sizes)
    if before is None:
        return largest_first, np.arange(1, largest_first.size + 1)
    numbers = before.numbers.copy()
    fresh = largest_first[numbers[largest_first] == 0]
    numbers[fresh] = before.unused + np.arange(fresh.size)
    shown = np.union1d(largest_first, np.flatnonzero(before.alive))
    ordered = shown[np.argsort(numbers[shown], kind="stable")]
    return ordered, numbers[ordered]


def _by_size(sizes: IntArray) -> IntArray:
    """Return the novel components that have rows, the largest first."""
    components = np.flatnonzero(sizes)
    return np.asarray(components[np.argsort(-sizes[components], kind="stable")])


def _past(group_components: IntArray, numbers: IntArray, alone: BoolArray, before: Numbered | None) -> tuple[Past, ...]:
    """Return what was known of each group before; `alone` are those that have a component of their own."""
    names, own = [f"novel {number}" for number in numbers.tolist()], alone.tolist()
    if before is None:
        return tuple(Past(name, alone=each) for name, each in zip(names, own, strict=True))
    rows, centres = before.rows[group_components].tolist(), before.centres[group_components]
    return tuple(Past(*known) for known in zip(names, rows, centres, own, strict=True))


def _count_checked(rows: FloatArray, verdict: Verdict, min_group: int) -> GroupCount:
    """Return how many components of enough rows are mostly novel, over draws of what the `rows` of each cell are, (C,).

    Folds that disagree put hidden rows into a component or not, so the draws know of it.
    """
    starts = verdict.cells.starts[:-1]
    held = np.add.reduceat(rows, starts)  # (T + 1,) by component
    novel = np.add.reduceat(verdict.novel_draws * rows, starts, axis=1)  # (draws, T + 1)
    return GroupCount.of(((novel > 0.5 * held) & (np.round(held) >= min_group)).sum(axis=1))


def _count_groups(
    certain: IntArray, doubtful: FloatArray, min_group: int, generator: np.random.Generator
) -> GroupCount:
    """Draw the component of every doubtful row and count the novel ones with at least `min_group` rows."""
    steps = np.cumsum(doubtful, axis=1)
    steps /= steps[:, -1:]
    counts = np.empty(_DRAWS, dtype=np.int64)
    for draw in range(_DRAWS):
        drawn = (steps < generator.random((steps.shape[0], 1))).sum(axis=1)
        sizes = certain + np.bincount(drawn, minlength=certain.size)
        counts[draw] = (sizes[:-1] >= min_group).sum()

    return GroupCount.of(counts)
