"""Moves from one way to share the rows out to another: birth, merge, resplit, release, renew, delete.

A move proposes statistics, from which sweeps go on. What it may gain is judged beforehand: from statistics alone, or,
for births, by a small fit on the rows of one component. The bound decides (growth.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.kernel import statistics_of_labelings
from vbrand.inference.rows import Rows, relabelled
from vbrand.inference.splits import guesses
from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.model.components import Components, evidence, posterior_from
from vbrand.model.gaps import Spread, completed
from vbrand.model.levels import spread_levels
from vbrand.model.prior import Prior, with_novelties
from vbrand.model.statistics import Statistics, joined
from vbrand.model.weights import Weights, weights_evidence
from vbrand.samples import some_members
from vbrand.types import FloatArray, IntArray


class MoveKind(StrEnum):
    """What a move does; the texts stand in model files and pictures."""

    BIRTH = "birth"  # a component is split, and its pieces but one become novel components
    MERGE = "merge"  # a novel component joins another one
    RESPLIT = "resplit"  # a novel component and another one join and are split in another way
    RELEASE = "release"  # a new novel component takes the rows of a known one
    RENEW = "renew"  # a known component begins again as its class has it, and the rows about it find their places anew
    DELETE = "delete"  # a novel component goes, and its rows find places among the others


# statistics, and the component that each row looks at first
Shared = tuple[Statistics, Any]


@dataclass(frozen=True)
class Proposal:
    """Another way to share the rows out."""

    kind: MoveKind
    parts: tuple[int, ...]  # the components that it changes
    hope: float  # what the bound may gain
    build: Callable[[], Shared]  # most proposals are never tried
    gone: int | None = None  # the component that it does without

    @cached_property
    def shared(self) -> Shared:
        """Return how it shares the rows out."""
        return self.build()

    @property
    def statistics(self) -> Statistics:
        """Return what the ascent starts from."""
        return self.shared[0]

    @property
    def winners(self) -> Any:
        """Return the component that each row looks at first, (n,)."""
        return self.shared[1]


@dataclass(frozen=True)
class Split:
    """Pieces of one component; the first takes its place, the others become novel components."""

    hope: float
    pieces: Statistics


def merges(prior: Prior, state: Ascent, tuning: SearchTuning = TUNED) -> list[Proposal]:
    """Return merges of two novel components, or of a novel one into a known one, most promising first."""
    into, gone, hopes = _all_merges(prior, state)
    able = hopes > -tuning.hidden_gain
    every = zip(into[able].tolist(), gone[able].tolist(), hopes[able].tolist(), strict=True)
    return [_merge(state, *each) for each in every]


def resplits(
    prior: Prior,
    state: Ascent,
    tuning: SearchTuning,
    is_new: Callable[[Proposal], bool],
    split_up: "Callable[[Ascent, int], list[Split]]",
) -> Iterator[Proposal]:
    """Return other ways to split the rows of two components that are near each other, where that is new.

    They are the nearest pairs of novel components, and known ones that rows have led away from their prior, with the
    novel one nearest to each. `split_up` finds the ways to split a component.
    """
    into, gone, hopes = _all_merges(prior, state)
    near = np.flatnonzero(into >= prior.known)[: tuning.pairs].tolist()
    if _led_away(prior, state, tuning):
        known, nearest = np.unique(into, return_index=True)
        near += sorted(nearest[known < prior.known].tolist())
    for at in near:
        merge = _merge(state, int(into[at]), int(gone[at]), float(hopes[at]))
        again = replace(merge, kind=MoveKind.RESPLIT)
        if not is_new(again):
            continue
        together = replace(state, statistics=merge.statistics, winners=merge.winners)
        for split in split_up(together, merge.parts[0])[:1]:
            yield replace(again, hope=merge.hope + split.hope, build=birth(together, merge.parts[0], split).build)


def _all_merges(prior: Prior, state: Ascent) -> tuple[IntArray, IntArray, FloatArray]:
    """Return pairs of components that may be merged, and what the bound may gain, the most promising pair first."""
    now = state.statistics
    count = now.counts.size
    first, second = np.triu_indices(count, 1)
    first, second = first[second >= prior.known], second[second >= prior.known]
    if first.size == 0:
        return first, second, np.empty(0)

    components = _components(prior, count)
    own = evidence(components, now)
    gains = evidence(components, _together(now, first, second), first) - own[first] - own[second]
    # (7.5)  evidence(j and k together) - evidence(j) - evidence(k) + (7.3) after - (7.3) before
    hopes = gains + weights_evidence(prior.weights, _merged_counts(now.counts, first, second))
    hopes -= weights_evidence(prior.weights, now.counts)

    order = np.argsort(-hopes, kind="stable")
    return first[order], second[order], hopes[order]


def _merge(state: Ascent, into: int, gone: int, hope: float) -> Proposal:
    return Proposal(MoveKind.MERGE, (into, gone), hope, partial(_merged, state, into, gone), gone)


def _together(statistics: Statistics, first: IntArray, second: IntArray) -> Statistics:
    """Return the statistics of pairs of components as one."""
    left = statistics.reordered(first)
    return left + statistics.reordered(second).about(left.origin)


def _merged_counts(counts: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return the rows of all components but the second of a pair, whose rows the first has, (pairs, K - 1)."""
    pairs = np.arange(first.size)
    merged = np.tile(counts, (first.size, 1))
    merged[pairs, first] += counts[second]
    kept = np.ones(merged.shape, dtype=bool)
    kept[pairs, second] = False
    return merged[kept].reshape(first.size, -1)


