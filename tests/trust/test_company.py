"""Labelled rows that come in samples of several keep company; those labelled by lot do not."""

import numpy as np
import pytest

from vbrand import VBrand
from vbrand.trust.company import company


def in_samples(rng, places, samples, rows):
    """Return rows about places, so many of each of the samples of each, and the sample that each is of."""
    middles = np.concatenate([place + rng.normal(size=(samples, 3)) for place in places])
    return np.repeat(middles, rows, axis=0) + 0.1 * rng.normal(size=(len(middles) * rows, 3))


@pytest.mark.parametrize("seed", range(20))
def test_rows_labelled_by_lot_keep_no_company_whatever_is_novel(seed):
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(place, 1.0, (150, 3)) for place in (0.0, 2.0)])
    labelled = rng.random(300) < 0.4
    novel = rng.normal(1.0, 0.2, (60, 3))  # within both, and dense
    assert abs(company(rows[labelled], np.vstack([rows[~labelled], novel]))) < 4.0


def test_many_small_classes_beside_much_novelty_keep_no_company():
    """Of a larger neighbourhood most would be novel: small classes would seem to keep to themselves."""
    rng = np.random.default_rng(0)
    known, novel = 6.0 * rng.normal(size=(30, 4)), 6.0 * rng.normal(size=(10, 4))
    labelled, others = (np.concatenate([place + rng.normal(size=(5, 4)) for place in known]) for _ in range(2))
    strange = np.concatenate([place + rng.normal(size=(40, 4)) for place in novel])
    assert company(labelled, np.vstack([others, strange])) < 4.0


@pytest.mark.parametrize("rows", [3, 10])
def test_samples_of_several_rows_keep_company(rows):
    rng = np.random.default_rng(0)
    labelled, others = (in_samples(rng, (0.0, 8.0), samples // rows, rows) for samples in (120, 240))
    assert company(labelled, others) > 6.0


def test_too_few_rows_and_missing_cells_say_nothing():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(4, 3))
    assert company(few, few + 0.1) == 0.0
    assert company(np.full((30, 3), np.nan), rng.normal(size=(50, 3))) == 0.0
    assert company(rng.normal(size=(30, 3)), np.full((50, 3), np.nan)) == 0.0  # all there are are labelled


def test_copies_count_as_neighbours_but_a_row_is_none_of_its_own():
    rows = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 3, axis=0)
    assert company(rows, rows) < 4.0  # there are as many labelled copies as others


@pytest.mark.filterwarnings("ignore:all 20 places")
def test_an_answer_says_that_labelled_rows_lie_together():
    rng = np.random.default_rng(1)
    known, new = in_samples(rng, (0.0, 8.0), 12, 10), in_samples(rng, (0.0, 8.0), 24, 10)
    detector = VBrand(random_state=0).fit(known, np.repeat(["oat", "rye"], 120))
    assert any(told.startswith("labelled rows lie beside each other") for told in detector.discover(new).cautions)
    rows = rng.normal(size=(300, 3))
    plain = VBrand(random_state=0).fit(rows[:100], ["oat"] * 100)
    assert plain.discover(rows[100:]).cautions == ()
