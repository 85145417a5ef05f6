"""From batch to batch: groups keep their names, and rows that are gone are not missed."""

import numpy as np
import pandas as pd
import pytest
from stream import fitted, rows_of

import vbrand
from vbrand import VBrand
from vbrand.estimators.tuning import Tuning
from vbrand.facts.events import EventKind


@pytest.fixture
def third(rng):
    """Return a detector that has found one group in two batches."""
    detector = fitted(rng)
    detector.update(rows_of(rng, third=15))
    detector.update(rows_of(rng, third=15))
    return detector


def test_the_first_batch_is_a_discovery(rng):
    detector = fitted(rng)
    rows = rows_of(rng, third=15)
    saved = detector.discover(rows)
    other = fitted(np.random.default_rng(0))
    found = other.update(rows)
    np.testing.assert_array_equal(found.clusters, saved.clusters)
    np.testing.assert_array_equal(found.probabilities, saved.probabilities)
    assert str(found.check) == str(saved.check)


@pytest.mark.parametrize("window", [2_000, 30, 0])
def test_groups_keep_their_names_and_numbers_are_never_used_again(rng, window):
    detector = VBrand.tuned(Tuning(window=window), random_state=0)
    detector.fit(rows_of(rng, 60, 60), np.repeat(["oat", "rye"], 60))
    names = []
    for batch in ((15, 0), (0, 0), (15, 20), (0, 20), (30, 0)):
        found = detector.update(rows_of(rng, third=batch[0], fourth=batch[1]))
        called = np.array([group.name for group in found.groups])[found.clusters]
        names.append((set(called[40 : 40 + batch[0]]), set(called[40 + batch[0] :])))
        assert [group.name for group in found.groups] == detector.group_names
        np.testing.assert_array_equal(detector.predict(found.context.table), found.labels)
    assert names == [({"novel 1"}, set()), (set(), set()), ({"novel 1"}, {"novel 2"}), (set(), {"novel 2"}),
                     ({"novel 1"}, set())]  # fmt: skip


def test_a_group_without_rows_in_a_batch_lives_on(third, rng):
    found = third.update(rows_of(rng))
    assert [(group.name, group.rows) for group in found.groups][2:] == [("novel 1", 0)]
    assert found.groups[2].explanation.nearest == "oat"
    assert found.facts().rows == 40


@pytest.mark.parametrize("window", [2_000, 0])
def test_a_group_of_many_rows_is_not_doubtful_for_one_row_in_a_batch(rng, window):
    detector = VBrand.tuned(Tuning(window=window), random_state=0)
    detector.fit(rows_of(rng, 60, 60), np.repeat(["oat", "rye"], 60))
    detector.update(rows_of(rng, third=25))
    found = detector.update(rows_of(rng, third=1))
    assert repr(found) == "40 rows belong to the 2 known classes, 1 to 1 novel group."
    assert found.check.doubtful == ()
    assert (found.n_groups.low, round(found.n_groups.mean)) == (1, 1)
    assert (
        repr(detector.update(rows_of(rng)))
        == "40 rows belong to the 2 known classes, none to the 1 novel group of before."
    )


def test_the_memory_of_rows_is_bounded(rng):
    detector = VBrand.tuned(Tuning(window=50), random_state=0)
    detector.fit(rows_of(rng, 60, 60), np.repeat(["oat", "rye"], 60))
    for _ in range(4):
        detector.update(rows_of(rng, third=15))
    story = detector._fitted.finding.story
    assert story.window.shape == (50, 3)
    assert story.rows == 220
    assert story.taught.counts.sum() == pytest.approx(170)


def test_a_detector_that_is_saved_between_batches_goes_on_bit_for_bit(third, rng, tmp_path):
    third.save(tmp_path / "m.vbrand")
    again = vbrand.load(tmp_path / "m.vbrand")
    rows = rows_of(rng, third=10, fourth=12)
    np.testing.assert_array_equal(again.update(rows).probabilities, third.update(rows).probabilities)
    assert [event.group for event in again.events()] == [event.group for event in third.events()]


def test_a_detector_that_has_discovered_a_table_goes_on_from_it(rng, tmp_path):
    detector = fitted(rng)
    detector.discover(rows_of(rng, third=20))
    detector.save(tmp_path / "m.vbrand")
    found = vbrand.load(tmp_path / "m.vbrand").update(rows_of(rng, third=12))
    assert [(group.name, group.rows) for group in found.groups] == [("oat", 20), ("rye", 20), ("novel 1", 12)]


def test_a_file_without_rows_goes_on_from_what_they_taught(third, rng, tmp_path):
    third.save(tmp_path / "m.vbrand", rows=False)
    again = vbrand.load(tmp_path / "m.vbrand")
    assert again._fitted.finding.story.window.shape == (0, 3)
    found = again.update(rows_of(rng, third=12))
    assert (found.clusters[40:] == 2).all()
    assert found.groups[2].name == "novel 1"


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        (np.zeros((0, 3)), "0 sample"),
        (np.ones((4, 2)), "2 features"),
        (np.full((4, 3), np.nan), "NaN"),
        (np.ones((4, 3)), "all rows of the batch are equal"),
    ],
)
def test_a_batch_that_is_none_leaves_the_detector_as_it_was(third, batch, sentence):
    before = third._state
    with pytest.raises(ValueError, match=sentence):
        third.update(batch)
    assert third._state is before


