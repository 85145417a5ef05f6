"""The demo: what it learns from, and what it finds."""

import json
import re

import numpy as np
import pytest

from vbrand.commands.demo import UNSEEN, digits


@pytest.fixture(scope="module")
def material():
    return digits()


def test_nobody_has_labelled_the_unseen_digits(material):
    assert set(material.labels.tolist()) == set(range(10)) - set(UNSEEN)
    assert set(material.unknown.truth.tolist()) == set(range(10))


def test_components_are_those_of_labelled_rows_alone(material):
    np.testing.assert_allclose(material.rows.mean(axis=0), 0.0, atol=1e-9)
    covariance = np.cov(material.rows.T)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-6 * covariance[0, 0])
    assert abs(material.unknown.rows.mean(axis=0)).max() > 0.1


def test_rows_have_names_and_columns(material):
    unknown = material.unknown
    assert unknown.rows.shape == (len(unknown.names), len(unknown.columns)) == (899, 30)
    assert material.rows.shape[1] == 30
    assert (unknown.names[0], unknown.columns[-1]) == ("1", "component 30")


def test_demo_finds_the_two_digits_nobody_labelled(demo):
    folder, printed = demo
    novel = [line for line in printed.splitlines() if "novel group" in line and "(" in line]
    assert any(re.search(r"\b3 \(", line) for line in novel)
    assert any(re.search(r"\b8 \(", line) for line in novel)
    scores = json.loads((folder / "summary.json").read_text())["scores"]
    assert all(scores[name] > 0.8 for name in ("ari", "novelty_f1", "known_accuracy"))