def _merged(state: Ascent, into: int, gone: int) -> Shared:
    both = _together(state.statistics, np.array([into]), np.array([gone]))
    winners = relabelled(state.winners, _instead(state, gone, into))
    return without(_placed(state.statistics, into, both), winners, [gone])


def releases(prior: Prior, state: Ascent, tuning: SearchTuning = TUNED) -> list[Proposal]:
    """Return proposals that give all the rows of a known component to a new novel one."""
    now, known = state.statistics, np.arange(prior.known)
    if now.counts.size == prior.known + prior.novel or known.size == 0:
        return []

    rows = now.reordered(known)
    ways = np.tile(np.append(now.counts, 0.0), (known.size, 1))
    ways[known, known], ways[known, -1] = 0.0, rows.counts
    # (7.6)  evidence(rows of k | base measure) - evidence(rows of k | known k) + (7.3) after - (7.3) before
    hopes = evidence(prior.components, rows, np.full_like(known, prior.known))
    hopes += weights_evidence(prior.weights, ways) - evidence(prior.components, rows, known)
    hopes -= weights_evidence(prior.weights, now.counts)

    able = np.flatnonzero((hopes > -tuning.hidden_gain) & (rows.counts >= tuning.fewest_rows))
    return [
        Proposal(MoveKind.RELEASE, (k,), float(hopes[k]), partial(_released, state, k))
        for k in able[np.argsort(-hopes[able], kind="stable")].tolist()
    ]


def _released(state: Ascent, k: int) -> Shared:
    own, count = state.statistics.reordered(np.array([k])), state.statistics.counts.size
    statistics = joined([_placed(state.statistics, k, own.scaled(0.0)), own])
    return statistics, relabelled(state.winners, _instead(state, k, count))


def _instead(state: Ascent, old: int, new: int) -> NDArray[np.int32]:
    """Return the names of components with another one for `old`."""
    place = np.arange(state.statistics.counts.size, dtype=np.int32)
    place[old] = new
    return place


def renewals(prior: Prior, state: Ascent, tuning: SearchTuning = TUNED) -> list[Proposal]:
    """Return proposals that let a known component begin again at its prior, the one with the fewest rows first."""
    if not _led_away(prior, state, tuning):
        return []
    fewest_first = np.argsort(state.statistics.counts[: prior.known], kind="stable")
    return [Proposal(MoveKind.RENEW, (k,), 0.0, partial(_renewed, state, k)) for k in fewest_first.tolist()]


def _led_away(prior: Prior, state: Ascent, tuning: SearchTuning) -> bool:
    """Return whether rows have led known components away from their priors: what they paid for it may be won back."""
    return -state.bound.known > tuning.least_moved * prior.known


def _renewed(state: Ascent, k: int) -> Shared:
    own = state.statistics.reordered(np.array([k]))
    return _placed(state.statistics, k, own.scaled(0.0)), state.winners


