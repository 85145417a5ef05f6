"""What both detectors share: settings in, or one sentence."""

import numpy as np
import pandas as pd
import pytest

from vbrand import BrandSampler, VBrand


@pytest.fixture(scope="module")
def grains():
    rng = np.random.default_rng(0)
    known = np.vstack([rng.normal(0, 1, (30, 3)), rng.normal(9, 1, (30, 3))])
    return known, np.repeat([3, 7], 30), rng.normal(0, 6, (25, 3))


@pytest.mark.parametrize("detector", [VBrand, BrandSampler])
@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"threshold": 1.0}, "threshold is 1.0; it must lie between 0 and 1"),
        ({"support_fraction": 0.4}, "support_fraction is 0.4"),
        ({"concentration": (1.0, -1.0)}, "concentration is"),
        ({"update_known": 1}, "update_known is 1; it must be True or False"),
        ({"novel_mean": [0.0]}, r"novel_mean has the shape \(1,\); finite numbers of the shape \(3,\)"),
        ({"novel_scale": -np.eye(3)}, "novel_scale must be a symmetric, positive definite matrix"),
        ({"novel_mean": [0.0] * 3, "reduce": 2}, "novel_mean and novel_scale are about the columns of the table"),
    ],
)
def test_settings_that_are_off_get_one_sentence(detector, settings, sentence, grains):
    known, labels, _ = grains
    with pytest.raises(ValueError, match=sentence):
        detector(**settings).fit(known, labels)


def test_classes_that_differ_in_capitals_are_told():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(UserWarning, match="classes 'Nord' and 'nord' differ only in capitals or blanks"):
        VBrand(random_state=0).fit(rows, ["Nord"] * 20 + ["nord"] * 20)


def test_blank_labels_are_unlabelled_rows():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    detector = VBrand(random_state=0).fit(rows, ["oat"] * 20 + [""] * 20)
    assert detector.classes_.tolist() == ["oat"]
    assert detector.discovery_.labels.size == 20


def test_a_fit_without_labels_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"VBrand requires y to be passed.*give one label for each row"):
        VBrand().fit(np.eye(5))


def test_columns_of_a_data_frame_that_may_be_ids_are_told():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    table = pd.DataFrame(rows, columns=["ash", "fat"]).assign(sample_id=np.arange(100, 140))
    with pytest.warns(UserWarning, match="column 'sample_id': measured, but if that numbers, names or dates the rows"):
        VBrand(check=0, random_state=0).fit(table, ["oat"] * 40)
    VBrand(check=0, random_state=0).fit(table[["ash", "fat"]], ["oat"] * 40)
