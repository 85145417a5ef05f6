"""Moves from one way to share the rows out to another: birth, merge, resplit, release, delete.

A move proposes statistics, from which sweeps go on. What it may gain is judged beforehand: from statistics alone, or,
for births, by a small fit on the rows of one component. The bound decides (growth.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.inference.splits import guesses
from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.model.components import Components, evidence
from vbrand.model.posterior import updated
from vbrand.model.prior import Prior, with_novelties
from vbrand.model.statistics import Statistics, joined
from vbrand.model.weights import Weights, weights_evidence
from vbrand.samples import every_kth
from vbrand.types import IntArray


class MoveKind(StrEnum):
    """What a move does; the texts stand in model files and pictures."""

    BIRTH = "birth"  # a component is split, and its pieces but one become novel components
    MERGE = "merge"  # a novel component joins another one
    RESPLIT = "resplit"  # two novel components join and are split in another way
    RELEASE = "release"  # a new novel component takes the rows of a known one
    DELETE = "delete"  # a novel component goes, and its rows find places among the others


@dataclass(frozen=True)
class Proposal:
    """Another way to share the rows out."""

    kind: MoveKind
    parts: tuple[int, ...]  # the components that it changes
    hope: float  # what the bound may gain
    statistics: Statistics
    winners: NDArray[np.int32]
    gone: int | None = None  # the component that it does without


@dataclass(frozen=True)
class Split:
    """Pieces of one component; the first takes its place, the others become novel components."""

    hope: float
    pieces: Statistics


def merges(prior: Prior, state: Ascent, tuning: SearchTuning = TUNED) -> list[Proposal]:
    """Return merges of two novel components, or of a novel one into a known one, most promising first."""
    return [proposal for proposal in _all_merges(prior, state) if proposal.hope > -tuning.hidden_gain]


def resplits(rows: Rows, prior: Prior, state: Ascent, tuning: SearchTuning = TUNED) -> Iterator[Proposal]:
    """Return other ways to split the rows of two novel components that are near each other."""
    near = [merge for merge in _all_merges(prior, state) if merge.parts[0] >= prior.known][: tuning.pairs]
    for merge in near:
        together = replace(state, statistics=merge.statistics, winners=merge.winners)
        for split in splits(rows, prior, together, merge.parts[0], tuning)[:1]:
            proposal = birth(together, merge.parts[0], split)
            hope = merge.hope + split.hope
            yield replace(proposal, kind=MoveKind.RESPLIT, parts=merge.parts, hope=hope, gone=merge.gone)


def _all_merges(prior: Prior, state: Ascent) -> list[Proposal]:
    now = state.statistics
    count = now.counts.size
    first, second = np.triu_indices(count, 1)
    first, second = first[second >= prior.known], second[second >= prior.known]
    if first.size == 0:
        return []

    # (7.5)  evidence(j and k together) - evidence(j) - evidence(k) + weights after - weights before
    left = now.reordered(first)
    both = left + now.reordered(second).about(left.origin)
    own = evidence(_components(prior, count), now)
    gains = evidence(_components(prior, count).reordered(first), both) - own[first] - own[second]
    before = weights_evidence(prior.weights, now.counts)

    proposals = list[Proposal]()
    for pair, (into, gone) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        after = now.counts.copy()
        after[into] += after[gone]
        hope = float(gains[pair]) + weights_evidence(prior.weights, np.delete(after, gone)) - before
        merged = _placed(now, into, both.reordered(np.array([pair])))
        winners = np.where(state.winners == gone, into, state.winners)
        proposals.append(Proposal(MoveKind.MERGE, (into, gone), hope, *without(merged, winners, [gone]), gone))

    return sorted(proposals, key=lambda proposal: -proposal.hope)


def releases(prior: Prior, state: Ascent, tuning: SearchTuning = TUNED) -> list[Proposal]:
    """Return proposals that give all the rows of a known component to a new novel one."""
    now = state.statistics
    count = now.counts.size
    if count == prior.known + prior.novel:
        return []

    base = _base(prior)
    before = weights_evidence(prior.weights, now.counts)
    proposals = list[Proposal]()
    for k in range(prior.known):
        own = now.reordered(np.array([k]))
        released = joined([_placed(now, k, own.scaled(0.0)), own])
        # (7.6)  evidence(rows of k | base measure) - evidence(rows of k | known k) + weights after - weights before
        gain = evidence(base, own)[0] - evidence(prior.components.reordered(np.array([k])), own)[0]
        hope = float(gain) + weights_evidence(prior.weights, released.counts) - before
        if hope > -tuning.hidden_gain and now.counts[k] >= tuning.fewest_rows:
            winners = np.where(state.winners == k, count, state.winners).astype(np.int32)
            proposals.append(Proposal(MoveKind.RELEASE, (k,), hope, released, winners))

    return sorted(proposals, key=lambda proposal: -proposal.hope)


def deletions(prior: Prior, state: Ascent) -> list[Proposal]:
    """Return proposals to do without a novel component, the smallest first."""
    now = state.statistics
    smallest_first = prior.known + np.argsort(now.counts[prior.known :], kind="stable")
    if now.counts.size == 1:
        return []
    return [
        Proposal(MoveKind.DELETE, (gone,), 0.0, *without(now, state.winners, [gone]), gone)
        for gone in smallest_first.tolist()
    ]


def birth(state: Ascent, k: int, split: Split) -> Proposal:
    """Return the proposal to split component k."""
    now, pieces = state.statistics, split.pieces.scaled(state.statistics.counts[k] / split.pieces.counts.sum())
    first, others = np.array([0]), np.arange(1, pieces.counts.size)
    statistics = joined([_placed(now, k, pieces.reordered(first)), pieces.reordered(others)])
    return Proposal(MoveKind.BIRTH, (k,), split.hope, statistics, state.winners)


def without(
    statistics: Statistics, winners: NDArray[np.int32], gone: list[int]
) -> tuple[Statistics, NDArray[np.int32]]:
    """Return statistics and winners without some components; their rows look first at component 0."""
    kept = np.delete(np.arange(statistics.counts.size), gone)
    place = np.zeros(statistics.counts.size, dtype=np.int32)
    place[kept] = np.arange(kept.size)
    return statistics.reordered(kept), place[winners]


def splits(rows: Rows, prior: Prior, state: Ascent, k: int, tuning: SearchTuning = TUNED) -> list[Split]:
    """Return ways to split component k, as fits on its rows alone found them, most promising first."""
    members = np.flatnonzero(state.winners == k)
    room = prior.novel - (state.statistics.counts.size - prior.known)
    if members.size < tuning.fewest_rows or room < 1:
        return []

    local = Rows.plain(rows.working(members[every_kth(members.size, tuning.local_rows)]))
    weights, class_of = _local_weights(prior, k), prior.class_of[k : k + 1]
    own = prior.components.reordered(np.array([min(k, prior.known)]))

    def fitted(labels: IntArray, beat: float | None) -> Ascent:
        pieces = int(labels.max()) + 1
        order = np.append(min(k, prior.known), np.full(pieces - 1, prior.known))
        part = Prior(prior.components.reordered(order), weights, class_of if k < prior.known else prior.class_of[:0])
        start = updated(part, statistics_of_labels(local, labels, pieces))
        winners = labels.astype(np.int32)
        return ascend(
            local,
            part,
            start,
            winners=winners,
            tol=tuning.loose,
            max_iter=tuning.local_sweeps,
            beat=beat,
            sort=False,
            tuning=tuning,
        )

    unsplit = fitted(np.zeros(len(local), dtype=np.int64), None).bound.total
    found = list[Split]()
    for labels in _best_guesses(local, own, _base(prior), room, tuning):
        fit = fitted(labels, unsplit)
        counts = fit.statistics.counts
        live = np.flatnonzero((counts >= tuning.fewest_in_piece) | (np.arange(counts.size) == 0))
        hope = fit.bound.total - unsplit
        if live.size > 1 and all(abs(hope - other.hope) > tuning.same_split for other in found):
            found.append(Split(hope, fit.statistics.reordered(live)))

    return sorted(found, key=lambda split: -split.hope)


def _best_guesses(local: Rows, own: Components, base: Components, room: int, tuning: SearchTuning) -> list[IntArray]:
    """Return the labelings that look best as they are; label 0 is the piece that stays with the component."""
    # in units of the base measure, where the rows of a class are about as wide in all directions
    size, axes = np.linalg.eigh(base.scale[0])
    unit = local.table @ (axes / np.sqrt(size)) @ axes.T  # by the symmetric root: the order of columns does not matter
    labelings = [labels for labels in guesses(unit, tuning) if labels.max() in range(1, room + 1)]
    if not labelings:
        return []

    sizes = np.array([labels.max() + 1 for labels in labelings])
    ends = np.cumsum(sizes)
    pieces = joined([statistics_of_labels(local, labels, labels.max() + 1) for labels in labelings])
    same = np.zeros(pieces.counts.size, dtype=np.int64)
    as_novel = evidence(base.reordered(same), pieces)
    as_own = evidence(own.reordered(same), pieces)
    # (7.7)  sum_c [evidence(c | base measure) + N_c log(N_c / N)] + the largest advantage of staying what it is
    shares = pieces.counts / len(local)
    value = as_novel + pieces.counts * np.log(np.where(shares > 0.0, shares, 1.0))

    ranked = list[tuple[float, int, IntArray]]()
    for number, (labels, end, size) in enumerate(zip(labelings, ends, sizes, strict=True)):
        here = slice(end - size, end)
        advantage = as_own[here] - as_novel[here]
        stays = int(advantage.argmax())
        relabel = np.where(labels == stays, 0, labels + (labels < stays))
        ranked.append((float(value[here].sum() + advantage[stays]), -number, relabel))

    ranked.sort(key=lambda guess: guess[:2], reverse=True)
    return [labels for _, _, labels in ranked[: tuning.local_starts]]


def _local_weights(prior: Prior, k: int) -> Weights:
    """Return the weights of one component and the novel ones that it may be split into."""
    entries = [k, prior.known] if k < prior.known else [prior.known]
    return replace(prior.weights, dirichlet=prior.weights.dirichlet[entries])


def _components(prior: Prior, count: int) -> Components:
    return with_novelties(prior, count - prior.known).components


def _base(prior: Prior) -> Components:
    return prior.components.reordered(np.array([prior.known]))


def _placed(statistics: Statistics, k: int, one: Statistics) -> Statistics:
    """Return the statistics with component k replaced by another one."""
    order = np.arange(statistics.counts.size)
    order[k] = statistics.counts.size
    return joined([statistics, one]).reordered(order)
