"""One frozen state: a call that is refused leaves the detector exactly as it was."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from vbrand import MRCD, BrandSampler, VBrand
from vbrand.estimators.fitted import before_discovery

DETECTORS = [VBrand(random_state=0), BrandSampler(n_draws=20, n_burn=5, n_chains=1, random_state=0)]


def grains(columns=("ash", "fat"), seed=0):
    rng = np.random.default_rng(seed)
    known = np.vstack([rng.normal(0, 1, (30, len(columns))), rng.normal(9, 1, (30, len(columns)))])
    unknown = np.vstack([rng.normal(0, 1, (20, len(columns))), rng.normal(-9, 1, (15, len(columns)))])
    frame = [pd.DataFrame(rows, columns=list(columns)) for rows in (known, unknown)]
    return frame[0], np.repeat(["oat", "rye"], 30), frame[1]


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda each: type(each).__name__)
@pytest.mark.filterwarnings("ignore:the two halves")
def test_a_refused_fit_or_discovery_leaves_the_detector_as_it_was(detector):
    known, labels, unknown = grains()
    detector = clone(detector).fit(known, labels)
    detector.discover(unknown)
    state, said = detector._state, detector.predict_proba(unknown)

    other, _, _ = grains(("moisture", "protein", "salt"))
    refused = [
        lambda: detector.fit(other, labels[:-1]),  # columns are fine, labels are not
        lambda: detector.fit(other, np.where(labels == "oat", "novel", labels)),
        lambda: detector.fit(other.assign(salt=np.inf), labels),
        lambda: detector.fit(other[:4], [*labels[:3], "rye"]),  # a class of one row
        lambda: detector.discover(other),
        lambda: detector.set_params(threshold=7.0).discover(unknown),
    ]
    for call in refused:
        with pytest.raises(ValueError, match=r"\w"):
            call()
        detector.set_params(threshold=0.5)
        assert detector._state is state
        assert detector.feature_names_in_.tolist() == ["ash", "fat"]
        assert detector.n_features_in_ == 2
        np.testing.assert_array_equal(detector.predict_proba(unknown), said)


def test_a_fit_forgets_the_discovery_and_the_names_of_before():
    known, labels, unknown = grains()
    detector = VBrand(random_state=0).fit(known, labels)
    detector.discover(unknown)
    detector.fit(known.to_numpy(), labels)
    assert not hasattr(detector, "discovery_")
    assert not hasattr(detector, "feature_names_in_")
    detector.predict(unknown.to_numpy())


@pytest.mark.parametrize("detector", [*DETECTORS, MRCD()], ids=lambda each: type(each).__name__)
def test_before_fit_there_are_no_fitted_attributes(detector):
    for name in ("n_features_in_", "feature_names_in_", "classes_", "discovery_", "known_classes_"):
        assert not hasattr(detector, name)
    with pytest.raises(NotFittedError):
        detector.score_samples([[0.0, 0.0]]) if hasattr(detector, "score_samples") else detector.mahalanobis([[0.0]])


def test_a_refused_fit_of_mrcd_leaves_it_as_it_was():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    fit = MRCD().fit(pd.DataFrame(rows, columns=["ash", "fat"]))
    with pytest.raises(ValueError, match="all values agree"):
        fit.fit(np.column_stack([rows, np.ones(30)]))
    assert fit.n_features_in_ == 2
    assert fit.feature_names_in_.tolist() == ["ash", "fat"]


def test_the_state_is_one_value_that_survives_a_pickle():
    known, labels, unknown = grains()
    detector = VBrand(random_state=0).fit(known, labels)
    detector.discover(unknown)
    assert set(vars(detector)) == {*detector.get_params(), "_state"}
    again = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(again.predict_proba(unknown), detector.predict_proba(unknown))


def test_before_a_discovery_rows_are_predicted_by_the_prior():
    known, labels, unknown = grains()
    detector = VBrand(random_state=0).fit(known, labels)
    finding = detector._state.finding
    assert finding.posterior.components is finding.prior.components
    assert finding.meaning.class_of.tolist() == [0, 1, -1]
    again = before_discovery(finding.prior)
    rows = detector._state.learned.passage.working(unknown.to_numpy())
    np.testing.assert_array_equal(again.log_parts(rows), finding.log_parts(rows))
