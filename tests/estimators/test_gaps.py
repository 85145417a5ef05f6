"""Tables with missing cells, from end to end: answers, notes, explanations, files."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from vbrand import BrandSampler, VBrand, load
from vbrand.estimators.gaps import has_cells, notes_on_classes, with_cells
from vbrand.io.tables.likeness import Given, Likeness
from vbrand.io.tables.validated import Columns

QUICK = {"random_state": 0, "check": 3}


def split(share, seed=0):
    """Return wines of two known cultivars and unknown ones of three, some cells blanked."""
    rows, truth = load_wine(return_X_y=True)
    rng = np.random.default_rng(seed)
    given = (rng.random(truth.size) < 0.5) & (truth < 2)
    rows = np.where(rng.random(rows.shape) < share, np.nan, rows)
    return rows[given], truth[given], rows[~given], truth[~given]


@pytest.fixture(scope="module")
def gapped():
    labelled, labels, unlabelled, truth = split(0.2)
    unlabelled[3] = np.nan
    unlabelled[:60, 5] = np.nan
    unlabelled[70:, 5] = np.nan
    detector = VBrand(random_state=0).fit(labelled, labels)
    return detector, detector.discover(unlabelled), unlabelled, truth


def test_a_fifth_of_the_cells_hardly_changes_the_answer(gapped):
    _, found, _, truth = gapped
    some = np.arange(truth.size) != 3
    assert ((found.labels == -1) == (truth == 2))[some].mean() > 0.9
    assert np.isfinite(found.elbo)
    assert (np.diff(found.traces[0]) >= -1e-9 * abs(found.elbo)).all()


def test_notes_say_what_is_missing(gapped):
    _, found, table, _ = gapped
    said = str(found.summary())
    assert f"missing cells: {int(np.isnan(table).sum()):,} of {table.size:,}, in 13 columns." in said
    assert "mostly empty: column 5 (" in said
    assert "1 row has no value at all" in said


def test_a_row_without_any_value_gets_what_any_row_would(gapped):
    detector, found, table, _ = gapped
    np.testing.assert_allclose(found.class_probabilities[3].sum(), 1.0)
    assert detector.score_samples(table[[3]])[0] == pytest.approx(0.0, abs=1e-9)
    shares = [group.weight for group in found.groups]
    assert found.class_probabilities[3].max() < max(shares) + 0.2


def test_new_rows_are_predicted_as_they_were_discovered(gapped):
    detector, found, table, _ = gapped
    np.testing.assert_allclose(detector.predict_proba(table), found.class_probabilities)
    np.testing.assert_array_equal(detector.predict(table), found.labels)
    complete = np.where(np.isnan(table), 1.0, table)
    assert np.isfinite(detector.novelty_score(complete)).all()


def test_explanations_are_of_the_cells_that_there_are(gapped):
    _, found, table, _ = gapped
    row = int(np.flatnonzero(np.isnan(table).sum(axis=1) == 4)[0])
    explanation = found.explain(row)
    assert explanation.absent == 4
    assert explanation.typical == pytest.approx(3.0)
    assert sum(part.share for part in explanation.contributions) == pytest.approx(1.0)
    assert "(4 of the columns are empty)" in str(explanation)
    assert not any(np.isnan(part.value) for part in explanation.contributions)


def test_pictures_and_files_take_missing_cells(gapped, tmp_path):
    detector, found, table, _ = gapped
    facts = found.facts()
    assert np.isfinite(facts.points.scores).all()
    assert found.report(tmp_path / "page.html").stat().st_size > 10_000
    detector.save(tmp_path / "wine.vbrand")
    again = load(tmp_path / "wine.vbrand")
    np.testing.assert_array_equal(again.predict_proba(table), detector.predict_proba(table))
    np.testing.assert_array_equal(again.discover(table).labels, found.labels)


def test_units_order_of_columns_and_order_of_rows_do_not_matter():
    labelled, labels, unlabelled, _ = split(0.15, seed=3)
    plain = VBrand(**QUICK).fit(labelled, labels).discover(unlabelled)
    unit, turn = np.exp(np.random.default_rng(0).normal(0.0, 3.0, 13)), np.random.default_rng(1).permutation(13)
    moved = VBrand(**QUICK).fit(labelled[:, turn] * unit, labels).discover(unlabelled[:, turn] * unit)
    turned = VBrand(**QUICK).fit(labelled, labels).discover(unlabelled[::-1])
    np.testing.assert_array_equal(moved.labels, plain.labels)
    np.testing.assert_array_equal(turned.labels[::-1], plain.labels)
    np.testing.assert_allclose(moved.novelty_probability, plain.novelty_probability, atol=1e-3)


def test_a_column_that_a_class_lacks_is_borrowed_with_a_note():
    rows, truth = load_iris(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(0)
    given = (rng.random(truth.size) < 0.5) & (truth < 2)
    labelled = rows[given].copy()
    labelled.loc[truth[given] == 0, "sepal width (cm)"] = np.nan
    found = VBrand(**QUICK).fit(labelled, truth[given]).discover(rows[~given])
    assert "class 0 has no value in column 'sepal width (cm)': borrowed" in str(found.summary())
    assert (found.labels[truth[~given] == 0] == 0).mean() > 0.9


@pytest.mark.parametrize(
    "settings", [{"scatter": "mrcd"}, {"update_known": False}, {"search": "restarts", "n_starts": 3}]
)
def test_other_settings_take_missing_cells(settings):
    labelled, labels, unlabelled, truth = split(0.1)
    found = VBrand(**QUICK, **settings).fit(labelled, labels).discover(unlabelled)
    assert np.isfinite(found.novelty_probability).all()
    assert (found.novelty_probability[truth == 2] > 0.5).mean() > 0.8


def test_labels_to_start_from_may_be_of_rows_without_a_value():
    labelled, labels, unlabelled, truth = split(0.1)
    unlabelled[5] = np.nan
    found = VBrand(**QUICK, init=truth).fit(labelled, labels).discover(unlabelled)
    assert found.labels.size == truth.size


def test_rows_of_one_table_with_and_without_labels():
    labelled, labels, unlabelled, _ = split(0.1)
    labelled[0] = np.nan  # a labelled row that says nothing
    both = np.vstack([labelled, unlabelled])
    detector = VBrand(**QUICK).fit(both, np.append(labels, np.full(len(unlabelled), -1)))
    assert detector.discovery_.labels.size == len(unlabelled)


def test_detectors_say_that_they_take_missing_cells():
    for detector in (VBrand(), BrandSampler()):
        assert detector.__sklearn_tags__().input_tags.allow_nan


def test_rows_that_have_cells_are_told_from_those_that_have_none():
    table = np.array([[1.0, np.nan], [np.nan, np.nan], [np.nan, 2.0]])
    assert has_cells(table).tolist() == [True, False, True]
    kept, every = np.array([True, False]), np.array([True, True])
    assert with_cells(Given(table, Likeness()), kept).counted.tolist() == [0]
    assert with_cells(Given(table, Likeness(), np.array([1, 2])), every).counted.tolist() == [2]
    assert with_cells(Given(np.ones((2, 2)), Likeness()), every).counted is None
    with pytest.raises(ValueError, match="no row has any value"):
        with_cells(Given(table[1:2], Likeness()), every)


def test_replicates_are_averaged_over_the_cells_that_they_have():
    labelled, labels, unlabelled, _ = split(0.1)
    twice = np.repeat(unlabelled, 2, axis=0)
    twice[::2][np.random.default_rng(0).random(unlabelled.shape) < 0.3] = np.nan
    detector = VBrand(**QUICK).fit(labelled, labels)
    plain = detector.discover(unlabelled)
    again = detector.discover(twice, groups=np.repeat(np.arange(len(unlabelled)), 2))
    np.testing.assert_array_equal(again.labels[::2], plain.labels)


def test_classes_that_lack_a_column_are_named():
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [np.nan, 1.0]}).to_numpy()
    columns, kept = Columns(2, ("a", "b")), np.array([True, True])
    said = notes_on_classes(table, np.array(["oat", "rye"]), columns, kept)
    assert said == ("class oat has no value in column 'b': borrowed from the other classes.",)
    assert notes_on_classes(np.ones((2, 2)), np.array(["oat", "rye"]), columns, kept) == ()
