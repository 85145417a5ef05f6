"""Skewed columns from end to end: answers, units, notes, explanations, files, batches and rows on disk."""

import numpy as np
import pytest

from vbrand import VBrand, load

NAMES = ["iron", "zinc", "lead", "pH"]


def drawn(seed=0, labelled=80, rows=600):
    """Return skewed metals and a Gaussian column of two known classes, and unlabelled rows with a third class."""
    rng = np.random.default_rng(seed)

    def rows_of(k, count):
        metals = np.exp(
            np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 4.0], [4.0, 3.0, 0.0]])[k] + 0.5 * rng.normal(size=(count, 3))
        )
        return np.column_stack([metals, rng.normal(6.0 + 0.3 * k, 0.5, count)])

    known, labels = np.concatenate([rows_of(k, labelled) for k in range(2)]), np.repeat(["soil", "sand"], labelled)
    new, truth = np.concatenate([rows_of(k, rows // 3) for k in range(3)]), np.repeat(np.arange(3), rows // 3)
    return known, labels, new, truth


@pytest.fixture(scope="module")
def fitted():
    known, labels, new, truth = drawn()
    detector = VBrand(random_state=0, transforms="auto").fit(known, labels)
    return detector, detector.discover(new), new, truth


def test_skewed_columns_are_bent_and_the_answer_is_right(fitted):
    detector, found, _, truth = fitted
    np.testing.assert_array_equal(detector._state.learned.passage.warp.bent, [True, True, True, False])
    assert ((found.labels == "novel") == (truth == 2)).mean() > 0.99
    assert any("skewed columns" in note and "column 2" in note for note in found.notes)


def test_without_transform_columns_are_taken_as_they_are():
    known, labels, new, _ = drawn()
    found = VBrand(random_state=0, check=0, transforms=None).fit(known, labels).discover(new)
    assert not any("skewed" in note for note in found.notes)
    # nor where the user says what classes look like, nor in wide tables
    for settings in ({"scatter": "mrcd"}, {"reduce": 2}):
        assert VBrand(**settings).fit(known, labels)._state.learned.passage.warp is None
    assert VBrand().fit(known, labels)._state.learned.passage.warp is not None


def test_units_zeros_and_orders_change_no_label(fitted):
    _, usual, _, _ = fitted
    known, labels, new, _ = drawn()
    rng = np.random.default_rng(1)
    columns, order, others = rng.permutation(4), rng.permutation(len(labels)), rng.permutation(len(new))
    unit, zero = np.array([1e3, 0.25, 7.0, 60.0]), np.array([0.0, 4.0, -3.0, 100.0])

    def turned(rows):
        return (rows * unit + zero)[:, columns]

    found = (
        VBrand(random_state=0, transforms="auto").fit(turned(known)[order], labels[order]).discover(turned(new)[others])
    )
    np.testing.assert_array_equal(found.labels, usual.labels[others])


def test_predictions_are_those_of_the_discovery_also_from_a_file(fitted, tmp_path):
    detector, found, new, _ = fitted
    np.testing.assert_array_equal(detector.predict(new), found.labels)
    detector.save(tmp_path / "model.vbrand")
    again = load(tmp_path / "model.vbrand")
    np.testing.assert_array_equal(again.predict(new), found.labels)
    np.testing.assert_array_equal(again.novelty_score(new), detector.novelty_score(new))


def test_densities_are_those_of_the_users_units(fitted):
    detector, _, new, _ = fitted
    passage, row, width = detector._state.learned.passage, new[:1], 1e-5
    steps = width * np.abs(row[0])
    slopes = (passage.working(row + np.diag(steps)) - passage.working(row - np.diag(steps))) / (2.0 * steps)
    rows = detector._rows(row)
    assert passage.log_volumes(rows)[0] == pytest.approx(np.linalg.slogdet(slopes)[1], abs=1e-4)


def test_the_bound_counts_the_slopes_of_rows():
    known, labels, new, _ = drawn(rows=90)
    one, other = (
        VBrand(random_state=0, check=0, transforms="auto").fit(c * known, labels).discover(c * new) for c in (1.0, 8.0)
    )
    assert other.elbo == pytest.approx(one.elbo - new.size * np.log(8.0), rel=1e-6)


def test_explanations_and_classes_are_in_the_users_units(fitted):
    detector, found, new, truth = fitted
    explained = found.explain(int(np.flatnonzero(truth == 2)[0]))
    iron = next(c for c in explained.contributions if c.column.endswith("0") or "0" in c.column)
    assert iron.value == pytest.approx(new[truth == 2][0, 0], rel=1e-6)
    centres = detector.known_classes_.centres
    assert 0.5 < centres[:, 0].min() < 2.0
    assert 4.0 < centres[:, 0].max() < 12.0
    assert (np.linalg.eigvalsh(detector.known_classes_.scatters) > 0.0).all()


def test_batches_and_rows_on_disk_are_bent_alike(fitted, tmp_path):
    _, found, new, truth = fitted
    np.save(tmp_path / "rows.npy", new)
    known, labels, _, _ = drawn()
    on_disk = VBrand(random_state=0, transforms="auto").fit(known, labels).discover(tmp_path / "rows.npy")
    np.testing.assert_array_equal(np.asarray(on_disk.labels), found.labels)
    batch = VBrand(random_state=0, transforms="auto").fit(known, labels)
    half = np.arange(len(new)) % 2 == 0
    batch.update(new[half])
    update = batch.update(new[~half])
    assert ((update.labels == "novel") == (truth[~half] == 2)).mean() > 0.98


def test_an_unknown_transform_gets_one_sentence():
    known, labels, _, _ = drawn()
    with pytest.raises(ValueError, match="transforms"):
        VBrand(transforms="log").fit(known, labels)
