"""Stage 1 with modes: several modes, outliers, wrong labels, units and order of columns."""

import numpy as np
import pytest
from scipy import stats

from vbrand import VBrand
from vbrand.metrics import evaluate
from vbrand.model.kernels import Gaussian, Student
from vbrand.stage1.modes import learn_modes
from vbrand.studies.simulate import Simulated, simulate


def two_classes(rng, n=200, p=3):
    return np.vstack([rng.normal(0.0, 1.0, (n, p)), rng.normal(9.0, 2.0, (n, p))]), np.repeat(["oat", "rye"], n)


def test_gaussian_classes_are_found_as_they_are():
    rows, labels = two_classes(np.random.default_rng(0), n=2_000)
    known = learn_modes(rows, labels, kernel=Gaussian())
    assert known.class_of.tolist() == [0, 1]
    np.testing.assert_allclose(known.centres, [[0.0] * 3, [9.0] * 3], atol=0.15)
    np.testing.assert_allclose(known.scatters, [np.eye(3), 4.0 * np.eye(3)], atol=0.3)
    np.testing.assert_allclose(known.average, 2.5 * np.eye(3), atol=0.3)


def test_a_student_scatter_is_that_of_the_student():
    rng = np.random.default_rng(0)
    shape = np.array([[2.0, 0.5], [0.5, 1.0]])
    rows = stats.multivariate_t(np.zeros(2), shape, df=15).rvs(4_000, random_state=rng)
    known = learn_modes(rows, np.zeros(4_000, int), kernel=Student(15.0), max_modes=1)
    np.testing.assert_allclose(known.scatters[0], shape, atol=0.12)


def test_a_class_of_two_modes_has_two_components_that_mean_it():
    rng = np.random.default_rng(0)
    rows, labels = two_classes(rng)
    rows[:80] += [30.0, 0.0, 0.0]
    known = learn_modes(rows, labels, kernel=Student(15.0))
    assert known.class_of.tolist() == [0, 0, 1]
    assert known.rows.tolist() == [120, 80, 200]
    detector = VBrand(random_state=0).fit(rows, labels)
    found = detector.discover(np.vstack([rng.normal(0, 1, (40, 3)), rng.normal([30.0, 0, 0], 1, (40, 3))]))
    assert (found.labels == "oat").mean() > 0.95
    assert found.probabilities.shape[1] == 2
    assert "oat (2)" in str(found.summary())


@pytest.mark.parametrize(("rows_of_class", "least"), [(400, 20), (100, 5), (50, 5), (40, 4)])
def test_a_twentieth_of_a_class_is_a_mode_and_less_is_not(rows_of_class, least):
    """But for small classes, in which five rows are a mode, or a tenth of the class."""
    for small, modes in ((least, 2), (least - 1, 1)):
        rows, labels = two_classes(np.random.default_rng(0), n=rows_of_class)
        rows[:small] += [30.0, 0.0, 0.0]
        known = learn_modes(rows, labels, kernel=Student(15.0))
        assert (known.class_of == 0).sum() == modes
        assert known.rows[known.class_of == 0].sum() == (rows_of_class if modes == 2 else rows_of_class - small)


@pytest.mark.parametrize("seed", range(3))
def test_a_peak_within_a_class_is_a_mode_of_it_and_not_novel(seed):
    rng = np.random.default_rng(seed)

    def peaked(count):
        return np.where(rng.random((count, 1)) < 0.5, 0.2, 1.5) * rng.normal(size=(count, 3))

    rows, labels = np.vstack([peaked(300), 20.0 + peaked(300)]), np.repeat(["oat", "rye"], 300)
    known = learn_modes(rows, labels, kernel=Student(15.0))
    assert np.bincount(known.class_of).tolist() == [2, 2]
    found = VBrand(check=0, random_state=0).fit(rows, labels).discover(peaked(1_000))
    assert (found.labels == "oat").mean() > 0.98


def test_max_modes_one_gives_one_component_a_class():
    rng = np.random.default_rng(0)
    rows, labels = two_classes(rng)
    rows[:80] += [30.0, 0.0, 0.0]
    assert learn_modes(rows, labels, kernel=Student(15.0), max_modes=1).class_of.tolist() == [0, 1]