def test_one_row_is_a_batch(third):
    found = third.update(np.array([[-8.0, -8.0, -8.0]]))
    assert found.clusters.tolist() == [2]


def test_events_tell_of_births_and_growth(third):
    assert [(event.batch, event.kind, event.group, event.rows, event.like) for event in third.events()] == [
        (1, EventKind.BORN, "novel 1", 15, "oat"),
        (2, EventKind.GROWN, "novel 1", 15, "oat"),
    ]


def test_a_group_that_splits_says_which_one_its_rows_were_in(rng):
    detector = fitted(rng)
    for count in (10, 20, 60):
        near = rng.normal([-8, -8, -5], 1, (count, 3))
        detector.update(np.vstack([rows_of(rng, third=count), near]))
    born = [(event.group, event.like) for event in detector.events() if event.kind == EventKind.BORN]
    assert born == [("novel 1", "oat"), ("novel 2", "novel 1")]


def test_there_are_no_events_before_a_batch(rng):
    assert len(fitted(rng).events()) == 0


def test_a_frame_of_names_can_be_a_batch(rng):
    columns = ["a", "b", "c"]
    detector = VBrand(random_state=0).fit(pd.DataFrame(rows_of(rng, 60, 60), columns=columns), np.repeat([3, 7], 60))
    detector.update(pd.DataFrame(rows_of(rng, third=15), columns=columns))
    with pytest.raises(ValueError, match="feature names"):
        detector.update(pd.DataFrame(rows_of(rng), columns=["a", "b", "d"]))


def test_batches_without_a_check_go_on_too(rng):
    detector = fitted(rng, check=0)
    for _ in range(3):
        found = detector.update(rows_of(rng, third=15))
    assert [group.name for group in found.groups] == ["oat", "rye", "novel 1"]


def test_all_kernels_are_tried_in_the_first_batch_and_one_goes_on(rng):
    detector = fitted(rng, kernel="auto")
    detector.update(rows_of(rng, third=15))
    chosen = detector._fitted.finding.chosen
    detector.update(rows_of(rng, third=15))
    assert detector._fitted.finding.chosen == chosen


def test_a_stream_without_novelty_keeps_no_group(rng):
    detector = fitted(rng)
    called = 0
    for _ in range(8):
        called += int((detector.update(rows_of(rng, 25, 25)).clusters > 1).sum())
    assert called <= 2


def test_a_class_that_moves_is_told_in_a_sentence_and_in_the_log(rng):
    detector = fitted(rng)
    detector.update(rows_of(rng, 50, 50))
    moved = rows_of(rng, 50, 50)
    moved[:50, 0] += 1.2
    found = detector.update(moved)
    assert str(found).startswith(
        "100 rows belong to the 2 known classes, none to a novel group. "
        "oat has moved, or novel rows pass for it: its rows lie 1."
    )
    assert str(found).endswith(" sd from its labelled rows.")
    assert found.facts().sentence == str(found)
    last = detector.events()[-1]
    assert (last.batch, last.kind, last.group) == (2, EventKind.DRIFTED, "oat")
    assert last.like.endswith(" sd away")


def test_a_stream_that_stays_where_it_is_has_no_drift():
    """But one in a hundred: `tests/trust/test_drift.py` has how often."""
    rng = np.random.default_rng(1)
    detector = fitted(rng)
    for _ in range(8):  # shares of classes and of a novel one come and go
        detector.update(rows_of(rng, *rng.integers(10, 60, 2), third=int(rng.integers(0, 20))))
    assert EventKind.DRIFTED not in [event.kind for event in detector.events()]


def test_without_labelled_rows_nothing_is_said_of_drift(rng):
    detector = fitted(rng, check=0)
    assert detector.update(rows_of(rng, 50, 50) + 1.0).context.drifts == ()


def test_labels_of_control_samples_tell_of_drift_and_teach_nothing(rng):
    detector, other = fitted(rng), fitted(np.random.default_rng(0))
    rows = rows_of(rng, 20, 20)
    rows[:10] += 4.0
    labels = ["oat"] * 10 + [None] * 30
    found, plain = detector.update(rows, labels=labels), other.update(rows)
    np.testing.assert_array_equal(found.probabilities, plain.probabilities)
    (drift,) = found.context.drifts
    assert (drift.member, drift.rows) == (0, 10)
    with pytest.raises(ValueError, match="there is no known class 'barley'; there are: oat, rye"):
        detector.update(rows, labels=["barley"] * 40)
    with pytest.raises(ValueError, match="there are 3 labels for 40 rows"):
        detector.update(rows, labels=["oat"] * 3)
