"""The settings of the paper's studies."""

import numpy as np
import pytest

from vbrand import BrandSampler, VBrand
from vbrand.estimators.paper import paper_settings, sampler_settings
from vbrand.studies.simulate import simulate

STUDIES = ["ss1", "ss2", "ss3", "statlog"]


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("columns", [2, 5])
def test_settings_are_words_of_the_detector_in_the_columns_of_the_table(study, columns):
    train = np.random.default_rng(0).normal(size=(50, columns)) * 3.0 + 7.0
    settings = paper_settings(study, train)
    assert set(settings) <= set(VBrand().get_params())
    assert settings["novel_mean"].shape == (columns,)
    assert settings["novel_scale"].shape == (columns, columns)
    assert settings["novel_dof"] == columns + 2.0
    assert (settings["kernel"], settings["scatter"], settings["support_fraction"]) == ("gaussian", "mcd", 0.5)


def test_only_the_satellite_study_looks_at_the_rows():
    rows = np.random.default_rng(0).normal(size=(50, 3)) * 3.0 + 7.0
    for study in STUDIES:
        here, there = (paper_settings(study, table) for table in (rows, 2.0 * rows))
        changed = {name for name in here if not np.array_equal(here[name], there[name])}
        assert changed == ({"novel_mean", "novel_scale"} if study == "statlog" else set())
    soils = paper_settings("statlog", rows)
    # E[Sigma] = Psi / (nu - p - 1): four times the covariance of all labelled rows
    expected = soils["novel_scale"] / (soils["novel_dof"] - 3 - 1)
    np.testing.assert_allclose(expected, 4.0 * np.cov(rows.T))


def test_the_sampler_was_run_with_these():
    settings = sampler_settings(2)
    assert set(settings) <= set(BrandSampler().get_params())
    assert (settings["known_mean_strength"], settings["known_scatter_strength"]) == (13.0, 17.0)
    np.testing.assert_array_equal(settings["novel_scale"], 3.0 * np.eye(2))


def test_the_settings_of_the_paper_by_name():
    data = simulate("ss1", 0, size=0.5)
    detector = VBrand.paper(data.train, "ss1", n_starts=3, random_state=0)
    assert (detector.kernel, detector.scatter, detector.search) == ("gaussian", "mcd", "restarts")
    assert len(detector.fit(data.train, data.train_classes).discover(data.test).traces) == 3
    with pytest.raises(ValueError, match="study is 'ss9'"):
        VBrand.paper(data.train, "ss9")
