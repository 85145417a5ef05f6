"""Copies and replicates are no evidence of their own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vbrand
from vbrand import BrandSampler, VBrand
from vbrand.estimators.repeated import given_rows
from vbrand.io.tables.categories import Category
from vbrand.io.tables.likeness import Likeness


def grain(seed=0, each=30):
    """Return labelled rows of two classes, and unlabelled ones of these and of a third."""
    rng = np.random.default_rng(seed)
    known = np.vstack([rng.normal(place, 1.0, (each, 3)) for place in (0.0, 5.0)])
    new = np.vstack([rng.normal(place, 1.0, (each, 3)) for place in (0.0, 5.0, -6.0)])
    return known, np.repeat(["oat", "rye"], each), new


def found_in(known, labels, new, **named):
    return VBrand(random_state=0).fit(known, labels).discover(new, **named)


@pytest.mark.parametrize("times", [2, 3, 10])
def test_every_row_several_times_gives_the_same_labels(times):
    known, labels, new = grain()
    once = found_in(known, labels, new)
    often = found_in(np.tile(known, (times, 1)), np.tile(labels, times), np.repeat(new, times, axis=0))
    np.testing.assert_array_equal(often.labels, np.repeat(once.labels, times))
    np.testing.assert_array_equal(often.clusters, np.repeat(once.clusters, times))
    np.testing.assert_array_equal(often.novelty_probability, np.repeat(once.novelty_probability, times))
    assert often.elbo == once.elbo
    assert f"{60 * (times - 1)} labelled rows are copies of others: they count once." in often.notes
    assert f"{90 * (times - 1)} rows are copies of others: they count once." in often.notes


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99), st.integers(1, 4))
def test_the_order_of_rows_and_copies_changes_no_label(seed, times):
    known, labels, new = grain(seed)
    order = np.random.default_rng(seed).permutation(times * new.shape[0])
    once = found_in(known, labels, new)
    mixed = found_in(known, labels, np.repeat(new, times, axis=0)[order])
    np.testing.assert_array_equal(mixed.labels, np.repeat(once.labels, times)[order])


def test_a_group_of_copies_of_one_row_is_an_outlier():
    known, labels, new = grain()
    far = np.repeat([[30.0, -20.0, 9.0]], 40, axis=0)
    found = found_in(known, labels, np.vstack([new, far]))
    group = found.groups[found.clusters[-1]]
    assert (group.rows, str(group.kind)) == (40, "outlier group")
    assert "39 rows are copies of others: they count once." in found.notes


def test_copies_of_labelled_rows_are_answered_and_not_counted():
    known, labels, new = grain()
    found = found_in(known, labels, np.vstack([new, known]))
    assert "60 rows are copies of labelled ones, which count already." in found.notes
    np.testing.assert_array_equal(found.labels[90:], labels)
    assert found.elbo == found_in(known, labels, new).elbo
    assert np.isclose(found.probabilities.sum(axis=1), 1.0).all()


@pytest.mark.parametrize("seed", range(3))
def test_where_rows_come_again_in_both_tables_known_ones_stay_known(seed):
    """Without unlabelled rows that equal labelled ones common values were in one table alone: .37 were called novel."""
    rng = np.random.default_rng(seed)
    values = np.vstack([rng.normal(0.0, 0.5, (300, 4)), rng.normal(0.0, 3.0, (9_000, 4))])
    often = np.repeat([0.7 / 300, 0.3 / 9_000], [300, 9_000])
    oat, rye = values[rng.choice(9_300, 1_600, p=often)], rng.normal(12.0, 1.0, (200, 4))
    known = np.vstack([oat[:800], rye[:100]])
    found = found_in(known, np.repeat(["oat", "rye"], [800, 100]), np.vstack([oat[800:], rye[100:]]))
    assert (found.labels == "novel").mean() < 0.01
    assert not any("copies of labelled ones" in note for note in found.notes)


def test_a_saved_detector_knows_copies_of_labelled_rows(tmp_path):
    known, labels, new = grain()
    detector = VBrand(random_state=0).fit(known, labels)
    detector.save(tmp_path / "model.vbrand")
    note = "60 rows are copies of labelled ones, which count already."
    assert note in vbrand.load(tmp_path / "model.vbrand").discover(np.vstack([new, known])).notes
    detector.save(tmp_path / "bare.vbrand", rows=False)
    assert note not in vbrand.load(tmp_path / "bare.vbrand").discover(np.vstack([new, known])).notes


def test_replicates_get_one_answer_that_of_their_mean():
    known, labels, new = grain()
    rng = np.random.default_rng(1)
    rows, samples = np.repeat(new, 3, axis=0), np.repeat(np.arange(90), 3)
    rows = rows + 0.05 * rng.normal(size=rows.shape)
    found = found_in(known, labels, rows, groups=samples)
    means = rows.reshape(90, 3, 3).mean(axis=1)
    once = found_in(known, labels, means)
    np.testing.assert_array_equal(found.labels, np.repeat(once.labels, 3))
    np.testing.assert_allclose(found.novelty_probability, np.repeat(once.novelty_probability, 3), atol=1e-9)
    assert "270 rows of 90 samples: each counts once, by the mean of its rows." in found.notes


def test_labelled_and_unlabelled_replicates_in_one_table():
    known, labels, new = grain()
    rows, classes = np.vstack([known, new]), np.append(labels, np.full(90, None, dtype=object))
    samples = [f"sample {k}" for k in range(150)]
    table, truth, groups = np.repeat(rows, 2, axis=0), np.repeat(classes, 2), np.repeat(samples, 2)
    table = table + 0.01 * np.random.default_rng(0).normal(size=table.shape)
    detector = VBrand(random_state=0).fit(table, truth, groups=groups)
    assert detector.known_classes_.rows.tolist() == [30, 30]
    assert (detector.discovery_.labels[-60:] == "novel").all()


def test_rows_without_a_sample_stand_alone():
    known, labels, new = grain()
    found = found_in(known, labels, new, groups=[None] * 88 + ["a", "a"])
    assert "90 rows of 89 samples: each counts once, by the mean of its rows." in found.notes


def test_what_groups_can_not_be():
    known, labels, new = grain()
    detector = VBrand(random_state=0)
    with pytest.raises(ValueError, match=r"rows of one sample .* have two labels, oat and rye"):
        detector.fit(known, labels, groups=[0] * 60)
    with pytest.raises(ValueError, match="the name of a sample for each of 60 rows is expected"):
        detector.fit(known, labels, groups=[0] * 59)
    with pytest.raises(ValueError, match="BrandSampler counts every unlabelled row"):
        BrandSampler(random_state=0).fit(known, labels).discover(new, groups=np.arange(90))


def test_a_class_of_two_rows_and_their_copies_is_refused():
    known, labels, _ = grain()
    rows = np.vstack([known, np.repeat(known[:2] + 9.0, 4, axis=0)])
    with pytest.raises(ValueError, match="class teff has 8 rows, but only 2 different ones"):
        VBrand().fit(rows, np.append(labels, ["teff"] * 8))


def test_equal_rows_of_two_classes_are_no_copies():
    known, labels, new = grain()
    rows, classes = np.vstack([known, known[:3]]), np.append(labels, ["rye"] * 3)
    detector = VBrand(random_state=0).fit(rows, classes)
    assert not any("copies" in note for note in detector.discover(new).notes)


def test_a_start_by_labels_has_one_for_each_row():
    known, labels, new = grain()
    start = np.tile(np.repeat(["oat", "rye", "new"], 30), 2)
    found = VBrand(random_state=0, init=start).fit(known, labels).discover(np.tile(new, (2, 1)))
    assert (found.labels[60:90] == "novel").all()


def test_replicates_have_the_commonest_level_of_their_sample():
    rows = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 2.0], [7.0, np.nan]])
    found = given_rows(rows, Likeness(), np.array([0, 0, 0, 1]), None, (Category(1, ("red", "blue")),))
    assert found.rows[:3].tolist() == [[3.0, 2.0]] * 3
    assert np.isnan(found.rows[3, 1])


def measured_again(seed=0):
    """Return labelled rows of two classes with their labels, and unlabelled ones; and all of them three times."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0, 0.0, 0.0], [8.0, 0.0, 4.0, 0.0]])
    labels = np.repeat([0, 1], 60)
    known, new = (centres[own] + rng.normal(size=(own.size, 4)) for own in (labels, np.repeat([0, 1], 150)))
    again, thrice = (np.repeat(table, 3, axis=0) for table in (known, new))
    again, thrice = (table + 0.05 * rng.normal(size=table.shape) for table in (again, thrice))
    return known, labels, new, again, thrice


