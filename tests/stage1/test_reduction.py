"""Wide tables: what the reduction keeps, and that a novelty outside the known span is seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand import VBrand
from vbrand.stage1.reduction import _folds, _with_expected, columns_wanted, reduce_columns


def spectra(rng, n, place, level=1.0):
    """Smooth curves of 200 columns with a hump."""
    x = np.linspace(0.0, 1.0, 200)
    hump = np.exp(-0.5 * ((x - place) / 0.05) ** 2)
    slope = rng.normal(size=(n, 1)) * x + rng.normal(size=(n, 1))
    return level * hump * (1.0 + 0.1 * rng.normal(size=(n, 1))) + 0.2 * slope + 0.01 * rng.normal(size=(n, 200))


def wide_table(seed):
    rng = np.random.default_rng(seed)
    train = np.vstack([spectra(rng, 30, 0.3), spectra(rng, 30, 0.5)])
    test = np.vstack([spectra(rng, 30, 0.3), spectra(rng, 30, 0.5), spectra(rng, 40, 0.8)])
    return train, np.repeat(["beef", "lamb"], 30), test


@pytest.fixture(scope="module")
def wide():
    return wide_table(0)


def test_a_wide_table_works_and_says_what_was_done(wide):
    train, labels, test = wide
    found = VBrand(random_state=0).fit(train, labels).discover(test)
    assert "200 columns were reduced to 15 principal components" in str(found.summary())
    assert (found.labels[60:] == "novel").all()
    assert (found.labels[:60] == np.repeat(["beef", "lamb"], 30)).mean() > 0.9
    assert found.groups[0].centre.shape == (200,)


def test_known_classes_and_explanations_are_in_the_columns_of_the_table(wide):
    train, labels, test = wide
    detector = VBrand(random_state=0).fit(train, labels)
    np.testing.assert_allclose(detector.known_classes_.centres[0], train[:30].mean(axis=0), atol=0.15)
    assert detector.known_classes_.scatters.shape == (2, 200, 200)
    explanation = detector.discover(test).explain(99)
    assert sum(part.share for part in explanation.contributions) == pytest.approx(1.0, abs=0.05)
    assert explanation.distance > 2.0 * explanation.typical


def test_units_of_columns_do_not_matter(wide):
    train, labels, test = wide
    unit = np.exp(np.random.default_rng(1).normal(size=200))
    plain = VBrand(random_state=0).fit(train, labels).discover(test)
    moved = VBrand(random_state=0).fit(train * unit + 3.0, labels).discover(test * unit + 3.0)
    np.testing.assert_array_equal(plain.labels, moved.labels)


def test_what_is_left_over_of_labelled_rows_is_that_of_new_ones(wide):
    """Measured with their own axes it would be smaller, and every new row would look novel."""
    train, _, _ = wide
    rng = np.random.default_rng(2)
    reduction, reduced = reduce_columns(train, np.repeat([0, 1], 30), 15)
    new = reduction.inward(np.vstack([spectra(rng, 200, 0.3), spectra(rng, 200, 0.5)]))
    assert abs(reduced[:, -1].mean() - new[:, -1].mean()) < 0.05
    assert reduction.inward(train)[:, -1].mean() < reduced[:, -1].mean() - 0.05


def test_the_reduction_can_be_chosen_or_refused(wide):
    train, labels, test = wide
    found = VBrand(random_state=0, reduce=5).fit(train, labels).discover(test)
    assert "reduced to 5 principal components" in str(found.summary())
    assert "reduced" not in str(VBrand(random_state=0, reduce=None).fit(train[:, ::20], labels).discover(test[:, ::20]))
    with pytest.raises(ValueError, match="reduce is 0"):
        VBrand(reduce=0).fit(train, labels)


@pytest.mark.parametrize(("p", "n"), [(100, 20), (30, 15)])
def test_labelled_rows_of_a_wide_table_are_not_novel(p, n):
    """Their own axes leave less over than those of new rows would: less is nothing new."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 1, (n, p)), rng.normal(8, 1, (n, p))])
    assert (VBrand(random_state=0).fit(rows, np.repeat([0, 1], n)).discover(rows).labels >= 0).all()


def test_a_table_of_low_rank_has_no_axes_of_rounding():
    rng = np.random.default_rng(0)
    turn = rng.normal(size=(2, 60))
    train = np.vstack([rng.normal(0, 1, (30, 2)), rng.normal(8, 1, (30, 2))]) @ turn
    test = np.vstack([rng.normal(0, 1, (20, 2)), rng.normal(-10, 1, (15, 2))]) @ turn
    detector = VBrand(random_state=0).fit(train, np.repeat([0, 1], 30))
    for table in (test, test.astype(np.float32)):
        found = detector.discover(table)
        assert (found.labels[:20] == 0).mean() > 0.9
        assert (found.labels[20:] == -1).all()
    assert sum(part.share for part in found.explain(0).contributions) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("seed", [5, 7])
