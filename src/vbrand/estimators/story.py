"""From a finding to what the next batch begins with, and from a batch to what there is to tell of it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from vbrand.discovery.variational import Numbered, VariationalDiscovery
from vbrand.estimators.fitted import INSIDE, Finding, Story
from vbrand.estimators.identity import Identity
from vbrand.facts.events import NO_EVENTS, Event, EventKind, EventLog
from vbrand.inference.batches import Earlier, Further, statistics_in, with_earlier
from vbrand.inference.rows import Rows
from vbrand.model.earlier import taught_by
from vbrand.model.posterior import Posterior
from vbrand.model.statistics import joined, nothing_about
from vbrand.samples import evenly
from vbrand.trust.meaning import Meaning, Memberships
from vbrand.types import BoolArray, FloatArray, IntArray

# rows; a component that holds less is none
_EMPTY = 0.5
# P(novel) below which a group is taken for a piece of a known class
_EVEN = 0.5
_NONE = np.empty(0, dtype=np.int64)


def empty(known: int, q: int) -> Story:
    """Return the story before any batch, for so many components of stage 1 in q working coordinates."""
    return Story(0, 0, nothing_about(np.zeros((known, q))), _NONE, _NONE, _NONE, np.empty((0, q)), _NONE, 0, 1, _NONE)


def begun(finding: Finding) -> Story | None:
    """Return the story of a detector that has discovered a table, or batches; None before any rows."""
    if finding.story is not None:
        return finding.story
    prior, posterior = finding.prior, finding.posterior
    rows = posterior.weights.dirichlet.sum() - prior.weights.dirichlet.sum()
    if rows < _EMPTY:
        return None

    taught = taught_by(prior, posterior)  # (K,)
    places = np.flatnonzero((taught.counts >= _EMPTY) & (np.arange(taught.counts.size) >= prior.known))
    living = np.arange(1, finding.group_components.size + 1)
    numbers = np.zeros(taught.counts.size - prior.known + 1, dtype=np.int64)
    numbers[finding.group_components] = living
    born = [
        Event(1, "", EventKind.BORN, f"novel {number}", round(float(taught.counts[place])), "")
        for place, number in zip(places.tolist(), numbers[places - prior.known].tolist(), strict=True)
        if number
    ]
    return replace(
        empty(prior.known, posterior.components.columns),
        batches=1,
        rows=round(float(rows)),
        taught=taught.reordered(np.append(np.arange(prior.known), places)),
        class_of=np.full(places.size, -1),
        numbers=numbers[places - prior.known],
        places=places,
        inside=int(numbers[-1]),
        unused=living.size + 1,
        living=living,
        events=tuple(sorted(born, key=lambda event: event.group)),
    )


def log_of(story: Story | None) -> EventLog:
    """Return what became of groups so far."""
    return NO_EVENTS if story is None else EventLog(story.events, story.batches)


def afresh(story: Story | None, known: int) -> Story | None:
    """Return what is left of a story for a discovery that begins anew: named groups; None where there are none.

    `known` are the components of stage 1.
    """
    if story is None or (story.class_of < 0).all():
        return None
    named = np.flatnonzero(story.class_of >= 0)
    own = story.taught.reordered(story.known + named)
    new = empty(known, story.taught.origin.shape[1])
    return replace(
        new,
        batches=story.batches,
        taught=joined([new.taught, own]),
        class_of=story.class_of[named],
        numbers=np.zeros_like(named),
        places=known + np.arange(named.size),
        events=story.events,
    )


def earlier_of(story: Story) -> Earlier:
    """Return what a batch begins with: the components that hold rows which are no longer at hand."""
    held = np.flatnonzero((story.taught.counts[story.known :] >= _EMPTY) | (story.class_of >= 0))
    order = np.append(np.arange(story.known), story.known + held)
    return Earlier(story.taught.reordered(order), story.class_of[held], held)


def together(story: Story, rows: Rows) -> Rows:
    """Return the rows of a batch, and after them those of the window."""
    if story.homes.size == 0:
        return rows
    return Rows.plain(np.vstack([rows.working(slice(None)), story.window]), rows.levels)


def frozen(story: Story, posterior: Posterior, chosen: BoolArray) -> Story:
    """Return the story with some rows of the window no longer at hand, only what they taught."""
    own = statistics_in(story.window[chosen], posterior)
    own = own.reordered(np.append(np.arange(story.known), story.places))
    return replace(
        story,
        taught=story.taught.about(own.origin) + own,
        window=story.window[~chosen],
        homes=story.homes[~chosen],
    )


def inside_of(parts: Sequence[Memberships], threshold: float) -> BoolArray:
    """Return which rows are novel, but in a known component, (n,)."""
    if parts[0].cells is None:
        return np.zeros(sum(part.novel.shape[0] for part in parts), dtype=bool)
    return np.concatenate(
        [part.is_novel(threshold) & (part.novel.argmax(axis=1) == part.novel.shape[1] - 1) for part in parts]
    )


def numbered(
    story: Story, further: Further, same: Identity, meaning: Meaning, parts: Sequence[Memberships], threshold: float
) -> Numbered:
    """Return what earlier batches say of the novel components, and of novelty among the known ones.

    `parts` are all rows at hand, last those of the window.
    """
    components = further.found.best.posterior.components
    novel, inside = np.flatnonzero(meaning.class_of < 0), int(meaning.checked is not None)
    numbers = same.numbers[novel]
    held, cells = _earlier_by_cell(story, further, meaning, parts, threshold)
    return Numbered(
        numbers=np.append(numbers, np.full(inside, same.numbers[-1])),
        rows=np.append(same.rows[novel], np.zeros(inside)),
        held=held,
        cells=cells,
        alive=np.append((numbers > 0) & (meaning.matrix[novel, -1] >= _EVEN), np.zeros(inside, dtype=bool)),
        centres=np.concatenate([components.mean[novel], np.zeros((inside, components.columns))]),
        unused=story.unused,
    )


def _earlier_by_cell(
    story: Story, further: Further, meaning: Meaning, parts: Sequence[Memberships], threshold: float
) -> tuple[FloatArray, FloatArray]:
    """Return the rows of earlier batches that are called novel, by column of novelty, (T,), and by cell, too, (T, C).

    Rows that are no longer at hand are believed to fall into the cells of their component as the others do.
    """
    columns, checked = parts[0].novel.shape[1], meaning.checked
    if checked is None:
        return np.zeros(columns), np.zeros((columns, 0))
    held, cells = np.zeros(columns), np.zeros((columns, checked.novel.size))
    first = sum(part.novel.shape[0] for part in parts) - story.homes.size
    for part in parts:
        own = part.is_novel(threshold) & (np.arange(part.novel.shape[0]) >= first)
        first -= part.novel.shape[0]
        assert part.cells is not None
        assert part.doubt is not None
        group = part.novel.argmax(axis=1)[own]
        held += np.bincount(group, minlength=columns)
        np.add.at(cells, group, (part.cells * part.doubt[:, None])[own])

    gone, starts = _earlier(further).taught.counts, checked.cells.starts
    novel = np.flatnonzero(meaning.class_of < 0)
    for t, k in enumerate(novel[novel < gone.size].tolist()):
        evenly_spread = np.zeros(cells.shape[1])
        evenly_spread[starts[t + 1] : starts[t + 2]] = 1.0 / (starts[t + 2] - starts[t + 1])
        cells[t] += gone[k] * (cells[t] / held[t] if held[t] else evenly_spread)
        held[t] += gone[k]
    return held, cells


def told(
    story: Story,
    further: Further,
    same: Identity,
    rows: Rows,
    batch: int,
    found: VariationalDiscovery,
    meaning: Meaning,
    most: int,
    window: int,
) -> Story:
    """Return the story after a batch: the first so many of the rows are its own, the others those of the window.

    Of components without a name at most so many go on, the largest; of rows so many stay at hand, the last.
    """
    best, numbers, novel = further.found.best, same.numbers[:-1].copy(), np.flatnonzero(meaning.class_of < 0)
    of_components = found.group_components < novel.size
    numbers[novel[found.group_components[of_components]]] = found.group_numbers[of_components]
    inside = found.group_numbers[~of_components]

    stays = _staying(batch, len(rows), window)
    leaves = np.delete(np.arange(len(rows)), stays)
    taught = with_earlier(_earlier(further).taught, statistics_in(rows.working(leaves), best.posterior))
    everything = with_earlier(_earlier(further).taught, best.statistics)
    places = _kept(everything.counts, meaning.class_of, story.known, most)
    home = np.full(best.posterior.components.dof.size, -1)
    home[places] = np.arange(places.size)
    return replace(
        story,
        batches=story.batches + 1,
        rows=story.rows + batch,
        taught=taught.reordered(np.append(np.arange(story.known), places)),
        class_of=meaning.class_of[places],
        numbers=numbers[places],
        places=places,
        window=rows.working(stays),
        homes=np.where(same.inside[stays], INSIDE, home[best.winners[stays]]),
        inside=int(inside[0]) if inside.size else int(same.numbers[-1]),
        unused=max(story.unused, int(found.group_numbers.max(initial=0)) + 1),
        living=found.group_numbers,
        events=(*story.events, *_events(story, same, meaning.class_of, numbers, found)),
    )


def _staying(batch: int, count: int, most: int) -> IntArray:
    """Return which rows stay at hand: those of the batch, which come first, or an even sample; then the newest."""
    if batch >= most:
        return evenly(batch, most)
    return np.arange(min(count, most))


def _kept(counts: FloatArray, class_of: IntArray, known: int, most: int) -> IntArray:
    """Return the components after the known ones that go on to the next batch."""
    those = np.arange(known, counts.size)
    named = those[class_of[those] >= 0]
    others = those[(class_of[those] < 0) & (counts[those] >= _EMPTY)]
    largest = others[np.argsort(-counts[others], kind="stable")][:most]
    return np.sort(np.append(named, largest))


def _events(
    story: Story, same: Identity, class_of: IntArray, numbers: IntArray, found: VariationalDiscovery
) -> Iterator[Event]:
    """Return what happened in a batch; `story` is that before it, classes and numbers those of components after it."""
    batch, time, gone = story.batches + 1, now(), set[int]()
    for number, into in same.merged:
        if number in story.living and (class_of[into] >= 0 or numbers[into]):
            gone.add(number)
            other = str(found.classes[class_of[into]]) if class_of[into] >= 0 else f"novel {numbers[into]}"
            yield Event(batch, time, EventKind.MERGED, f"novel {number}", 0, other)

    for group in found.groups[class_of[: story.known].max() + 1 : found.classes.size]:  # that a person has named
        if group.rows:
            yield Event(batch, time, EventKind.GROWN, group.name, group.rows, "")

    for number, group in zip(found.group_numbers.tolist(), found.groups[found.classes.size :], strict=True):
        like = "" if group.explanation is None else group.explanation.nearest
        if number >= story.unused:
            before = _before(story, same, numbers, number, found) or like
            yield Event(batch, time, EventKind.BORN, group.name, group.rows, before)
        elif group.rows:
            yield Event(batch, time, EventKind.GROWN, group.name, group.rows, like)

    for drift in found.context.drifts:
        name = str(found.classes[drift.member])
        yield Event(batch, time, EventKind.DRIFTED, name, drift.rows, f"{drift.distance:.1f} sd away")

    for number in story.living.tolist():
        if number not in found.group_numbers and number not in gone and number != same.numbers[-1]:
            yield Event(batch, time, EventKind.LOST, f"novel {number}", 0, "")


def _before(story: Story, same: Identity, numbers: IntArray, number: int, found: VariationalDiscovery) -> str:
    """Return what most rows of a group that is born were called before: another group, or one that was named."""
    for g in same.out_of[np.flatnonzero(numbers == number)].tolist():
        if g >= 0 and story.class_of[g] >= 0:
            return str(found.classes[story.class_of[g]])
        if g >= 0 and story.numbers[g] > 0:
            return f"novel {story.numbers[g]}"
    return ""


def _earlier(further: Further) -> Earlier:
    assert further.earlier is not None
    return further.earlier


def now() -> str:
    """Return the time, as events tell it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
