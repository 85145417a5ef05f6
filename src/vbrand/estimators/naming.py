"""What a person says of groups: this is oat, this is oat too, call it wild oat, forget it."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.checks import brief, names_there
from vbrand.discovery.memberships import label_names
from vbrand.estimators.fitted import INSIDE, Finding, Fitted, Learned, Story
from vbrand.estimators.story import begun, frozen, log_of, now
from vbrand.facts.events import Event, EventKind
from vbrand.io.tables.labels import check_names, is_of_groups, read_labels
from vbrand.trust.named import as_class
from vbrand.types import IntArray


def named(fitted: Fitted, group: str, label: Any) -> Fitted:
    """Return the state once a group is a known class of this name."""
    learned, story = fitted.learned, story_of(fitted)
    index = _index(fitted, story, group)
    label = _free(learned.classes, label)
    grown = replace(learned, classes=_labels([*learned.classes.tolist(), label]))
    return _meant(replace(fitted, learned=grown), story, index, learned.classes.size, EventKind.NAMED)


def joined(fitted: Fitted, group: str, label: Any) -> Fitted:
    """Return the state once a group is part of a known class."""
    story = story_of(fitted)
    index = _index(fitted, story, group)
    return _meant(fitted, story, index, _class(fitted.learned, label), EventKind.JOINED)


def renamed(fitted: Fitted, label: Any, other: Any) -> Fitted:
    """Return the state once a known class is called otherwise."""
    learned, story = fitted.learned, begun(fitted.finding)
    j = _class(learned, label)
    other = _free(learned.classes, other)
    classes = learned.classes.tolist()
    classes[j] = other
    views = tuple(
        (kernel, replace(known, labels=_labels([*classes[: known.labels.size]]))) for kernel, known in learned.views
    )
    state = replace(fitted, learned=replace(learned, classes=_labels(classes), views=views))
    if story is None:
        return state
    return _with_event(state, story, EventKind.RENAMED, str(label), 0, str(other))


def forgotten(fitted: Fitted, group: str) -> Fitted:
    """Return the state once a group is none: its rows are outliers, and what they taught is dropped."""
    story = story_of(fitted)
    index = _index(fitted, story, group)
    component = _component(fitted.finding, index)
    finding = replace(fitted.finding, group_components=np.delete(fitted.finding.group_components, index))
    own = np.flatnonzero(story.places == component)
    rows = 0 if own.size == 0 else _rows(story, int(own[0]))
    left = replace(story, living=np.delete(story.living, index))
    return _with_event(
        replace(fitted, finding=finding), _without(left, own), EventKind.FORGOTTEN, f"novel {story.living[index]}", rows
    )


def story_of(fitted: Fitted) -> Story:
    """Return the story of a detector that has discovered rows, or refuse."""
    story = begun(fitted.finding)
    if story is None:
        raise ValueError("there is no group yet: nothing has been discovered. Call `update` or `discover` first.")
    return story


def members(learned: Learned, labels: Any, rows: int) -> IntArray:
    """Return the known class of each of so many rows, -1 where it is not known."""
    values, given = read_labels(labels)
    if values.size != rows:
        raise ValueError(f"there are {values.size:,} labels for {rows:,} rows; give one each, or None.")
    member = np.full(rows, -1)
    for label in np.unique(values[given]).tolist():
        member[given & (values == label)] = _class(learned, label)
    return member


def group_names(fitted: Fitted) -> list[str]:
    """Return what the known classes and the groups are called, in the order of `clusters`."""
    classes, story = [str(label) for label in fitted.learned.classes.tolist()], begun(fitted.finding)
    return classes if story is None else [*classes, *(f"novel {number}" for number in story.living.tolist())]


def _meant(fitted: Fitted, story: Story, index: int, j: int, kind: EventKind) -> Fitted:
    """Return the state once the group at an index means class j."""
    finding, group = fitted.finding, f"novel {story.living[index]}"
    k = _component(finding, index)
    own = np.flatnonzero(story.places == k)
    if own.size == 0:
        raise ValueError(
            f"{group} has no component of its own: it is what is unlike the known classes among their rows, or a group "
            "that was given up because there were more than max_novel. It can be forgotten."
        )

    g = int(own[0])
    rows = _rows(story, g)
    story = frozen(story, finding.posterior, story.homes == g)
    class_of = story.class_of.copy()
    class_of[g] = j
    story = replace(story, class_of=class_of, living=np.delete(story.living, index))

    labelled = float(fitted.learned.views[finding.chosen][1].rows.sum())
    share = max(rows, 1) / (labelled + max(rows, 1))
    alone = finding.posterior.components.reordered(np.array([k]))
    known = finding.prior.class_of.copy()
    known[k : k + 1] = j
    columns = np.delete(finding.group_components, index)
    finding = replace(
        finding,
        prior=replace(finding.prior, class_of=known),
        meaning=as_class(finding.meaning, k, j, alone, share),
        group_components=columns - (columns > finding.group_components[index]),
    )
    name = str(fitted.learned.classes[j])
    return _with_event(replace(fitted, finding=finding), story, kind, group, rows, name)


def _component(finding: Finding, index: int) -> int:
    """Return the component of the group at an index; one after all components for novelty among the known ones."""
    novel = np.append(np.flatnonzero(finding.meaning.class_of < 0), finding.meaning.class_of.size)
    return int(novel[finding.group_components[index]])


def _rows(story: Story, g: int) -> int:
    """Return the rows of all batches that a component holds."""
    return round(float(story.taught.counts[story.known + g] + (story.homes == g).sum()))


def _without(story: Story, own: NDArray[Any]) -> Story:
    """Return the story without some components and their rows."""
    away = np.isin(story.homes, own)
    place = np.append(np.full(story.class_of.size, -1), [INSIDE, -1])  # the last two: rows that are in none
    left = np.delete(np.arange(story.class_of.size), own)
    place[left] = np.arange(left.size)
    return replace(
        story,
        taught=story.taught.reordered(np.append(np.arange(story.known), story.known + left)),
        class_of=story.class_of[left],
        numbers=story.numbers[left],
        places=story.places[left],
        window=story.window[~away],
        homes=place[story.homes[~away]],
    )


def _with_event(fitted: Fitted, story: Story, kind: EventKind, group: str, rows: int, like: str = "") -> Fitted:
    """Return the state with one event more; the last discovery stays as facts, for it knew nothing of it."""
    event = Event(story.batches, now(), kind, group, rows, like)
    facts = fitted.facts if fitted.discovery is None else fitted.discovery.facts()
    story = replace(story, events=(*story.events, event))
    finding = replace(fitted.finding, story=story)
    facts = None if facts is None else replace(facts, log=log_of(story))
    return replace(fitted, finding=finding, discovery=None, facts=facts)


def _index(fitted: Fitted, story: Story, group: str) -> int:
    """Return the place of a group among those that there are."""
    names = group_names(fitted)[fitted.learned.classes.size :]
    if group not in names:
        there = f"there are: {names_there(names)}" if names else "there is none"
        raise ValueError(f"there is no group {brief(group)}; {there}.")
    return names.index(group)


def _class(learned: Learned, label: Any) -> int:
    classes = learned.classes.tolist()
    if label not in classes:
        raise ValueError(f"there is no known class {brief(label)}; there are: {names_there(classes)}.")
    return int(classes.index(label))


def _free(classes: NDArray[Any], label: Any) -> Any:
    """Return a label that no class has, of the kind of the others, or refuse it."""
    kept = classes.tolist()
    if classes.dtype.kind == "U":
        label = label.strip() if isinstance(label, str) else label
        if not isinstance(label, str) or not label:
            raise ValueError(f"a class can't be called {brief(label)}; a name is expected, as the classes have.")
        check_names([label])
    elif isinstance(label, bool) or not isinstance(label, int | np.integer):
        raise ValueError(f"a class can't be called {brief(label)}: the classes are numbers, so give a number.")
    of_groups = isinstance(label, str) and is_of_groups(label)
    if label in kept or of_groups or label == label_names(classes).tolist()[-1]:
        listed = names_there([*kept, label_names(classes).tolist()[-1]])
        also = " A group that is part of a known class is joined to it: `join`, or --join." if label in kept else ""
        raise ValueError(f"the name {brief(label)} is taken; these are: {listed}, and those of groups.{also}")
    return label if classes.dtype.kind == "U" else int(label)


def _labels(labels: list[Any]) -> NDArray[Any]:
    return np.array(labels)
