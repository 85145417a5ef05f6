"""What a person says of groups holds from then on."""

import numpy as np
import pytest
from stream import fitted, rows_of

import vbrand
from vbrand import VBrand


@pytest.fixture
def two(rng):
    """Return a detector with two groups."""
    detector = fitted(rng)
    detector.update(rows_of(rng, third=25, fourth=15))
    return detector


def test_a_named_group_is_a_known_class_at_once_and_in_later_batches(two, rng):
    two.name("novel 1", "millet")
    assert two.classes_.tolist() == ["oat", "rye", "millet"]
    assert two.group_names == ["oat", "rye", "millet", "novel 2"]
    rows = rows_of(rng, third=20, fourth=10)
    expected = ["oat"] * 20 + ["rye"] * 20 + ["millet"] * 20 + ["novel"] * 10
    assert two.predict(rows).tolist() == expected
    np.testing.assert_allclose(two.predict_proba(rows).sum(axis=1), 1.0)

    found = two.update(rows)
    assert found.labels.tolist() == expected
    assert [group.name for group in found.groups] == two.group_names
    assert two.events()[-1].group == "novel 2"


def test_names_go_through_files_and_another_discovery(two, rng, tmp_path):
    two.name("novel 1", "millet")
    two.save(tmp_path / "m.vbrand")
    again = vbrand.load(tmp_path / "m.vbrand")
    rows = rows_of(rng, third=20)
    np.testing.assert_array_equal(again.predict(rows), two.predict(rows))
    found = again.discover(rows)
    assert found.labels.tolist() == ["oat"] * 20 + ["rye"] * 20 + ["millet"] * 20
    assert again.events()[-1].batch >= 1


def test_a_joined_group_is_part_of_its_class(two, rng):
    two.join("novel 2", "rye")
    assert two.classes_.tolist() == ["oat", "rye"]
    assert set(two.predict(rows_of(rng, 0, 0, fourth=20))) == {"rye"}
    found = two.update(rows_of(rng, third=10, fourth=10))
    assert found.labels.tolist() == ["oat"] * 20 + ["rye"] * 20 + ["novel"] * 10 + ["rye"] * 10


def test_a_renamed_class_is_called_otherwise_and_stays_what_it_is(two, rng):
    rows = rows_of(rng)
    before = two.predict_proba(rows)
    two.rename("oat", "wild oat")
    assert two.classes_.tolist() == ["wild oat", "rye"]
    np.testing.assert_array_equal(two.predict_proba(rows), before)
    assert two.update(rows).labels[0] == "wild oat"


def test_a_forgotten_group_is_none(two, rng):
    two.forget("novel 1")
    assert two.group_names == ["oat", "rye", "novel 2"]
    found = two.update(rows_of(rng, fourth=10))
    assert [group.name for group in found.groups] == ["oat", "rye", "novel 2"]
    again = two.update(rows_of(rng, third=10))
    assert [group.name for group in again.groups] == ["oat", "rye", "novel 2", "novel 3"]


def test_events_tell_what_a_person_did(two):
    two.name("novel 1", "millet")
    two.rename("millet", "foxtail")
    two.join("novel 2", "foxtail")
    told = [(str(event.kind), event.group, event.like) for event in two.events()][2:]
    assert told == [
        ("named", "novel 1", "millet"),
        ("renamed", "millet", "foxtail"),
        ("joined", "novel 2", "foxtail"),
    ]


@pytest.mark.parametrize(
    ("act", "given", "sentence"),
    [
        ("name", ("novel 9", "millet"), "there is no group 'novel 9'; there are: novel 1, novel 2"),
        ("name", ("novel 1", "rye"), "the name 'rye' is taken; these are: oat, rye, novel"),
        ("name", ("novel 1", "rye"), "joined to it: `join`, or --join."),
        ("name", ("novel 1", "novel"), "taken"),
        ("name", ("novel 1", "novel 2"), "taken"),
        ("name", ("novel 1", "novel 44"), "taken"),
        ("rename", ("oat", "novel 3"), "taken"),
        ("name", ("novel 1", " "), "can't be called"),
        ("name", ("novel 1", 5), "can't be called"),
        ("name", ("novel 1", "x" * 1_001), "names of classes have at most 1,000"),
        ("rename", ("oat", "a\0b"), "holds a character that text files can't hold"),
        ("join", ("novel 1", "barley"), "there is no known class 'barley'; there are: oat, rye"),
        ("rename", ("barley", "millet"), "there is no known class"),
        ("forget", ("oat",), "there is no group 'oat'"),
    ],
)
def test_what_is_not_there_or_taken_is_told_with_what_there_is(two, act, given, sentence):
    before = two._state
    with pytest.raises(ValueError, match=sentence):
        getattr(two, act)(*given)
    assert two._state is before


def test_long_names_and_many_do_not_fill_a_page(rng):
    """A class with a long name was listed with all of its letters."""
    labels = np.repeat(["x" * 900, *(f"class {k}" for k in range(29))], 4)
    detector = VBrand(random_state=0, check=0).fit(rng.normal(np.repeat(np.arange(30.0), 4)[:, None], 0.1), labels)
    with pytest.raises(
        ValueError, match=r"there is no known class 'barley'; there are: class 0, .* and 20 more"
    ) as told:
        detector.rename("barley", "oat")
    assert len(str(told.value)) < 1_000


def test_classes_that_are_numbers_get_numbers(rng):
    detector = VBrand(random_state=0).fit(rows_of(rng, 60, 60), np.repeat([3, 7], 60))
    detector.update(rows_of(rng, third=20))
    with pytest.raises(ValueError, match="give a number"):
        detector.name("novel 1", "oat")
    detector.name("novel 1", 5)
    assert detector.classes_.tolist() == [3, 7, 5]
    assert set(detector.predict(rows_of(rng, 0, 0, third=9))) == {5}


def test_there_is_no_group_before_a_discovery(rng):
    with pytest.raises(ValueError, match="nothing has been discovered"):
        fitted(rng).name("novel 1", "millet")


def test_a_group_of_a_plain_discovery_can_be_named(rng):
    detector = fitted(rng)
    detector.discover(rows_of(rng, third=20))
    detector.name("novel 1", "millet")
    assert set(detector.predict(rows_of(rng, 0, 0, third=9))) == {"millet"}


def test_answers_without_a_check_know_names(rng):
    detector = fitted(rng, check=0)
    detector.update(rows_of(rng, third=20))
    detector.name("novel 1", "millet")
    assert set(detector.predict(rows_of(rng, 0, 0, third=9))) == {"millet"}
