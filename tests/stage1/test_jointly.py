"""All columns together: a scale is bent if labelled rows are likelier so, beside the other columns."""

import numpy as np
import pytest
from scipy import stats

from vbrand.stage1 import jointly
from vbrand.stage1.jointly import bent_together
from vbrand.stage1.tuning import TUNED
from vbrand.stage1.warp import Warp


def logarithms(columns, bent):
    reach = np.where(np.arange(columns) < bent, 0.05, np.inf)
    none = np.zeros(columns)
    return Warp(none, reach, none + 1.0, none + np.inf, none, none)


def drawn(seed=0, rows=200):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(2 * rows, 3)), np.repeat([0, 1], rows)


def test_skewed_columns_stay_bent():
    values, member = drawn()
    warp = bent_together(np.exp(values), member, logarithms(3, 3))
    assert warp is not None
    assert warp.bent.all()


def test_gaussian_columns_are_straightened():
    values, member = drawn()
    assert bent_together(values + 5.0, member, logarithms(3, 3)) is None


def test_a_column_that_goes_along_with_a_straight_one_is_straightened():
    values, member = drawn()
    skewed = np.exp(values[:, [0, 0, 1]])
    skewed[:, 1] = 2.0 * skewed[:, 0] + 0.01 * values[:, 2]
    warp = bent_together(skewed, member, logarithms(3, 3))
    assert warp is not None
    assert warp.bent[2]
    assert warp.bent[0] == warp.bent[1]
    only_one = logarithms(3, 1)
    assert bent_together(skewed, member, only_one) is None


def test_the_evidence_is_that_of_gaussians_with_slopes():
    values, member = drawn()
    rows, warp = np.exp(values), logarithms(3, 2)
    choice = jointly._choice(rows, member, warp, TUNED)
    cut = np.concatenate([jointly._within(rows[member == j], TUNED)[0] for j in (0, 1)])

    def likelihood(mapped, slopes):
        fits = [stats.multivariate_normal(own.mean(axis=0), np.cov(own.T)) for own in (mapped[:200], mapped[200:])]
        inside = [jointly._within(rows[member == j], TUNED)[1] for j in (0, 1)]
        slope = 400.0 * np.ma.array(np.log(slopes), mask=~np.concatenate(inside)).mean(axis=0).sum()
        return fits[0].logpdf(mapped[:200]).sum() + fits[1].logpdf(mapped[200:]).sum() + slope

    use = warp.bent
    gained = choice.evidence(use) - choice.evidence(np.zeros(3, dtype=bool))
    plain = likelihood(warp.inward(cut), warp.slopes(cut)) - likelihood(cut, np.ones_like(cut))
    assert gained == pytest.approx(plain, rel=0.05)


def test_missing_cells_are_at_the_middle_and_have_no_slope():
    values, member = drawn()
    rows = np.exp(values)
    rows[::7, 0] = np.nan
    warp = bent_together(rows, member, logarithms(3, 3))
    assert warp is not None
    assert warp.bent.all()
