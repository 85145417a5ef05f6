"""One replicate: the same rows for all arms, and each arm its own detector."""

from dataclasses import fields

import numpy as np
import pytest

from vbrand import BrandSampler, VBrand
from vbrand.studies.tasks import COLUMNS, KEYS, Task, data_of, detector_of, run_task


def test_keys_tell_tasks_apart_as_text():
    task = Task("ss1", "paper", 0.5, 2, 0)
    assert len(task.key) == len(KEYS) == len(fields(Task))
    assert all(isinstance(part, str) for part in task.key)
    others = [
        Task("ss1", "paper", 0.5, 2, 1),
        Task("ss1", "paper", 0.5, 3, 0),
        Task("ss1", "paper", 0.5, 2, 0, dirty=True),
    ]
    assert len({task.key, *(other.key for other in others)}) == 4
    assert COLUMNS[: len(KEYS)] == KEYS


def test_rows_depend_on_the_replicate_and_not_on_the_arm():
    here, there, other = (
        data_of(Task("ss1", arm, 0.1, 2, replicate)) for arm, replicate in (("paper", 0), ("default", 0), ("paper", 1))
    )
    np.testing.assert_array_equal(here.train, there.train)
    np.testing.assert_array_equal(here.test, there.test)
    assert not np.array_equal(here.train, other.train)
    dirty = data_of(Task("ss1", "paper", 0.1, 2, 0, dirty=True))
    np.testing.assert_array_equal(dirty.test, here.test)
    assert dirty.train.shape[0] > here.train.shape[0]


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        ("default", {}),
        ("paper", {"search": "restarts", "n_starts": 1, "scatter": "mcd", "kernel": "gaussian"}),
        ("mrcd", {"search": "restarts", "n_starts": 1, "scatter": "mrcd", "kernel": "gaussian"}),
        ("search", {"search": "moves", "scatter": "mcd", "kernel": "gaussian"}),
        ("same", {"search": "moves", "kernel": "gaussian", "novel_dof": 4.0}),
    ],
)
def test_an_arm_is_a_detector(arm, expected):
    task = Task("ss2_simple", arm, 0.1, 2, 3)
    settings = detector_of(task, data_of(task)).get_params()
    assert settings["random_state"] == 3
    assert {name: settings[name] for name in expected} == expected
    if arm == "default":
        usual = VBrand(random_state=3).get_params()
        assert settings == usual


def test_the_sampler_draws_as_long_as_it_is_told():
    task = Task("ss2_simple", "sampler", 0.1, 2, 3, draws=7)
    sampler = detector_of(task, data_of(task))
    assert isinstance(sampler, BrandSampler)
    assert (sampler.n_draws, sampler.n_burn, sampler.n_chains, sampler.init) == (7, 7, 1, "random")
    assert Task("ss2_simple", "sampler", 0.1, 2, 3, draws=70).cost == pytest.approx(10 * task.cost)


def test_a_grid_or_a_scatter_goes_before_what_the_arm_has():
    grid = {"weight": 0.3, "concentration": 2.0, "novel_mean_strength": 3.0, "novel_dof": 9.0}
    task = Task("ss3_low", "search", 0.1, 2, 0, scatter="empirical", **grid)
    detector = detector_of(task, data_of(task))
    assert (detector.known_weight, detector.novel_weight) == (0.3, 0.3)
    assert (detector.concentration, detector.novel_mean_strength, detector.novel_dof) == (2.0, 3.0, 9.0)
    assert (detector.scatter, detector.support_fraction) == ("empirical", 0.75)


def test_arms_and_settings_of_a_replicate_see_the_same_rows():
    usual = {"weight": 0.1, "concentration": 5.5, "novel_mean_strength": 1.0, "novel_dof": 4.0}  # of the study
    both = [run_task(Task("ss3_low", "paper", 0.2, 2, 0, **setting)) for setting in ({}, usual)]
    assert both[0]["bound"] == pytest.approx(both[1]["bound"])
    assert run_task(Task("ss1", "default", 0.1, 2, 0))["ari"] == run_task(Task("ss1", "default", 0.1, 2, 0))["ari"]
