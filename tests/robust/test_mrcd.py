"""MRCD: equivariant, robust, consistent, and defined for any shape of table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.robust.columns import column_scales, stand_in_scale
from vbrand.robust.mrcd import consistency_factor, fit_mrcd, frame_of, rho_for, subset_size
from vbrand.robust.scale import qn


def contaminated(n, p, share, seed=0, distance=8.0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    rows[: int(share * n)] += distance * np.abs(rows).max()
    return rows


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(0, 10**6),
    st.sampled_from(["identity", "equicorrelation"]),
    st.lists(st.floats(-9, 9), min_size=6, max_size=6),
    st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6),
)
def test_rescaling_and_shifting_columns_changes_the_answer_by_just_that(p, seed, target, exponents, shifts):
    rows = contaminated(60, p, 0.2, seed)
    factor = 10.0 ** np.array(exponents[:p])
    shift = np.array(shifts[:p]) * rows.std(axis=0) * factor
    before = fit_mrcd(rows, qn(rows), target=target)
    moved = rows * factor + shift
    after = fit_mrcd(moved, qn(moved), target=target)
    spread = np.sqrt(np.diag(before.scatter))
    assert (after.subset == before.subset).all()
    assert after.rho == pytest.approx(before.rho, rel=1e-8)
    np.testing.assert_allclose((after.centre - shift) / factor / spread, before.centre / spread, atol=1e-8)
    np.testing.assert_allclose(
        after.scatter / np.outer(factor * spread, factor * spread), before.scatter / np.outer(spread, spread), atol=1e-8
    )


def test_permuting_rows_permutes_the_subset():
    rows = contaminated(80, 4, 0.3)
    order = np.random.default_rng(1).permutation(80)
    before, after = fit_mrcd(rows, qn(rows)), fit_mrcd(rows[order], qn(rows))
    assert (after.subset == before.subset[order]).all()
    np.testing.assert_allclose(after.scatter, before.scatter, rtol=1e-10)


@pytest.mark.parametrize("n", [1000, 4000])
@pytest.mark.parametrize("p", [2, 8, 20])
def test_clean_gaussian_scatter_has_the_right_size(n, p):
    # |mean trace / p - 1| <= .02 + 3 Monte-Carlo standard errors
    samples = (np.random.default_rng(seed).normal(size=(n, p)) for seed in range(12))
    fits = [fit_mrcd(rows, qn(rows)) for rows in samples]
    sizes = np.array([np.trace(fit.scatter) / p for fit in fits])
    assert abs(sizes.mean() - 1.0) <= 0.02 + 3 * sizes.std(ddof=1) / np.sqrt(sizes.size)
    assert all(fit.rho == 1e-6 for fit in fits)


@pytest.mark.parametrize("share", [0.2, 0.4])
@pytest.mark.parametrize("shape", ["shift", "point", "wide"])
def test_far_outliers_stay_out_of_the_subset(share, shape):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 5))
    outliers = int(share * 500)
    rows[:outliers] = {
        "shift": rng.normal(50.0, 1.0, size=(outliers, 5)),
        "point": 30.0 + 1e-3 * rng.normal(size=(outliers, 5)),
        "wide": 100.0 * rng.normal(size=(outliers, 5)),
    }[shape]
    fit = fit_mrcd(rows, qn(rows))
    inside = np.abs(rows[:outliers]).max(axis=1) < 4.0  # a wide outlier can fall inside
    assert not fit.subset[:outliers][~inside].any()


def test_outliers_change_the_scatter_by_their_share_only():
    n, p = 5000, 6
    rng = np.random.default_rng(0)
    clean = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    rows = clean.copy()
    rows[: n // 5] += 40.0 * clean.std()
    # h rows of the clean 80 % are a larger share of them: c(h / n) against c(h / n_clean)
    size = subset_size(n, 0.5)
    correction = consistency_factor(size, n, p) / consistency_factor(size, n - n // 5, p)
    before, after = fit_mrcd(clean, qn(clean)), fit_mrcd(rows, qn(rows))
    assert not after.subset[: n // 5].any()
    unit = np.sqrt(np.diag(before.scatter))
    difference = (after.scatter / correction - before.scatter) / np.outer(unit, unit)
    assert np.abs(difference).max() < 0.15


@pytest.mark.parametrize("shape", [(30, 100), (10, 200), (3, 2), (3, 50), (40, 1), (3, 1)])
@pytest.mark.parametrize("target", ["identity", "equicorrelation"])
def test_any_shape_of_table_has_an_invertible_scatter(shape, target):
    rows = np.random.default_rng(0).normal(size=shape)
    fit = fit_mrcd(rows, qn(rows), target=target)
    product = fit.scatter @ fit.precision
    np.testing.assert_allclose(product, np.eye(shape[1]), atol=1e-6)
    assert fit.log_determinant == pytest.approx(np.linalg.slogdet(fit.scatter)[1], abs=1e-6)


def test_wide_tables_ignore_outliers_too():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 200)) + rng.normal(size=(40, 200))
    rows[:10] += 8.0
    assert not fit_mrcd(rows, qn(rows)).subset[:10].any()


def test_chosen_rho_is_the_least_that_bounds_the_condition_number():
    rng = np.random.default_rng(0)
    subset = rng.normal(size=(40, 5)) * [1.0, 1.0, 1.0, 1.0, 0.05]
    rho = rho_for(subset, (80, 5), 0, 50.0)
    covariance = consistency_factor(40, 80, 5) * np.cov(subset.T)
    assert np.linalg.cond(rho * np.eye(5) + (1 - rho) * covariance) == pytest.approx(50.0)


def test_duplicated_columns_are_regularised():
    rows = np.random.default_rng(0).normal(size=(100, 3))
    fit = fit_mrcd(rows[:, [0, 1, 2, 0]], qn(rows[:, [0, 1, 2, 0]]))
    assert 1e-3 < fit.rho < 0.2
    assert np.isfinite(fit.precision).all()


def test_random_starts_never_worsen_the_determinant():
    rows = contaminated(60, 5, 0.3, seed=4)
    plain = fit_mrcd(rows, qn(rows), rho=0.01)
    more = fit_mrcd(rows, qn(rows), rho=0.01, random_starts=20, generator=np.random.default_rng(0))
    assert more.log_determinant <= plain.log_determinant + 1e-12


def test_frame_turns_the_target_into_the_identity():
    rows = contaminated(60, 4, 0.0)
    frame = frame_of(rows, "equicorrelation", qn(rows))
    correlation = np.full((4, 4), frame.correlation) + (1 - frame.correlation) * np.eye(4)
    target = frame.scale[:, None] * correlation * frame.scale
    np.testing.assert_allclose(frame.outward(np.eye(4), 1), target, rtol=1e-12)
    np.testing.assert_allclose(frame.outward(np.eye(4), -1), np.linalg.inv(target), rtol=1e-9)


def test_half_of_the_rows_identical_is_refused():
    rows = np.random.default_rng(0).normal(size=(80, 5))
    rows[:50] = rows[0]
    with pytest.raises(ValueError, match="40 of 80 rows that lie closest together are identical"):
        fit_mrcd(rows, rows.std(axis=0))
    assert fit_mrcd(rows, rows.std(axis=0), support_fraction=0.75).condition < 1e3


@pytest.mark.parametrize("n", [40, 41, 400])
def test_a_column_half_of_whose_values_are_tied_keeps_its_size(n):
    rows = np.random.default_rng(1).normal(size=(n, 3))
    rows[: n // 2, 0] = 0.0
    scale = column_scales(rows, stand_in_scale(rows))
    fit = fit_mrcd(rows, scale, support_fraction=1.0)
    np.testing.assert_allclose(np.diag(fit.scatter), rows.var(axis=0), rtol=0.1)


@pytest.mark.parametrize("support_fraction", [0.5, 0.75])
@pytest.mark.parametrize("seed", range(10))
def test_columns_of_counts_do_not_collapse(seed, support_fraction):
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.normal(size=(100, 3)), rng.poisson(0.3, size=(100, 3))])
    fit = fit_mrcd(rows, column_scales(rows, stand_in_scale(rows)), support_fraction=support_fraction)
    assert fit.condition < 500.0


def test_half_of_the_rows_nearly_identical_is_refused():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 3))
    rows[:40] = 5.0 + 1e-6 * rng.normal(size=(40, 3))
    with pytest.raises(ValueError, match="identical, or nearly so"):
        fit_mrcd(rows, qn(rows))


def test_a_singular_scatter_without_regularisation_is_refused():
    rows = np.random.default_rng(0).normal(size=(20, 50))
    with pytest.raises(ValueError, match="is singular"):
        fit_mrcd(rows, qn(rows), rho=0.0)