def deletions(prior: Prior, state: Ascent) -> list[Proposal]:
    """Return proposals to do without a novel component, the smallest first."""
    now = state.statistics
    smallest_first = prior.known + np.argsort(now.counts[prior.known :], kind="stable")
    if now.counts.size == 1:
        return []
    return [
        Proposal(MoveKind.DELETE, (gone,), 0.0, partial(without, now, state.winners, [gone]), gone)
        for gone in smallest_first.tolist()
    ]


def birth(state: Ascent, k: int, split: Split) -> Proposal:
    """Return the proposal to split component k."""
    return Proposal(MoveKind.BIRTH, (k,), split.hope, partial(_born, state, k, split.pieces))


def _born(state: Ascent, k: int, pieces: Statistics) -> Shared:
    now, pieces = state.statistics, pieces.scaled(state.statistics.counts[k] / pieces.counts.sum())
    first, others = np.array([0]), np.arange(1, pieces.counts.size)
    return joined([_placed(now, k, pieces.reordered(first)), pieces.reordered(others)]), state.winners


def seed(rows: Rows, prior: Prior, state: Ascent, members: IntArray) -> Proposal | None:
    """Return the proposal that some rows are a novel component; None where they are one, or there is no room.

    They still count where they were: sweeps take them away from there if they are better off.
    """
    at = np.asarray(state.winners[members])
    k = int(np.bincount(at).argmax())
    alone = k >= prior.known and 2 * int((at == k).sum()) > state.statistics.counts[k]
    if alone or state.statistics.counts.size == prior.known + prior.novel:
        return None
    return Proposal(MoveKind.BIRTH, (k,), 0.0, partial(_seeded, rows, prior, state, members, k))


def _seeded(rows: Rows, prior: Prior, state: Ascent, members: IntArray, k: int) -> Shared:
    local = Rows.plain(rows.working(members), rows.levels)
    filled, spread = (local, None) if not local.gapped else _filled_in(local, prior, state, k)
    own = statistics_of_labelings(filled, np.zeros((1, members.size), dtype=np.int64), np.array([0, 1]), spread)
    winners = state.winners.copy()
    winners[members] = state.statistics.counts.size
    return joined([state.statistics, own]), winners


def without(statistics: Statistics, winners: Any, gone: list[int]) -> Shared:
    """Return statistics and winners without some components; their rows look first at component 0."""
    kept = np.delete(np.arange(statistics.counts.size), gone)
    place = np.zeros(statistics.counts.size, dtype=np.int32)
    place[kept] = np.arange(kept.size)
    return statistics.reordered(kept), relabelled(winners, place)


def splits(rows: Rows, prior: Prior, state: Ascent, k: int, tuning: SearchTuning = TUNED) -> list[Split]:
    """Return ways to split component k, as fits on its rows alone found them, most promising first."""
    members = some_members(state.winners, len(rows), k, tuning.local_rows)
    room = prior.novel - (state.statistics.counts.size - prior.known)
    if members.size < tuning.fewest_rows or room < 1:
        return []

    local = Rows.plain(rows.working(members), rows.levels)
    part_of = cache(partial(_local_prior, prior, k, _local_weights(prior, k)))

    def fitted(pieces: Statistics, labels: NDArray[np.int32], beat: float | None) -> Ascent:
        return ascend(
            local,
            part_of(pieces.counts.size),
            pieces,
            winners=labels,
            tol=tuning.loose,
            max_iter=tuning.local_sweeps,
            beat=beat,
            sort=False,
            tuning=tuning,
        )

    together = np.zeros(len(local), dtype=np.int32)
    filled, spread = (local, None) if not local.gapped else _filled_in(local, prior, state, k)
    whole = statistics_of_labelings(filled, together[None].astype(np.int64), np.array([0, 1]), spread)
    unsplit = fitted(whole, together, None).bound.total
    found = list[Split]()
    for guess in _best_guesses(filled, spread, prior, min(k, prior.known), room, tuning):
        fit = fitted(guess.pieces, guess.labels, unsplit)
        counts = fit.statistics.counts
        live = np.flatnonzero((counts >= tuning.fewest_in_piece) | (np.arange(counts.size) == 0))
        hope = fit.bound.total - unsplit
        if live.size > 1 and all(abs(hope - other.hope) > tuning.same_split for other in found):
            found.append(Split(hope, fit.statistics.reordered(live)))

    return sorted(found, key=lambda split: -split.hope)


