"""Tuned numbers are arguments: other values reach the rooms that they are of."""

import warnings
from dataclasses import fields, replace

import numpy as np
from sklearn.base import clone

from vbrand import BrandSampler, VBrand
from vbrand.estimators.tuning import TUNED, Tuning
from vbrand.model.kernels import KERNELS, Student


def grains(columns=3):
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(0, 1, (20, columns)), rng.normal(9, 1, (20, columns))]), np.repeat([0, 1], 20)


def test_other_numbers_reach_stage_1():
    known, labels = grains()
    for strength in (2.0, 5.0):
        tuning = replace(TUNED, stage1=replace(TUNED.stage1, strength=strength, most_alike=1.0))
        detector = VBrand.tuned(tuning, scatter="mrcd").fit(known, labels)
        assert detector.model().finding.prior.components.precision[0] == np.clip(strength * 9, 20, strength * 20)


def test_other_numbers_choose_kernels_and_columns():
    known, labels = grains(16)
    tuning = replace(TUNED, kernels={**KERNELS, "student": (Student(7.0),)})
    tuning = replace(tuning, stage1=replace(tuning.stage1, columns_per_row=0.3))
    learned = VBrand.tuned(tuning).fit(known, labels).model().learned
    assert learned.views[0][0] == Student(7.0)
    assert learned.passage.reduction.axes.shape[0] == 6


def test_other_numbers_say_what_an_outlier_group_is():
    known, labels = grains()
    unknown = np.vstack([known[:20], np.full((8, 3), -40.0) + np.random.default_rng(1).normal(size=(8, 3))])
    kinds = {}
    for rows in (5, 9):
        found = VBrand.tuned(replace(TUNED, outlier_rows=rows), random_state=0).fit(known, labels).discover(unknown)
        kinds[rows] = found.groups[-1].kind
    assert kinds == {5: "novel group", 9: "outlier group"}


def test_other_numbers_reach_the_sampler():
    known, labels = grains()
    draws = {}
    for most in (0, TUNED.sampler.most_moves):
        tuning = replace(TUNED, sampler=replace(TUNED.sampler, most_moves=most))
        detector = BrandSampler.tuned(tuning, n_draws=5, n_burn=0, n_chains=1, random_state=0).fit(known, labels)
        with warnings.catch_warnings(action="ignore"):
            draws[most] = detector.discover(known).chains.concentration
    usual = BrandSampler(n_draws=5, n_burn=0, n_chains=1, random_state=0).fit(known, labels)
    with warnings.catch_warnings(action="ignore"):
        found = usual.discover(known).chains.concentration
    np.testing.assert_array_equal(found, draws[TUNED.sampler.most_moves])
    assert (found != draws[0]).any()  # moves take random numbers of their own


def test_clones_have_the_usual_numbers():
    detector = VBrand.tuned(replace(TUNED, outlier_rows=9))
    assert clone(detector)._tuning is TUNED
    assert {field.name for field in fields(Tuning)} >= {"stage1", "search", "sampler", "check", "kernels"}
