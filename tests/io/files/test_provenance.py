"""How an answer was made: versions and settings as files hold them."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import vbrand
from vbrand.io.files.provenance import kept_setting, kept_settings, versions


def test_versions_are_told_and_those_of_absent_packages_are_unknown(monkeypatch):
    told = versions()
    assert list(told) == ["python", "vbrand", "numpy", "scipy", "scikit-learn", "numba"]
    assert told["numpy"] == np.__version__
    assert told["vbrand"] in (vbrand.__version__, "unknown")
    told.clear()
    assert versions()  # what is told can't be altered


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("init", ["oat"], None),
        ("random_state", np.random.RandomState(0), None),
        ("random_state", 3, 3),
        ("threshold", np.float64(0.9), 0.9),
        ("threshold", Fraction(1, 2), 0.5),
        ("store", Path("draws"), "draws"),
        ("concentration", (1, np.float64(2.0)), [1, 2.0]),
        ("kernel", "auto", "auto"),
    ],
)
def test_settings_are_kept_as_plain_values(name, value, kept):
    assert kept_setting(name, value) == kept
    assert kept_settings({name: value}) == {name: kept}


def test_a_matrix_is_kept_as_one():
    np.testing.assert_array_equal(kept_setting("novel_scale", [[1, 0], [0, 1]]), np.eye(2))
