"""The search by moves: from the known classes and one novelty, until no move raises the bound."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.moves import (
    MoveKind,
    Proposal,
    Split,
    birth,
    deletions,
    merges,
    releases,
    renewals,
    resplits,
    seed,
    splits,
    without,
)
from vbrand.inference.rows import Rows, relabelled
from vbrand.inference.starts import one_novelty
from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.model.posterior import Posterior
from vbrand.model.prior import Prior, with_novelties
from vbrand.model.weights import best_stick_order
from vbrand.samples import every_kth, some_members
from vbrand.types import FloatArray, IntArray

Progress = Callable[[int, int, float], None]  # sweeps, novel components, bound
# moves that depend on nothing but statistics: what they do on a sample they do on all rows
_FROM_STATISTICS = (MoveKind.MERGE, MoveKind.RELEASE, MoveKind.DELETE)


@dataclass(frozen=True)
class Move:
    """One proposal and what became of it. Components have numbers that they keep as long as they live.

    Several ways to split a component are tried before the best of them is kept, so one that is not kept may have
    gained, too.
    """

    kind: MoveKind
    parts: tuple[int, ...]  # the components that it changes
    hope: float  # the gain that it promised
    gain: float  # what the bound gained, or would have lost by the time it was given up
    kept: bool
    sweeps: int
    groups: int  # novel components with it
    bound: float  # after it was kept or dropped


@dataclass(frozen=True)
class Growth:
    """Where the search by moves ended."""

    ascent: Ascent  # its trace holds the sweeps that were kept
    history: tuple[Move, ...]
    sweeps: int  # of all proposals, without those over the rows of one component only
    lost: tuple["_Lost", ...] = ()


@dataclass(frozen=True)
class _Lost:
    """A move that lost so much that more rows like these would not change it."""

    kind: MoveKind
    parts: tuple[int, ...]  # the places of its components where the search ended
    looks: "tuple[_Look, ...]"


@dataclass(frozen=True)
class _Task:
    """What stays the same while the search goes on."""

    rows: Rows
    prior: Prior
    climb: Callable[..., Ascent]
    progress: Progress | None
    tuning: SearchTuning
    hint: IntArray | None  # (n,) rows of one number, if it is not negative, may well be a component


@dataclass(frozen=True)
class _Look:
    """What a component looks like."""

    rows: float
    mean: FloatArray  # (p,)
    root: FloatArray  # (p, p) of its expected precision

    def same(self, other: "_Look", tuning: SearchTuning) -> bool:
        moved = np.square(self.root @ (self.mean - other.mean)).mean()
        same_rows = abs(self.rows - other.rows) <= 1.0 + tuning.same_rows * self.rows
        return bool(same_rows and moved <= tuning.same_place**2)

    def of_all(self, share: float, rows: float) -> "_Look":
        """Return how a component of a sample, a share of all rows, looks among all of them.

        It has so many rows if that may be chance: four standard deviations.
        """
        chance = abs(share * rows - self.rows) <= 4.0 * np.sqrt(self.rows + 1.0)
        return replace(self, rows=rows if chance else self.rows / share)


@dataclass(frozen=True)
class _State:
    """Where the search stands. A component keeps its name, a number, as long as it lives."""

    ascent: Ascent
    names: tuple[int, ...]  # of the components
    next_name: int  # the first that no component has had

    @property
    def total(self) -> float:
        return self.ascent.bound.total

    def look(self, k: int) -> _Look:
        components = self.ascent.posterior.components
        root = np.sqrt(components.dof[k]) * components.inverse_factor[k]
        return _Look(float(self.ascent.statistics.counts[k]), components.mean[k], root)


@dataclass(frozen=True)
class _Trial:
    """A proposal that was tried: where it led, and how history tells of it."""

    end: _State
    move: Move


@dataclass
class _Record:
    """What the search has done so far."""

    trace: list[float]
    sweeps: int
    history: list[Move] = field(default_factory=list)

    def keep(self, trials: list[_Trial], best: _Trial | None) -> None:
        """Note the trials of one list of alternatives, the one that was kept last."""
        self.history += [trial.move for trial in trials if trial is not best]
        if best is not None:
            # sweeps below the bound of before are no part of the rise
            self.trace += [value for value in best.end.ascent.trace if value > best.move.bound]
            self.history.append(replace(best.move, kept=True, bound=best.end.total))


@dataclass
class _Memory:
    """What was tried, and what it was tried on: nothing is tried twice."""

    task: _Task
    tried: dict[tuple[MoveKind, tuple[int, ...]], list[_Look]] = field(default_factory=dict)
    splits: dict[int, tuple[_Look, list[Split]]] = field(default_factory=dict)
    ways: dict[tuple[int, int, bytes], list[Split]] = field(default_factory=dict)  # by what is split up
    hints: set[int] = field(default_factory=set)

    @property
    def tuning(self) -> SearchTuning:
        return self.task.tuning

    def is_new(self, state: _State, proposal: Proposal) -> bool:
        """Return whether components that look like these have not had this proposal, and note that they have now."""
        key = (proposal.kind, tuple(state.names[k] for k in proposal.parts))
        looks = [state.look(k) for k in proposal.parts]
        before = self.tried.get(key)
        if before is not None and all(was.same(now, self.tuning) for was, now in zip(before, looks, strict=True)):
            return False
        self.tried[key] = looks
        return True

    def splits_of(self, state: _State, k: int) -> list[Split]:
        """Return the ways to split component k: those found before if it still looks the same."""
        name, look = state.names[k], state.look(k)
        if name not in self.splits or not self.splits[name][0].same(look, self.tuning):
            self.splits[name] = look, self.split_up(state.ascent, k)
        return self.splits[name][1]

    def split_up(self, ascent: Ascent, k: int) -> list[Split]:
        """Return the ways to split component k: those found before if some component has had these very rows."""
        rows, prior, tuning = self.task.rows, self.task.prior, self.tuning
        if rows.gapped:  # what is expected in missing cells depends on more than rows
            return splits(rows, prior, ascent, k, tuning)
        # of more room than guesses take nothing depends
        room = min(prior.known + prior.novel - ascent.statistics.counts.size, tuning.most_blobs - 1)
        members = some_members(ascent.winners, len(rows), k, tuning.local_rows)
        key = (min(k, prior.known), room, members.tobytes())
        if key not in self.ways:
            self.ways[key] = splits(rows, prior, ascent, k, tuning)
        return self.ways[key]

    def note_lost(self, state: _State, lost: tuple[_Lost, ...], share: float) -> None:
        """Note what lost on a sample, a share of all rows, if its components look among all rows as they did there."""
        for each in lost:
            looks = [state.look(k) for k in each.parts]
            before = [was.of_all(share, now.rows) for was, now in zip(each.looks, looks, strict=True)]
            if all(was.same(now, self.tuning) for was, now in zip(before, looks, strict=True)):
                self.tried[each.kind, tuple(state.names[k] for k in each.parts)] = looks

    def forget(self, names: tuple[int, ...]) -> None:
        """Forget what was tried on components that a move has changed, however little it shows."""
        self.tried = {key: looks for key, looks in self.tried.items() if not set(key[1]) & set(names)}
        self.splits = {name: seen for name, seen in self.splits.items() if name not in names}


def grow(
    rows: Rows,
    prior: Prior,
    *,
    max_iter: int = 1_000,
    threads: int = 1,
    progress: Progress | None = None,
    tuning: SearchTuning = TUNED,
    hint: IntArray | None = None,
) -> Growth:
    """Return the best that moves find, from the known classes and one novelty.

    Rows that have the same number in `hint`, (n,), are proposed as a component; not where it is negative.
    The history of a long table is that of the moves over all its rows: bounds of a sample do not compare with theirs.
    """
    _ = prior.components.roots  # once, for the priors of all trials are parts of this one
    climb = partial(ascend, rows, tol=tuning.loose, max_iter=max_iter, sort=False, threads=threads, tuning=tuning)
    task = _Task(rows, prior, climb, progress, tuning, hint)
    if len(rows) <= tuning.many_rows:
        return _from_start(task, one_novelty(rows, with_novelties(prior, 1)))

    sample = replace(rows, table=rows.table[every_kth(len(rows), tuning.sample)])
    sketch = grow(sample, prior, max_iter=max_iter, threads=threads, progress=progress, tuning=tuning)
    share = len(sample) / len(rows)
    del sample  # it is not needed beside all rows
    return _from_start(task, sketch.ascent.posterior, sketch.lost, share)


def _from_start(task: _Task, start: Posterior, lost: tuple[_Lost, ...] = (), share: float = 1.0) -> Growth:
    """Return where moves lead: one after the other is kept until none is left that gains.

    Those that `lost` much on a sample, a share of the rows, are not tried over all of them.
    """
    count = start.components.dof.size
    first = task.climb(with_novelties(task.prior, count - task.prior.known), start)
    state = _State(first, tuple(range(count)), count)
    memory, record = _Memory(task), _Record(list(first.trace), first.trace.size)
    memory.note_lost(state, lost, share)

    while (best := _first_gain(task, state, memory, record)) is not None:
        state = best.end
        memory.forget(best.move.parts)

    ascent = replace(state.ascent, trace=np.array(record.trace))
    return Growth(ascent, tuple(record.history), record.sweeps, _lost(state, record, task.tuning))


def _lost(state: _State, record: _Record, tuning: SearchTuning) -> tuple[_Lost, ...]:
    """Return the moves since the last one that was kept that lost much, given how many rows they are about."""
    place = {name: k for k, name in enumerate(state.names)}
    kept = [number for number, move in enumerate(record.history) if move.kept]
    since = record.history[kept[-1] + 1 if kept else 0 :]
    found = list[_Lost]()
    for move in since:
        parts = tuple(place[name] for name in move.parts)
        looks = tuple(state.look(k) for k in parts)
        if move.kind in _FROM_STATISTICS and -move.gain > tuning.much * np.sqrt(sum(look.rows for look in looks)):
            found.append(_Lost(move.kind, parts, looks))
    return tuple(found)


def _first_gain(task: _Task, state: _State, memory: _Memory, record: _Record) -> _Trial | None:
    """Return the best trial of the first list of alternatives of which one gains, if any does."""
    if len(record.history) >= task.tuning.most_proposals:
        return None
    for alternatives in _proposals(task, state, memory):
        best = _best_of(task, state, alternatives, record)
        if best is not None or len(record.history) >= task.tuning.most_proposals:
            return best
    return None


def _best_of(task: _Task, state: _State, alternatives: list[Proposal], record: _Record) -> _Trial | None:
    """Return the trial of the alternatives that gains most, if one gains enough, and note all of them."""
    least = task.tuning.loose * abs(state.total)
    best, trials = None, list[_Trial]()

    for proposal in alternatives:
        trial = _tried(task, state, proposal, beat=state.total if best is None else best.end.total)
        trials.append(trial)
        if trial.move.gain > least and (best is None or trial.end.total > best.end.total):
            best = trial
        record.sweeps += trial.move.sweeps
        if task.progress is not None:
            task.progress(record.sweeps, len(state.names) - task.prior.known, state.total)

    record.keep(trials, best)
    return best


def _proposals(task: _Task, state: _State, memory: _Memory) -> Iterator[list[Proposal]]:
    """Return what was not tried yet on components that look like these, cheap first; of a list the best is kept."""
    for proposal in _cheap_proposals(task, state):
        if memory.is_new(state, proposal):
            yield [proposal]

    for births in _births(task, state, memory):
        if memory.is_new(state, births[0]):
            yield births

    for proposal in _hinted(task, state, memory):
        yield [proposal]

    is_new = partial(memory.is_new, state)
    for proposal in resplits(task.prior, state.ascent, task.tuning, is_new, memory.split_up):
        if proposal.hope > task.tuning.least_hope:
            yield [proposal]

    for proposal in renewals(task.prior, state.ascent, task.tuning):
        if memory.is_new(state, proposal):
            yield [proposal]


def _cheap_proposals(task: _Task, state: _State) -> Iterator[Proposal]:
    """Return proposals that are judged from statistics alone."""
    yield from merges(task.prior, state.ascent, task.tuning)
    yield from releases(task.prior, state.ascent, task.tuning)
    yield from deletions(task.prior, state.ascent)


def _births(task: _Task, state: _State, memory: _Memory) -> list[list[Proposal]]:
    """Return the ways to split each component, the component that promises most first."""
    room = task.prior.novel - (len(state.names) - task.prior.known)
    candidates = list[tuple[float, int, list[Proposal]]]()

    for k in range(len(state.names)):
        found = memory.splits_of(state, k)
        # there may have been more room when they were found
        able = [split for split in found if split.pieces.counts.size - 1 <= room]
        able = [split for split in able if split.hope > task.tuning.least_hope]
        if able:
            candidates.append((able[0].hope, -k, [birth(state.ascent, k, split) for split in able]))

    candidates.sort(key=lambda candidate: candidate[:2], reverse=True)
    return [births for _, _, births in candidates]


def _hinted(task: _Task, state: _State, memory: _Memory) -> Iterator[Proposal]:
    """Return births of components that are hinted at, each once."""
    hint = np.empty(0, dtype=np.int64) if task.hint is None else task.hint
    for number in np.unique(hint[hint >= 0]).tolist():
        if number not in memory.hints:
            memory.hints.add(number)
            proposal = seed(task.rows, task.prior, state.ascent, np.flatnonzero(hint == number))
            if proposal is not None:
                yield proposal


def _tried(task: _Task, state: _State, proposal: Proposal, beat: float) -> _Trial:
    """Return where a proposal leads, novel components largest first and without those that no row wants."""
    names = [name for k, name in enumerate(state.names) if k != proposal.gone]
    names += range(state.next_name, state.next_name + proposal.statistics.counts.size - len(names))
    order = best_stick_order(task.prior.weights, proposal.statistics.counts)
    place = np.argsort(order).astype(np.int32)

    part = with_novelties(task.prior, len(names) - task.prior.known)
    start = proposal.statistics.reordered(order)
    found = task.climb(part, start, winners=relabelled(proposal.winners, place), beat=beat)
    found, names = _without_empty(task, found, [names[k] for k in order], beat)

    end = _State(found, tuple(names), max(state.next_name, max(names) + 1))
    parts = tuple(state.names[k] for k in proposal.parts)
    gain, sweeps, groups = end.total - state.total, found.trace.size, len(names) - task.prior.known
    return _Trial(end, Move(proposal.kind, parts, proposal.hope, gain, False, sweeps, groups, state.total))


def _without_empty(task: _Task, found: Ascent, names: list[int], beat: float) -> tuple[Ascent, list[int]]:
    """Return the ascent without novel components that no row wants, if it beats the others and loses nothing."""
    empty = [k for k in range(task.prior.known, len(names)) if found.statistics.counts[k] < task.tuning.empty]
    if not empty or found.bound.total <= beat:
        return found, names

    statistics, winners = without(found.statistics, found.winners, empty)
    part = with_novelties(task.prior, len(names) - len(empty) - task.prior.known)
    fewer = task.climb(part, statistics, winners=winners)
    if fewer.bound.total <= found.bound.total - task.tuning.loose * abs(beat):
        return found, names

    joint = np.append(found.trace, fewer.trace)
    kept = [name for k, name in enumerate(names) if k not in empty]
    return replace(fewer, trace=np.maximum.accumulate(joint)), kept