def test_known_classes_may_lie_a_hundred_scales_apart(seed):
    """What tells classes apart was once cut off where axes are chosen, and all known rows then had a novel residual."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0.0, 1.0, 3_000)

    def humps(count):
        return sum(rng.normal() * np.exp(-(((x - rng.random()) / 0.08) ** 2)) for _ in range(count))

    factors, shapes = np.array([humps(4) for _ in range(5)]), [3 * humps(6) for _ in range(3)]
    rows = [
        shapes[k] + 0.5 * rng.normal(size=(20, 5)) @ factors + 0.02 * rng.normal(size=(20, x.size))
        for k in (0, 1, 0, 2)
    ]
    found = VBrand(random_state=0).fit(np.vstack(rows[:2]), np.repeat([0, 1], 20)).discover(np.vstack(rows[2:]))
    assert (found.labels == np.repeat([0, -1], 20)).all()


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_the_columns_of_a_novel_hump_explain_it(seed):
    """What the components leave over is told column by column: where the hump is that no known class has."""
    train, labels, test = wide_table(seed)
    found = VBrand(random_state=0).fit(train, labels).discover(test)
    group = found.groups[2]
    assert group.kind == "novel group"
    parts = [(int(part.column.removeprefix("column ")), part.share) for part in group.explanation.contributions]
    assert sum(share for _, share in parts) == pytest.approx(1.0)
    # a hump at 0.8 of 200 columns; single columns elsewhere (a known hump that is missing) may come before some of it
    assert 140 <= parts[0][0] <= 180
    assert sum(share for column, share in parts if 140 <= column <= 180) > 0.6
    assert "column 1" in str(group.explanation)


def test_axes_are_orthonormal_and_scores_lead_back_to_the_row(wide):
    train, _, _ = wide
    reduction, reduced = reduce_columns(train, np.repeat([0, 1], 30), 15)
    assert reduced.shape == (60, 16)
    np.testing.assert_allclose(reduction.axes @ reduction.axes.T, np.eye(15), atol=1e-10)
    flat = reduction.outward(reduction.inward(train))  # without what is left over
    np.testing.assert_allclose(reduction.inward(flat)[:, :-1], reduction.inward(train)[:, :-1], atol=1e-8)


def test_what_is_left_over_is_shared_out_among_columns(wide):
    train, _, test = wide
    reduction, _ = reduce_columns(train, np.repeat([0, 1], 30), 15)
    for row in test[::30]:
        shares = reduction.rest_by_column(row)
        assert (shares >= 0.0).all()
        assert shares.sum() == pytest.approx(1.0)


@given(st.integers(2, 10_000), st.integers(1, 50))
def test_more_rows_speak_for_more_columns_and_always_for_five(rows, classes):
    assert columns_wanted(rows + 1, classes) >= columns_wanted(rows, classes) >= columns_wanted(rows, classes + 1) >= 5


def test_missing_cells_of_a_wide_table_are_what_its_gaussian_leads_to_expect():
    """(3.29) by the covariance E' diag(var - left) E + left I of a probabilistic principal component analysis."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(8, 3)))[0].T
    variances = np.array([5.0, 2.0, 1.0, 0.1])
    covariance = (axes.T * variances[:-1]) @ axes + 0.1 * np.eye(8)
    rows = rng.multivariate_normal(np.zeros(8), covariance, 20)
    holes = np.where(rng.random(rows.shape) < 0.4, np.nan, rows)
    filled = _with_expected(holes, axes, variances)
    for row, found in zip(holes, filled, strict=True):
        m, o = np.isnan(row), ~np.isnan(row)
        wanted = covariance[np.ix_(m, o)] @ np.linalg.solve(covariance[np.ix_(o, o)], row[o])
        np.testing.assert_allclose(found[m], wanted, atol=1e-9)
        np.testing.assert_array_equal(found[o], row[o])


@pytest.mark.parametrize("seed", range(3))
def test_missing_cells_are_expected_by_as_few_axes_as_tell_hidden_ones_best(seed):
    """(3.29): all axes that so few rows have would follow what was filled in."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(80, 3)) @ rng.normal(0.0, 3.0, (3, 60)) + 0.2 * rng.normal(size=(80, 60))
    absent = rng.random(rows.shape) < 0.15
    reduction, _ = reduce_columns(np.where(absent, np.nan, rows), np.repeat([0, 1], 40), 20)
    assert reduction.axes.shape == (20, 60)
    assert 3 <= reduction.variances.size - 1 <= 6
    standard = (rows - reduction.centre) / reduction.unit
    filled = _with_expected(np.where(absent, np.nan, standard), reduction.axes, reduction.variances)
    error = ((filled - standard) * reduction.unit)[absent].std()
    assert error < 0.3


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_a_wide_table_with_missing_cells_finds_the_same_novelty(wide, share):
    train, labels, test = wide
    rng = np.random.default_rng(5)
    train, test = (np.where(rng.random(each.shape) < share, np.nan, each) for each in (train, test))
    test[7] = np.nan
    found = VBrand(random_state=0).fit(train, labels).discover(test)
    assert (found.labels[60:] == "novel").mean() > 0.95
    assert (found.labels[:60] == np.repeat(["beef", "lamb"], 30)).mean() > 0.85
    assert np.isfinite(found.class_probabilities).all()
    assert found.explain(80).absent == int(np.isnan(test[80]).sum())
    assert "1 row has no value at all" in str(found.summary())


def test_folds_do_not_depend_on_names_of_classes():
    member = np.array([0, 0, 1, 1, 2, 0, 2, 1, 2, 2])
    other = np.array([2, 0, 1])[member]
    np.testing.assert_array_equal(_folds(member, 4), _folds(other, 4))
    assert np.bincount(_folds(member, 4)).tolist() == [3, 3, 2, 2]
