"""The check of an answer, from a table to its verdict."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from vbrand import VBrand
from vbrand.estimators.tuning import Tuning
from vbrand.trust.cells import Cells
from vbrand.trust.check import _earlier_of_classes, _of_fit, _scaled, _with_earlier
from vbrand.trust.meaning import Checked
from vbrand.trust.table import Counts, rows_of_classes
from vbrand.trust.tuning import TUNED


def peaked(rng, n, place, columns=3):
    """Return rows of a class that is no Student mixture: most lie in small blobs at corners."""
    corners = rng.integers(0, 2, (n, columns)) * 3.0
    return place + corners + rng.normal(0.0, 0.15, (n, columns))


def discovered(seed, novelty, **settings):
    rng = np.random.default_rng(seed)
    train = np.vstack([peaked(rng, 150, 0.0), peaked(rng, 150, 20.0)])
    test = np.vstack([peaked(rng, 300, 0.0), peaked(rng, 300, 20.0), rng.normal(-15.0, 1.0, (novelty, 3))])
    truth = np.repeat([0, 1, 2], [300, 300, novelty])
    found = VBrand(random_state=0, **settings).fit(train, np.repeat([0, 1], 150)).discover(test)
    return found, truth


@pytest.mark.parametrize("seed", range(3))
def test_a_class_in_many_pieces_is_no_novelty(seed):
    found, truth = discovered(seed, novelty=0)
    assert (found.labels == truth).mean() > 0.9
    assert found.check.false_rows <= found.check.novel_rows


@pytest.mark.parametrize("seed", range(3))
def test_novelty_beside_such_classes_is_found(seed):
    found, truth = discovered(seed, novelty=80)
    assert (found.labels[truth == 2] == -1).mean() > 0.97
    assert (found.labels[truth < 2] == truth[truth < 2]).mean() > 0.95


def test_a_class_that_grew_tenfold_is_no_novelty():
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 3.0], [0.0, 9.0, -3.0]])
    train, test = (np.repeat([0, 1, 2], rows) for rows in ([20, 100, 300], [300, 100, 20]))
    found = (
        VBrand(random_state=0)
        .fit(places[train] + rng.normal(size=(420, 3)), train)
        .discover(places[test] + rng.normal(size=(420, 3)))
    )
    assert (found.labels == test).mean() > 0.97


def test_shares_of_classes_are_told_through_their_confusion():
    """(9.4): a third of the first class falls into components of the second, a fifth of it into novel ones."""
    rows, places = np.array([300.0, 60.0]), np.array([[0.5, 0.3], [0.1, 0.9]])
    hidden = np.array([1_000, 1_000])
    found = rows_of_classes(rows @ places, hidden[:, None] * places, hidden, np.array([180.0, 180.0]), TUNED)
    np.testing.assert_allclose(found, rows, rtol=0.05)


def test_novel_rows_stay_where_they_are_with_all_labels():
    """(9.16): 40 of 100 rows of a cell are novel, and with all labels it has 80."""
    counts = Counts(np.array([50, 100]), np.ones((1, 2)), np.array([0, 1, 2]), np.ones((2, 1)), np.ones((2, 1)))
    larger = _of_fit(counts, np.array([70.0, 80.0]))
    np.testing.assert_allclose(0.4 * larger * [70.0, 80.0], [0.4 * 70.0, 40.0])


def test_a_cell_of_novel_rows_alone_has_shares_that_sum_to_one():
    """Where the share of known rows had no digit left shares of classes were 1e288, and a novel group known."""
    novel, classes = np.array([1.0, 0.7]), np.array([[0.0, 1e-290], [0.2, 0.1]])
    found = _scaled(Checked(None, None, classes, novel, 0.0, 1.0), np.array([0.996, 1.0]))
    np.testing.assert_allclose(found.classes.sum(axis=1), [0.004, 0.3])
    np.testing.assert_allclose(found.classes[1], classes[1])


def test_copies_of_labelled_rows_are_no_novelty():
    rng = np.random.default_rng(0)
    rows, truth = np.vstack([rng.normal(c, 1, (60, 2)) for c in (0, 9, -9)]), np.repeat([0, 1, 2], 60)
    found = VBrand(random_state=0).fit(rows[:120], truth[:120]).discover(rows)
    np.testing.assert_array_equal(found.labels, np.where(truth == 2, -1, truth))


def test_the_answer_does_not_depend_on_workers():
    one, two = (discovered(0, 80, n_jobs=jobs)[0] for jobs in (1, 2))
    np.testing.assert_array_equal(one.novelty_probability, two.novelty_probability)
    assert one.check == two.check


@pytest.mark.parametrize(
    "settings", [{"check": 0}, {"update_known": False}, {"known_mean_strength": 50.0, "known_scatter_strength": 50.0}]
)
def test_without_hidden_rows_the_answer_says_that_it_is_unchecked(settings):
    found, _ = discovered(0, 80, **settings)
    assert found.check is None
    assert "not checked" in str(found.summary())


@pytest.mark.parametrize("scatter", ["mrcd", "empirical"])
def test_classes_that_are_robust_fits_are_checked_too(scatter):
    found, truth = discovered(0, 80, scatter=scatter)
    assert found.check is not None
    assert (found.labels[truth == 2] == -1).mean() > 0.9


def test_classes_with_too_few_rows_are_named():
    rng = np.random.default_rng(0)
    train = np.vstack([rng.normal(0, 1, (40, 2)), rng.normal(20, 1, (3, 2))])
    test, labels = rng.normal(0, 1, (60, 2)), ["oat"] * 40 + ["rye"] * 3
    assert VBrand(random_state=0).fit(train, labels).discover(test).check.unchecked == ()
    wanted = Tuning(check=replace(TUNED, fewest_rows=4))
    found = VBrand.tuned(wanted, random_state=0).fit(train, labels).discover(test)
    assert found.check.unchecked == ("rye",)
    assert "Too few labelled rows to check: rye" in str(found.check)


def test_with_three_labelled_rows_per_class_most_known_rows_stay_known():
    false, missed = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        centres = rng.normal(0, 6, (5, 6))
        train, labels = np.repeat(centres[:4], 3, axis=0) + rng.normal(size=(12, 6)), np.repeat(np.arange(4), 3)
        truth = np.repeat(np.arange(5), 80)
        found = VBrand(random_state=0).fit(train, labels).discover(centres[truth] + rng.normal(size=(400, 6)))
        false.append((found.labels[truth < 4] == -1).mean())
        missed.append((found.labels[truth == 4] != -1).mean())
    assert np.mean(false) < 0.15
    assert np.mean(missed) < 0.5


def test_at_most_the_allowed_share_of_known_rows_is_called_novel():
    rng = np.random.default_rng(3)
    train, test = (np.vstack([rng.standard_t(2, (n, 3)), 12 + rng.standard_t(2, (n, 3))]) for n in (200, 500))
    labels, truth = np.repeat([0, 1], 200), np.repeat([0, 1], 500)
    shares = []
    for allowed in (0.0, 0.05):
        found = VBrand(random_state=0, max_false_novelty=allowed).fit(train, labels).discover(test)
        shares.append((found.labels == -1).mean())
    assert shares[0] <= shares[1] <= 0.08
    assert truth.size == found.labels.size
    with pytest.raises(ValueError, match="max_false_novelty needs the check"):
        VBrand(check=0, max_false_novelty=0.1).fit(train, labels).discover(test)


def test_a_row_far_from_everything_stays_novel():
    rng = np.random.default_rng(45)
    train, test = rng.normal(size=(100, 4)), rng.normal(size=(300, 4))
    test[:5] *= 10_000
    detector = VBrand(random_state=0).fit(train, ["a"] * 100)
    assert (detector.predict(test[:5]) == "novel").all()
    found = detector.discover(test)
    assert (found.labels[:5] == "novel").all()
    assert (detector.predict(test) == found.labels).all()


def far_rows(rng, train, labels):
    """Return one to five rows, each farther than 30 standard deviations from every class, but not by much."""
    p, far, many = train.shape[1], [], int(rng.integers(1, 6))
    classes = [train[labels == j] for j in np.unique(labels)]
    while len(far) < many:
        direction = rng.normal(size=p)
        start = classes[rng.integers(len(classes))].mean(axis=0)
        row = start + direction / np.linalg.norm(direction) * rng.uniform(31.0, 200.0)
        off = [row - own.mean(axis=0) for own in classes]
        scatters = [np.cov(own.T).reshape(p, p) for own in classes]
        if min(d @ np.linalg.solve(scatter, d) for d, scatter in zip(off, scatters, strict=True)) > 30.0**2:
            far.append(row)
    return np.array(far)


@pytest.mark.parametrize("block", range(6))
def test_a_row_farther_than_thirty_standard_deviations_is_novel_before_and_after(block):
    """Random tables: any number of columns, classes, labelled and far rows."""
    for seed in range(block * 5, block * 5 + 5):
        rng = np.random.default_rng(seed)
        p, classes, labelled = int(rng.integers(1, 6)), int(rng.integers(1, 4)), int(rng.integers(8, 60))
        centres, labels = rng.normal(0.0, 8.0, (classes, p)), np.repeat(np.arange(classes), labelled)
        train = centres[labels] + rng.normal(size=(labels.size, p))
        known = centres[rng.integers(0, classes, 150)] + rng.normal(size=(150, p))
        far = far_rows(rng, train, labels)
        detector = VBrand(random_state=0).fit(train, labels)
        assert (detector.predict(far) == -1).all(), seed
        assert (detector.discover(np.vstack([known, far])).labels[150:] == -1).all(), seed
        assert (detector.predict(far) == -1).all(), seed


def test_rows_of_earlier_batches_count_where_those_of_this_one_fall():
    class_of, earlier = np.array([0, 1, -1]), np.array([30.0, 10.0, 8.0, 0.0])
    prior = SimpleNamespace(class_of=class_of, known=3)
    case = SimpleNamespace(prior=prior, earlier=earlier)
    cells = Cells(np.array([0.0]), (np.array([1.0]), np.empty(0)))
    rows = np.array([15.0, 5.0, 0.0, 0.0, 4.0])  # two cells of known components, two of a group, one of a new one
    np.testing.assert_allclose(_with_earlier(case, cells, rows), [45.0, 15.0, 4.0, 4.0, 4.0])
    assert _earlier_of_classes(case, 2).tolist() == [30.0, 10.0]


def test_trees_are_asked_only_where_labelled_and_unlabelled_rows_came_the_same_way():
    generator = np.random.default_rng(0)
    narrow, wide = generator.normal(size=(120, 3)), generator.normal(size=(120, 60))
    alike = np.where(generator.random((120, 3)) < 0.05, np.nan, narrow)
    later = np.where((generator.random((120, 3)) < 0.5) & (np.arange(120)[:, None] >= 60), np.nan, narrow)
    for table, asked in ((narrow, True), (alike, True), (later, False), (wide, False)):
        detector = VBrand(random_state=0).fit(table[:60], np.repeat(["oat", "rye"], 30))
        detector.discover(table[60:])
        assert (detector._fitted.predictive.meaning.checked.rareness is not None) == asked
