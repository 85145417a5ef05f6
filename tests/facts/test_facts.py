"""What pictures are drawn of: all rows are counted, and no more is kept than fits on a page."""

import numpy as np
import pytest
from tables import grain_rows

from vbrand import VBrand


def test_every_row_is_counted_by_its_probability_and_kind(grain_found):
    facts = grain_found.facts()
    assert facts.rows == 60
    assert facts.known == 2
    assert facts.novelty_counts.sum(axis=0).tolist() == [30, 30, 0]
    bins = facts.novelty_counts.shape[0]
    expected = np.histogram(grain_found.novelty_probability, bins, (0.0, 1.0))[0]
    np.testing.assert_array_equal(facts.novelty_counts.sum(axis=1), expected)


def test_points_are_the_rows_themselves(grain_found):
    points = grain_found.facts().points
    np.testing.assert_array_equal(points.clusters, grain_found.clusters)
    np.testing.assert_array_equal(points.novelty, grain_found.novelty_probability)
    np.testing.assert_allclose(points.classes, grain_found.class_probabilities)
    np.testing.assert_allclose(points.classes.sum(axis=1), 1.0)
    assert points.scores.shape == (60, 3)
    assert points.names == tuple(str(row) for row in range(60))
    assert points.truth is None


def test_names_and_truth_go_with_their_rows(grain_found):
    truth = grain_rows()[3]
    names = [f"s{i}" for i in range(59)] + [None]
    facts = grain_found.facts(source="grain.csv", names=names, truth=truth, scores=(("ARI", 1.0),))
    assert facts.points.names == (*names[:59], "60")
    assert facts.points.truth == tuple(truth)
    assert facts.confusion.counts.tolist() == [[30, 0, 0], [0, 0, 30]]
    assert (facts.source, facts.scores) == ("grain.csv", (("ARI", 1.0),))
    with pytest.raises(ValueError, match="one value for each of 60 rows"):
        grain_found.facts(truth=truth[1:])


def test_the_words_are_those_of_the_discovery(grain_found):
    facts = grain_found.facts()
    assert facts.sentence == repr(grain_found)
    assert facts.notes == grain_found.notes
    assert facts.count == grain_found.n_groups
    assert facts.climb.trace[-1] == grain_found.elbo
    assert facts.confusion is None


@pytest.fixture(scope="module")
def long():
    """Return a discovery of 6,000 rows in 20 columns, two thirds of them known."""
    rng = np.random.default_rng(0)
    known, labels = rng.normal(size=(120, 20)), np.repeat([1, 2], 60)
    known[60:] += 6.0
    new = rng.normal(size=(6_000, 20)) + np.repeat([0.0, 6.0, -6.0], 2_000)[:, None]
    return VBrand(random_state=0, search="none", kernel="gaussian").fit(known, labels).discover(new)


def test_facts_of_a_long_table_are_small(long):
    facts = long.facts(truth=np.repeat([1, 2, 3], 2_000))
    assert len(facts.points.names) == facts.points.scores.shape[0] <= 2_100
    assert facts.novelty_counts.sum() == facts.rows == 6_000
    assert facts.confusion.counts.sum() == 6_000
    assert [int(name) for name in facts.points.names] == sorted(int(name) for name in facts.points.names)
    for name, truth in zip(facts.points.names, facts.points.truth, strict=True):
        assert truth == str(1 + int(name) // 2_000)


def test_of_many_columns_those_that_matter_most_explain_a_group(long):
    whole = long.groups[2].explanation.contributions
    short = long.facts().groups[2].explanation.contributions
    assert (len(whole), len(short)) == (20, 12)
    assert short == whole[:12]
