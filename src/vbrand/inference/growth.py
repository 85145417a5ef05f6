"""The search by moves: from the known classes and one novelty, until no move raises the bound."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.moves import Proposal, Split, birth, deletions, merges, releases, resplits, splits, without
from vbrand.inference.rows import Rows
from vbrand.inference.starts import one_novelty
from vbrand.model.posterior import Posterior, updated
from vbrand.model.prior import Prior, with_novelties
from vbrand.model.weights import best_stick_order
from vbrand.types import FloatArray

# an ascent within the search ends when a sweep gains less than this part of the bound; a move must gain more
_LOOSE = 1e-6
# a component with fewer rows is dropped if that costs nothing
_EMPTY = 0.5
# a component is the same if its rows, and its centre in units of its scatter, changed by less than this
_SAME_ROWS = 0.03
_SAME_PLACE = 0.1
# births are tried if the fit on the rows of one component promises this much
_LEAST_HOPE = -2.0
_MOST_PROPOSALS = 1_000
# a table of many rows is searched first through an even sample of it
_MANY_ROWS = 100_000
_SAMPLE = 20_000

Progress = Callable[[int, int, float], None]  # sweeps, novel components, bound


@dataclass(frozen=True)
class Move:
    """One proposal and what became of it. Components have numbers that they keep as long as they live.

    Several ways to split a component are tried before the best of them is kept, so one that is not kept may have
    gained, too.
    """

    kind: str  # "birth", "merge", "resplit", "release" or "delete"
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


@dataclass(frozen=True)
class _Look:
    """What a component looks like."""

    rows: float
    mean: FloatArray  # (p,)
    root: FloatArray  # (p, p) of its expected precision

    def same(self, other: "_Look") -> bool:
        moved = np.square(self.root @ (self.mean - other.mean)).mean()
        return bool(abs(self.rows - other.rows) <= 1.0 + _SAME_ROWS * self.rows and moved <= _SAME_PLACE**2)


@dataclass(frozen=True)
class _State:
    ascent: Ascent
    names: tuple[int, ...]  # of the components

    def look(self, k: int) -> _Look:
        components = self.ascent.posterior.components
        root = np.sqrt(components.dof[k]) * components.inverse_factor[k]
        return _Look(float(self.ascent.statistics.counts[k]), components.mean[k], root)


@dataclass
class _Memory:
    """What was tried, and what it was tried on: nothing is tried twice."""

    tried: dict[tuple[object, ...], list[_Look]] = field(default_factory=dict)
    splits: dict[int, tuple[_Look, list[Split]]] = field(default_factory=dict)

    def is_new(self, state: _State, proposal: Proposal) -> bool:
        """Return whether components that look like these have not had this proposal, and note that they have now."""
        key = (proposal.kind, *(state.names[k] for k in proposal.parts))
        looks = [state.look(k) for k in proposal.parts]
        before = self.tried.get(key)
        if before is not None and all(was.same(look) for was, look in zip(before, looks, strict=True)):
            return False
        self.tried[key] = looks
        return True

    def forget(self, names: tuple[int, ...]) -> None:
        """Forget what was tried on components that a move has changed, however little it shows."""
        self.tried = {key: looks for key, looks in self.tried.items() if not set(key[1:]) & set(names)}
        self.splits = {name: seen for name, seen in self.splits.items() if name not in names}


def grow(
    rows: Rows, prior: Prior, *, max_iter: int = 1_000, threads: int = 1, progress: Progress | None = None
) -> Growth:
    """Return the best that moves find, from the known classes and one novelty.

    The history of a long table is that of the moves over all its rows: bounds of a sample do not compare with theirs.
    """
    if len(rows) <= _MANY_ROWS:
        alone = with_novelties(prior, 1)
        return _grow(rows, prior, one_novelty(rows, alone), max_iter, threads, progress)
    sample = replace(rows, table=rows.table[:: len(rows) // _SAMPLE])
    sketch = grow(sample, prior, max_iter=max_iter, threads=threads, progress=progress)
    return _grow(rows, prior, sketch.ascent.posterior, max_iter, threads, progress)


def _grow(
    rows: Rows,
    prior: Prior,
    start: Posterior,
    max_iter: int,
    threads: int,
    progress: Progress | None,
) -> Growth:
    climb = partial(ascend, rows, tol=_LOOSE, max_iter=max_iter, sort=False, threads=threads)
    components = start.components.dof.size
    first = climb(with_novelties(prior, components - prior.known), start)
    state, next_name = _State(first, tuple(range(components))), components
    memory, history, trace, sweeps = _Memory(), list[Move](), list(first.trace), first.trace.size
    kept = True
    while kept and len(history) < _MOST_PROPOSALS:
        kept = False
        for alternatives in _proposals(rows, prior, state, memory):
            now, best = state.ascent.bound.total, state
            for proposal in alternatives:
                tried = _tried(climb, prior, state, proposal, next_name, best.ascent.bound.total)
                gain = tried.ascent.bound.total - now
                if gain > _LOOSE * abs(now) and tried.ascent.bound.total > best.ascent.bound.total:
                    best = tried
                parts = tuple(state.names[k] for k in proposal.parts)
                taken, groups = tried.ascent.trace.size, len(tried.names) - prior.known
                history.append(Move(proposal.kind, parts, proposal.hope, gain, False, taken, groups, now))
                sweeps += taken
                if progress is not None:
                    progress(sweeps, len(state.names) - prior.known, now)
            kept = best is not state
            if kept:
                state, bound = best, best.ascent.bound.total
                chosen = max(range(1, len(alternatives) + 1), key=lambda back: history[-back].gain)
                history.append(replace(history.pop(-chosen), kept=True, bound=bound))
                next_name = max(next_name, max(state.names) + 1)
                memory.forget(history[-1].parts)
                trace += [value for value in state.ascent.trace if value > now]
                break
            if len(history) >= _MOST_PROPOSALS:
                break
    return Growth(replace(state.ascent, trace=np.array(trace)), tuple(history), sweeps)


def _proposals(rows: Rows, prior: Prior, state: _State, memory: _Memory) -> Iterator[list[Proposal]]:
    """Return what was not tried yet on components that look like these, cheap first; of a list the best is kept."""
    for cheap in (merges, releases, deletions):
        yield from ([proposal] for proposal in cheap(prior, state.ascent) if memory.is_new(state, proposal))
    room = prior.novel - (len(state.names) - prior.known)
    candidates = list[tuple[float, int, list[Proposal]]]()
    for k, name in enumerate(state.names):
        look = state.look(k)
        if name not in memory.splits or not memory.splits[name][0].same(look):
            memory.splits[name] = look, splits(rows, prior, state.ascent, k)
        # there may have been more room when it was found
        able = [split for split in memory.splits[name][1] if split.pieces.counts.size - 1 <= room]
        able = [split for split in able if split.hope > _LEAST_HOPE]
        if able:
            candidates.append((able[0].hope, -k, [birth(state.ascent, k, split) for split in able]))
    for _, _, births in sorted(candidates, key=lambda candidate: candidate[:2], reverse=True):
        if memory.is_new(state, births[0]):
            yield births
    for proposal in resplits(rows, prior, state.ascent):
        if proposal.hope > _LEAST_HOPE and memory.is_new(state, proposal):
            yield [proposal]


def _tried(
    climb: Callable[..., Ascent], prior: Prior, state: _State, proposal: Proposal, next_name: int, beat: float
) -> _State:
    """Return where a proposal leads, novel components largest first and without those that no row wants."""
    names = [name for k, name in enumerate(state.names) if k != proposal.gone]
    names += range(next_name, next_name + proposal.statistics.counts.size - len(names))
    order = best_stick_order(prior.weights, proposal.statistics.counts)
    place = np.argsort(order).astype(np.int32)
    part = with_novelties(prior, len(names) - prior.known)
    start = updated(part, proposal.statistics.reordered(order))
    found = climb(part, start, winners=place[proposal.winners], beat=beat)
    names = [names[k] for k in order]
    empty = [k for k in range(prior.known, len(names)) if found.statistics.counts[k] < _EMPTY]
    if empty and found.bound.total > beat:
        statistics, winners = without(found.statistics, found.winners, empty)
        part = with_novelties(prior, len(names) - len(empty) - prior.known)
        fewer = climb(part, updated(part, statistics), winners=winners)
        if fewer.bound.total > found.bound.total - _LOOSE * abs(beat):
            joint = np.append(found.trace, fewer.trace)
            found = replace(fewer, trace=np.maximum.accumulate(joint))
            names = [name for k, name in enumerate(names) if k not in empty]
    return _State(found, tuple(names))
