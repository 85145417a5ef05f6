"""VBrand among scikit-learn's tools: scores, folds, searches, pipelines."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import COLUMNS, grain_rows

from vbrand import BrandSampler, VBrand
from vbrand.estimators.scoring import share_right


@pytest.fixture(scope="module")
def grains():
    known, labels, new, truth = grain_rows()
    return pd.DataFrame(known, columns=COLUMNS), np.array(labels), pd.DataFrame(new, columns=COLUMNS), np.array(truth)


def test_a_score_is_the_share_of_right_labels_and_novel_is_right_for_other_classes(grains):
    known, labels, new, truth = grains
    detector = VBrand(random_state=0).fit(known, labels)
    detector.discover(new)
    assert detector.score(new, truth) == (detector.predict(new) == np.where(truth == "teff", "novel", truth)).mean()
    assert detector.score(new, truth) > 0.95
    assert detector.score(new, np.where(truth == "teff", "rye", truth)) == pytest.approx(0.5, abs=0.05)


def test_rows_that_nobody_has_labelled_are_not_counted(grains):
    known, labels, new, truth = grains
    detector = VBrand(random_state=0).fit(known, labels)
    unsure = np.where(truth == "teff", None, truth)
    assert detector.score(new, unsure) == (detector.predict(new)[:30] == "oat").mean()


def test_scores_of_other_labels_are_refused(grains):
    known, labels, *_ = grains
    detector = VBrand(random_state=0).fit(known, labels)
    with pytest.raises(ValueError, match="labels are whole numbers; those that the detector was fitted with are text"):
        detector.score(known, np.arange(80) % 2)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        detector.score(known, labels[:5])


def test_whole_numbers_are_labels_too():
    assert share_right(np.array([3, -1, 3]), np.array([3, 9, 4]), np.array([3, 4])) == pytest.approx(2 / 3)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("folds", [3, 5])
def test_folds_of_sorted_labels_have_numbers(load, folds):
    rows, labels = load(return_X_y=True)
    assert (np.diff(labels) >= 0).all()
    assert np.isfinite(cross_val_score(VBrand(random_state=0), rows, labels, cv=folds)).all()


def test_stratified_folds_are_asked_for_by_name():
    """It is no classifier to scikit-learn, for the reason that docs/python.md gives."""
    rows, labels = load_wine(return_X_y=True)
    assert not is_classifier(VBrand())
    assert (cross_val_score(VBrand(random_state=0), rows, labels, cv=StratifiedKFold(5)) > 0.9).all()


def test_a_grid_is_searched_and_the_best_discovers(grains):
    known, labels, new, truth = grains
    grid = GridSearchCV(VBrand(random_state=0), {"threshold": [0.5, 0.9], "max_modes": [1]}, cv=StratifiedKFold(3))
    grid.fit(known, labels)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()
    found = grid.best_estimator_.discover(new)
    assert (found.labels == np.where(truth == "teff", "novel", truth)).mean() > 0.95


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_names_of_columns_survive_a_pipeline(grains, package):
    known, labels, new, _ = grains
    pipe = make_pipeline(StandardScaler(), VBrand(random_state=0)).set_output(transform=package)
    as_package = (lambda frame: frame) if package == "pandas" else pl.from_pandas
    pipe.fit(as_package(known), labels)
    found = pipe[-1].discover(pipe[:-1].transform(as_package(new)))
    assert found.columns == COLUMNS == tuple(pipe[:-1].get_feature_names_out())
    assert isinstance(found.to_frame(), pd.DataFrame if package == "pandas" else pl.DataFrame)
    assert pipe.score(as_package(known), labels) > 0.95


def test_the_sampler_has_a_score_too(grains):
    known, labels, *_ = grains
    assert BrandSampler(random_state=0).fit(known, labels).score(known, labels) > 0.9