def _filled_in(local: Rows, prior: Prior, state: Ascent, k: int) -> tuple[Rows, Spread]:
    """Return rows with what component k expects in their missing cells: the same for all guesses, so they compare."""
    own = posterior_from(
        prior.components.reordered(np.array([min(k, prior.known)])), state.statistics.reordered(np.array([k]))
    )
    scale = own.scale[0] / (1.0 if own.fixed[0] else own.dof[0])
    filled = local.table.copy()
    filled[:, : local.columns], spread = completed(local.numbers(slice(None)), own.mean[0], np.linalg.inv(scale))
    return replace(local, table=filled), spread


@dataclass(frozen=True)
class _Guess:
    """Rows cut into pieces; piece 0 stays with the component."""

    labels: NDArray[np.int32]  # (n,)
    pieces: Statistics


def _best_guesses(
    local: Rows, spread: Spread | None, prior: Prior, own: int, room: int, tuning: SearchTuning
) -> list[_Guess]:
    """Return the guesses that look best as they are; `own` is the component of the prior that is split.

    `spread` is that of cells that were missing.
    """
    unit = local.numbers(slice(None)) @ prior.unit
    if local.levels:
        unit = np.column_stack([unit, spread_levels(local.codes(slice(None)), sum(local.levels))])
    labelings = np.array(list(guesses(unit, tuning)))
    last = labelings.max(axis=1)
    labelings, last = labelings[(last >= 1) & (last <= room)], last[(last >= 1) & (last <= room)]
    if last.size == 0:
        return []

    ends = np.append(0, np.cumsum(last + 1))
    pieces = statistics_of_labelings(local, labelings, ends, spread)
    # (7.7)  sum_c [evidence(c | base measure) + N_c log(N_c / N)] + max_c [evidence(c | own prior) - ..]
    as_novel = evidence(prior.components, pieces, np.full(ends[-1], prior.known))
    as_own = as_novel if own == prior.known else evidence(prior.components, pieces, np.full(ends[-1], own))
    advantage = as_own - as_novel
    shares = pieces.counts / len(local)
    value = as_novel + pieces.counts * np.log(np.where(shares > 0.0, shares, 1.0))
    values = np.add.reduceat(value, ends[:-1]) + np.maximum.reduceat(advantage, ends[:-1])

    best = list[_Guess]()
    order_of_value = np.argsort(-values, kind="stable")
    # pieces that are the same but for their numbers have the same value, but for rounding
    fresh = np.append(True, -np.diff(values[order_of_value]) > tuning.same_guess)
    for number in order_of_value[fresh][: tuning.local_starts].tolist():
        here = np.arange(ends[number], ends[number + 1])
        stays = int(advantage[here].argmax())
        order = np.append(stays, np.delete(np.arange(here.size), stays))
        labels = np.argsort(order).astype(np.int32)[labelings[number]]
        best.append(_Guess(labels, pieces.reordered(here[order])))
    return best


def _local_prior(prior: Prior, k: int, weights: Weights, count: int) -> Prior:
    """Return the prior of component k and of the novel ones that it is split into, so many in all."""
    order = np.append(min(k, prior.known), np.full(count - 1, prior.known))
    class_of = prior.class_of[k : k + 1] if k < prior.known else prior.class_of[:0]
    return Prior(prior.components.reordered(order), weights, class_of)


def _local_weights(prior: Prior, k: int) -> Weights:
    """Return the weights of one component and the novel ones that it may be split into."""
    entries = [k, prior.known] if k < prior.known else [prior.known]
    return replace(prior.weights, dirichlet=prior.weights.dirichlet[entries])


def _components(prior: Prior, count: int) -> Components:
    return with_novelties(prior, count - prior.known).components


def _placed(statistics: Statistics, k: int, one: Statistics) -> Statistics:
    """Return the statistics with component k replaced by another one."""
    order = np.arange(statistics.counts.size)
    order[k] = statistics.counts.size
    return joined([statistics, one]).reordered(order)