def test_scatters_of_like_classes_are_drawn_together_and_those_of_unlike_ones_are_not():
    rng = np.random.default_rng(0)
    n, p, classes = 60, 4, 6
    labels = np.repeat(np.arange(classes), n)
    like = rng.normal(size=(n * classes, p)) + 20.0 * labels[:, None]
    unlike = like * np.where(rng.random((classes, p)) < 0.5, 0.2, 5.0)[labels]
    assert learn_modes(like, labels, kernel=Gaussian()).alike > 20.0
    assert learn_modes(unlike, labels, kernel=Gaussian()).alike < 5.0


@pytest.mark.parametrize("factor", [1.0, 1e-4, 1e4])
def test_units_and_order_of_columns_do_not_matter(factor):
    rows, labels = two_classes(np.random.default_rng(1), n=60)
    order = [2, 0, 1]
    plain = learn_modes(rows, labels, kernel=Student(15.0))
    moved = learn_modes((rows * [1.0, factor, 1.0])[:, order], labels, kernel=Student(15.0))
    unit = np.array([1.0, factor, 1.0])[order]
    np.testing.assert_allclose(moved.centres / unit, plain.centres[:, order], rtol=1e-6, atol=1e-8)
    expected = plain.scatters[:, order][:, :, order]
    np.testing.assert_allclose(moved.scatters / np.outer(unit, unit), expected, rtol=1e-5, atol=1e-8)


def contaminated(data: Simulated, seed: int) -> Simulated:
    """Return the data with a tenth of the training labels swapped and a twentieth of far outliers added."""
    rng = np.random.default_rng(seed)
    train, classes = data.train.copy(), data.train_classes.copy()
    n = classes.size
    swapped = rng.choice(n, n // 10, replace=False)
    classes[swapped] = (classes[swapped] - 1 + rng.integers(1, 3, swapped.size)) % 3 + 1
    outliers = rng.uniform(-60.0, 60.0, size=(n // 20, train.shape[1]))
    return Simulated(
        np.vstack([train, outliers]),
        np.append(classes, rng.integers(1, 4, len(outliers))),
        data.test,
        data.test_classes,
    )


@pytest.mark.parametrize("columns", [2, 10])
def test_outliers_and_wrong_labels_hardly_matter(columns):
    clean, dirty = [], []
    for seed in range(3):
        data = simulate("ss1", seed, size=0.5, columns=columns)
        for table, scores in ((data, clean), (contaminated(data, seed), dirty)):
            found = VBrand(random_state=0).fit(table.train, table.train_classes).discover(table.test)
            scores.append(evaluate(np.where(data.test_classes <= 3, data.test_classes, -data.test_classes), found).ari)
    assert np.mean(dirty) > np.mean(clean) - 0.02


@pytest.mark.parametrize("cell", [1e10, 1e200])
def test_one_wild_cell_among_labelled_rows_does_not_matter(cell):
    rng = np.random.default_rng(0)
    rows, labels = two_classes(rng, n=50)
    rows[3, 1] = cell
    test = np.vstack([rng.normal(0, 1, (20, 3)), rows[50:] - 30.0])
    found = VBrand(random_state=0).fit(rows, labels).discover(test)
    assert (found.labels[:20] == "oat").mean() > 0.9
    assert (found.labels[20:] == "novel").all()


def test_modes_far_apart_do_not_widen_the_classes():
    rng = np.random.default_rng(0)
    rows, labels = two_classes(rng, n=50)
    rows[:25] += 1_000.0
    known = learn_modes(rows, labels, kernel=Student(15.0))
    assert known.class_of.tolist() == [0, 0, 1]
    assert np.linalg.eigvalsh(known.scatters).max() < 10.0


def test_tied_rows_work():
    rng = np.random.default_rng(1)
    rows, labels = two_classes(rng, n=50)
    found = VBrand(random_state=0).fit(np.round(rows / 2) * 2, labels).discover(np.round(rows / 2) * 2)
    assert (found.labels == labels).mean() > 0.9
    counts = rng.poisson(0.05, (100, 3))
    counts[50:] += rng.poisson(5, (50, 3))
    assert (VBrand(random_state=0).fit(counts, labels).discover(counts).labels != "novel").mean() > 0.9