def test_replicates_that_nobody_named_count_once():
    _, labels, _, again, thrice = measured_again()
    detector = VBrand(random_state=0).fit(again, np.repeat(labels, 3))
    found = detector.discover(thrice)
    assert (found.labels == np.repeat([0, 1], 450)).mean() > 0.98
    told = [note for note in found.notes if "look like measurements of" in note]
    assert len(told) == 2
    assert len(detector.discovery_._rows.table) == 900  # all are answered

    order = np.random.default_rng(1).permutation(900)
    np.testing.assert_array_equal(detector.discover(thrice[order]).labels, found.labels[order])
    apart = VBrand(random_state=0).fit(again, np.repeat(labels, 3), groups=np.arange(360))
    assert not any("look like" in note for note in apart.discover(thrice, groups=np.arange(900)).notes)


def test_replicates_among_unlabelled_rows_alone_are_told_and_no_tree_is_asked():
    """Small groups look the same, so nothing is joined; but a tree that does not see a row sees its replicates."""
    known, labels, new, _, thrice = measured_again()
    detector = VBrand(random_state=0).fit(known, labels)
    assert any("replicates" in note for note in detector.discover(thrice).notes)
    checked = detector._state.finding.meaning.checked
    assert checked.rareness is None
    assert checked.votes is None

    assert not any("replicates" in note for note in detector.discover(new).notes)
    assert detector._state.finding.meaning.checked.votes is not None
