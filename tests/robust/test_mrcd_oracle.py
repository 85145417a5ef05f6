"""R's rrcov::CovMrcd says the same.

Exceptions, each with its reason:
* R's Qn rounds pairwise distances to single precision and its constant to 2.21914, so its scales are off by up to
  6e-8 and 2e-6. Wherever figures are compared to 1e-9, R's own scales are used.
* Two equicorrelation cases of Statlog (integer data): the normal-scores start breaks ties of contrasts by digits that
  R's rounding changes. Given R's scales the subset is R's; with exact scales one or two rows of that start differ.
* Likewise one row of a start may be swapped in these cases: R's scales are stored with twelve digits.
* times_1e_minus5 and the degenerate cases: R floors scales at 0.001 (README of the oracles), no target.
* p > n at support_fraction 0.5 is not reproducible in R itself; there the objective is compared.
"""

import numpy as np
import pytest
from shared import SHARED, needs_shared, oracle, seeds, statlog

from vbrand.robust.mrcd import TargetCoordinates, fit_mrcd, fit_of_subset
from vbrand.robust.scale import qn
from vbrand.robust.subsets import starting_subsets

TALL = [
    "gauss_contaminated_n100_p10",
    "gauss_equicorrelated_n60_p8",
    *(f"seeds_class{k}" for k in (1, 2, 3)),
    *(f"statlog_class{k}" for k in (1, 3, 4, 7)),
]
TIES_BROKEN_BY_ROUNDING = {
    ("statlog_class4", 0.75, "equicorrelation"),
    ("statlog_class3", 0.5, "equicorrelation"),
}
settings = pytest.mark.parametrize("alpha", [0.5, 0.75])
targets = pytest.mark.parametrize("target", ["identity", "equicorrelation"])
pytestmark = needs_shared


def rows_of(case):
    if case.startswith("statlog"):
        rows, labels = statlog()
        return rows[labels == int(case[-1])] / 4.5
    if case.startswith("seeds"):
        return seeds(int(case[-1]))
    return np.loadtxt(SHARED / "oracles" / "mrcd" / f"{case}_X.csv", delimiter=",", ndmin=2)


def answer(case, alpha, target):
    return oracle("mrcd", f"{case}_mrcd_alpha{alpha}_{target}.json")


def mask(indices, n):
    chosen = np.zeros(n, dtype=bool)
    chosen[np.array(indices) - 1] = True
    return chosen


def frame_of_r(rows, theirs):
    scale = np.array(theirs["scale_Qn_floored"])
    return TargetCoordinates(np.median(rows, axis=0), scale, theirs["target_equicorrelation"] or 0.0)


@settings
@targets
@pytest.mark.parametrize("case", TALL)
def test_subset_and_rho_are_those_of_r(case, alpha, target):
    rows, theirs = rows_of(case), answer(case, alpha, target)
    scale = np.array(theirs["scale_Qn_floored"])
    ours = fit_mrcd(rows, scale, support_fraction=alpha, target=target)
    assert (ours.subset == mask(theirs["best_subset_1based"], len(rows))).all()
    assert ours.rho == pytest.approx(theirs["rho"], abs=2e-4)


@settings
@targets
@pytest.mark.parametrize("case", TALL)
def test_exact_scales_lead_to_the_same_subset(case, alpha, target):
    rows, theirs = rows_of(case), answer(case, alpha, target)
    ours = fit_mrcd(rows, qn(rows), support_fraction=alpha, target=target)
    differing = (ours.subset != mask(theirs["best_subset_1based"], len(rows))).sum()
    assert ours.rho == pytest.approx(theirs["rho"], abs=2e-4)
    assert differing <= (20 if (case, alpha, target) in TIES_BROKEN_BY_ROUNDING else 0)


@settings
@targets
@pytest.mark.parametrize("case", TALL)
def test_centre_and_scatter_of_a_subset_are_those_of_r(case, alpha, target):
    rows, theirs = rows_of(case), answer(case, alpha, target)
    subset = mask(theirs["best_subset_1based"], len(rows))
    ours = fit_of_subset(rows, subset, theirs["rho"], frame_of_r(rows, theirs))
    np.testing.assert_allclose(ours.centre, theirs["center"], rtol=1e-9)
    np.testing.assert_allclose(ours.scatter, theirs["cov"], rtol=1e-9, atol=1e-9 * np.abs(theirs["cov"]).max())
    assert ours.log_determinant == pytest.approx(theirs["crit_logdet"], abs=1e-8)
    assert ours.condition == pytest.approx(theirs["condition_number_relative_to_target"], rel=1e-7)


@settings
@targets
@pytest.mark.parametrize("case", TALL)
def test_the_six_starts_are_those_of_r(case, alpha, target):
    rows, theirs = rows_of(case), answer(case, alpha, target)
    inner = frame_of_r(rows, theirs).inward(rows)
    expected = oracle("mrcd", f"{case}_mrcdstarts_alpha{alpha}_{target}.json")["initial_subsets_1based"]
    swaps = 1 if case.startswith("statlog") and target == "equicorrelation" else 0
    for ours, start in zip(starting_subsets(inner, theirs["h"]), expected, strict=True):
        assert (ours & ~mask(start, len(rows))).sum() <= swaps


@settings
@targets
def test_wide_tables_reach_an_objective_no_worse_than_r(alpha, target):
    rows, theirs = rows_of("gauss_wide_n30_p100"), answer("gauss_wide_n30_p100", alpha, target)
    ours = fit_mrcd(rows, qn(rows), support_fraction=alpha, target=target, rho=theirs["rho"])
    assert ours.log_determinant <= theirs["crit_logdet"] + 1e-3


@pytest.mark.parametrize("case", ["gauss_contaminated_n100_p10", "gauss_equicorrelated_n60_p8", "statlog_class4"])
def test_qn_agrees_with_r_to_its_single_precision(case):
    theirs = np.array(answer(case, 0.5, "identity")["scale_Qn_floored"])
    np.testing.assert_allclose(qn(rows_of(case)) / theirs, 2.2191444659850757 / 2.21914, rtol=6e-8)
