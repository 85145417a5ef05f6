"""From a finding to what the next batch begins with, and from a batch to what there is to tell of it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from vbrand.discovery.variational import Numbered, VariationalDiscovery
from vbrand.estimators.fitted import Finding, Fitted, Story
from vbrand.facts.events import Event, EventKind
from vbrand.inference.batches import Earlier, Further, with_earlier
from vbrand.model.components import Components
from vbrand.model.earlier import taught_by
from vbrand.model.statistics import joined
from vbrand.trust.meaning import Meaning
from vbrand.types import FloatArray, IntArray

# rows; a component that holds less is none
_EMPTY = 0.5
# P(novel) below which a group is taken for a piece of a known class
_EVEN = 0.5


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
    return Story(
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


def afresh(story: Story | None, known: int) -> Story | None:
    """Return what is left of a story for a discovery that begins anew: named groups; None where there are none.

    `known` are the components of stage 1.
    """
    if story is None or (story.class_of < 0).all():
        return None
    named = np.flatnonzero(story.class_of >= 0)
    own = story.taught.reordered(story.known + named)
    nothing = own.reordered(np.zeros(known, dtype=np.int64)).scaled(0.0)
    return replace(
        story,
        taught=joined([nothing, own]),
        class_of=story.class_of[named],
        numbers=np.zeros_like(named),
        inside=0,
        unused=1,
        living=np.empty(0, dtype=np.int64),
    )


def earlier_of(story: Story) -> Earlier:
    """Return what a batch begins with."""
    return Earlier(story.taught, story.class_of, np.arange(story.class_of.size))


def numbers_of(story: Story, further: Further) -> IntArray:
    """Return the numbers of all components after those of stage 1; one that took in another may have its number."""
    known = story.known
    numbers = np.append(np.zeros(known, dtype=np.int64), story.numbers)
    for into, gone in further.merged:
        if into >= known and numbers[into] == 0:
            numbers[into] = numbers[gone]
    carried = numbers[known + _earlier(further).origin]
    components = further.found.best.posterior.components.dof.size
    return np.append(carried, np.zeros(components - known - carried.size, dtype=np.int64))


def numbered(story: Story, further: Further, components: Components, meaning: Meaning) -> Numbered:
    """Return what earlier batches say of the novel components, and of novelty among the known ones."""
    known = story.known
    novel = np.flatnonzero(meaning.class_of < 0)
    held = np.zeros(components.dof.size)
    held[: _earlier(further).taught.counts.size] = _earlier(further).taught.counts
    numbers = np.append(np.zeros(known, dtype=np.int64), numbers_of(story, further))[novel]
    inside = int(meaning.checked is not None)
    return Numbered(
        numbers=np.append(numbers, np.full(inside, story.inside)),
        rows=np.append(held[novel], np.zeros(inside)),
        alive=np.append((numbers > 0) & (meaning.matrix[novel, -1] >= _EVEN), np.zeros(inside, dtype=bool)),
        centres=np.concatenate([components.mean[novel], np.zeros((inside, components.columns))]),
        unused=story.unused,
    )


def told(story: Story, further: Further, found: VariationalDiscovery, meaning: Meaning, most: int) -> Story:
    """Return the story after a batch; of components without a name at most so many go on, the largest."""
    known = story.known
    everything = with_earlier(_earlier(further).taught, further.found.best.statistics)
    numbers = np.append(np.zeros(known, dtype=np.int64), numbers_of(story, further))
    novel = np.flatnonzero(meaning.class_of < 0)
    of_components = found.group_components < novel.size
    numbers[novel[found.group_components[of_components]]] = found.group_numbers[of_components]
    inside = found.group_numbers[~of_components]

    class_of = np.append(further.prior.class_of[:known], story.class_of)
    places = _kept(everything.counts, meaning.class_of, known, most)
    return replace(
        story,
        batches=story.batches + 1,
        rows=story.rows + found.labels.size,
        taught=everything.reordered(np.append(np.arange(known), places)),
        class_of=meaning.class_of[places],
        numbers=numbers[places],
        places=places,
        inside=int(inside[0]) if inside.size else story.inside,
        unused=max(story.unused, int(found.group_numbers.max(initial=0)) + 1),
        living=found.group_numbers,
        events=(*story.events, *_events(story, further.merged, class_of, found)),
    )


def _kept(counts: FloatArray, class_of: IntArray, known: int, most: int) -> IntArray:
    """Return the components after the known ones that go on to the next batch."""
    those = np.arange(known, counts.size)
    named = those[class_of[those] >= 0]
    others = those[(class_of[those] < 0) & (counts[those] >= _EMPTY)]
    largest = others[np.argsort(-counts[others], kind="stable")][:most]
    return np.sort(np.append(named, largest))


def first_told(state: Fitted) -> Story | None:
    """Return the story after a first batch."""
    story, found = begun(state.finding), state.discovery
    if story is None or not isinstance(found, VariationalDiscovery):
        return story
    nothing = replace(story, batches=0, unused=1, living=np.empty(0, dtype=np.int64))
    return replace(story, events=tuple(_events(nothing, (), story.class_of[:0], found)))


def _events(
    story: Story, merged: tuple[tuple[int, int], ...], class_of: IntArray, found: VariationalDiscovery
) -> Iterator[Event]:
    """Return what happened in a batch; `story` is that before it, `class_of` the classes of all its components."""
    batch, time, gone_numbers = story.batches + 1, now(), set[int]()
    numbers = np.append(np.zeros(story.known, dtype=np.int64), story.numbers).tolist()
    for into, gone in merged:
        known = class_of[into] >= 0
        if numbers[gone] and (numbers[into] or known):
            gone_numbers.add(numbers[gone])
            other = str(found.classes[class_of[into]]) if known else f"novel {numbers[into]}"
            rows = round(float(story.taught.counts[gone]))
            yield Event(batch, time, EventKind.MERGED, f"novel {numbers[gone]}", rows, other)

    for number, group in zip(found.group_numbers.tolist(), found.groups[found.classes.size :], strict=True):
        like = "" if group.explanation is None else group.explanation.nearest
        if number >= story.unused:
            yield Event(batch, time, EventKind.BORN, group.name, group.rows, like)
        elif group.rows:
            yield Event(batch, time, EventKind.GROWN, group.name, group.rows, like)

    for number in story.living.tolist():
        if number not in found.group_numbers and number not in gone_numbers and number != story.inside:
            yield Event(batch, time, EventKind.LOST, f"novel {number}", 0, "")


def _earlier(further: Further) -> Earlier:
    assert further.earlier is not None
    return further.earlier


def now() -> str:
    """Return the time, as events tell it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
