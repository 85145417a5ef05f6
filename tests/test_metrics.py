"""Scores of a discovery whose truth is known."""

import numpy as np
import pytest

from vbrand import VBrand
from vbrand.metrics import confusion, evaluate


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    train = np.vstack([rng.normal(c, 1.0, (50, 2)) for c in (0.0, 10.0)])
    test = np.vstack([rng.normal(c, 1.0, (40, 2)) for c in (0.0, 10.0, -10.0, 20.0)])
    return VBrand(random_state=0).fit(train, ["a"] * 50 + ["b"] * 50).discover(test)


def test_perfect_answers_score_one(found):
    scores = evaluate(np.repeat(["a", "b", "c", "d"], 40), found)
    assert (scores.ari, scores.novelty_f1, scores.known_f1, scores.known_accuracy) == pytest.approx((1, 1, 1, 1))
    assert scores.false_novelty == 0.0


def test_f1_for_known_and_for_novel_differ(found):
    truth = np.repeat(["a", "b", "c", "a"], 40)  # the last group is in truth class a
    scores = evaluate(truth, found)
    assert scores.novelty_f1 == pytest.approx(2 * 40 / (80 + 40))  # 40 right of 80 called, 40 true
    assert scores.known_f1 == pytest.approx(2 * 80 / (80 + 120))
    assert scores.known_accuracy == pytest.approx(80 / 120)
    assert scores.false_novelty == pytest.approx(40 / 120)


def test_confusion_has_a_column_for_each_novel_group(found):
    table = confusion(np.repeat(["a", "b", "c", "d"], 40), found)
    assert table.clusters == ("a", "b", "novel 1", "novel 2")
    assert table.counts.sum() == 160
    assert (table.counts.max(axis=1) == 40).all()
    assert "novel 2" in str(table)


def test_labels_alone_are_no_discovery():
    with pytest.raises(ValueError, match="what `discover` returned is expected, not its labels alone"):
        evaluate(["oat"], np.array(["oat"]))
