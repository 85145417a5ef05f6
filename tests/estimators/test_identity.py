"""Groups are told by the rows that they have in common."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from vbrand.estimators.fitted import INSIDE
from vbrand.estimators.identity import identity as identity_of
from vbrand.estimators.story import empty
from vbrand.inference.batches import Earlier
from vbrand.model.statistics import nothing_about


def identity(story, fit, inside=()):
    """Return which component is which group of before; `inside` are rows of the window."""
    chosen = np.zeros(story.homes.size, dtype=bool)
    chosen[list(inside)] = True
    return identity_of(story, fit, chosen)


def story_of(numbers, homes, held):
    """Return a story of one known component and groups with these numbers, rows and rows that are gone."""
    count = len(numbers)
    taught = replace(nothing_about(np.zeros((1 + count, 2))), counts=np.append(0.0, held))
    return replace(
        empty(1, 2),
        taught=taught,
        class_of=np.full(count, -1),
        numbers=np.array(numbers),
        homes=np.array(homes, dtype=np.int64),
    )


def after(winners, components, origin=(), merged=(), class_of=(0,)):
    """Return a fit of no new rows, those of the window in these components."""
    best = SimpleNamespace(
        winners=np.array(winners, dtype=np.int32),
        posterior=SimpleNamespace(components=SimpleNamespace(dof=np.zeros(components))),
    )
    prior = SimpleNamespace(class_of=np.array(class_of), known=len(class_of))
    earlier = Earlier(nothing_about(np.zeros((1, 2))), np.full(len(origin), -1), np.array(origin, dtype=np.int64))
    return SimpleNamespace(found=SimpleNamespace(best=best), prior=prior, earlier=earlier, merged=merged)


def test_a_component_with_the_rows_of_a_group_is_that_group():
    story = story_of([4, 2], [0, 0, 0, 1, 1, -1], [0.0, 0.0])
    found = identity(story, after([2, 2, 2, 1, 1, 3], 4))
    assert found.numbers.tolist() == [0, 2, 4, 0, 0]
    assert found.rows.tolist() == [0, 2, 3, 0]
    assert found.merged == ()


def test_of_two_pieces_the_larger_has_the_number():
    found = identity(story_of([1], [0] * 7, [0.0]), after([1, 1, 2, 2, 2, 2, 2], 3))
    assert found.numbers.tolist() == [0, 0, 1, 0]


def test_of_two_groups_in_one_component_the_larger_has_the_number_and_the_other_is_merged():
    found = identity(story_of([1, 2], [0, 0, 0, 1, 1], [0.0, 0.0]), after([1] * 5, 2))
    assert found.numbers.tolist() == [0, 1, 0]
    assert found.merged == ((2, 1),)


def test_rows_that_are_gone_count():
    fit = after([2, 2], 3, origin=(0,), class_of=(0, -1))
    assert identity(story_of([1], [0, 0], [50.0]), fit).numbers.tolist() == [0, 1, 0, 0]
    assert identity(story_of([1], [0, 0], [1.0]), fit).numbers.tolist() == [0, 0, 1, 0]


def test_groups_that_were_merged_into_a_class_are_gone():
    fit = after([], 2, merged=((0, 1),))
    found = identity(story_of([3], [], [20.0]), fit)
    assert found.numbers.tolist() == [0, 0, 0]
    assert found.merged == ((3, 0),)


def test_novelty_inside_a_class_that_becomes_a_component_keeps_its_number():
    story = replace(story_of([2], [0, 0, 0, INSIDE, INSIDE, INSIDE, -1], [0.0]), inside=1)
    found = identity(story, after([1, 1, 1, 2, 2, 0, 0], 3))
    assert found.numbers.tolist() == [0, 2, 1, 0]  # what is inside from now on is another group


def test_a_component_whose_rows_are_novel_inside_a_class_keeps_its_number():
    story = story_of([3], [0, 0, 0, -1], [0.0])
    assert identity(story, after([0, 0, 0, 0], 2), (0, 1, 2)).numbers.tolist() == [0, 0, 3]


def test_novelty_inside_a_class_has_its_number_again_when_it_comes_back():
    story = replace(story_of([2], [0, 0], [0.0]), inside=1)
    assert identity(story, after([1, 1], 2)).numbers.tolist() == [0, 2, 1]


def test_a_group_that_is_born_of_another_ones_rows_says_so():
    story = story_of([1, 2], [0] * 7 + [1, 1, 1, -1, -1], [0.0, 0.0])
    found = identity(story, after([1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4], 5))
    assert found.numbers.tolist() == [0, 1, 0, 2, 0, 0]
    assert found.out_of.tolist()[1:] == [0, 0, 1, -1]  # rows of a known component are no group's
