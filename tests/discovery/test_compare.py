"""Two answers side by side: differences are those of the two, whoever comes first."""

from dataclasses import replace

import numpy as np
import pytest
from tables import grain_rows

from vbrand import VBrand, compare
from vbrand.discovery.compare import Comparison


def comparison(n=30, other=14):
    """Return two answers of n rows, of which some have another label and all other probabilities."""
    rng = np.random.default_rng(0)
    first, second = rng.dirichlet(np.ones(3), (2, n))
    labels = np.array(["oat"] * n)
    others = labels.copy()
    others[:other] = "rye"
    return Comparison(("oat", "rye", "novelty"), first, second, labels, others, 0.5, (1.0, 2.25))


def test_an_answer_agrees_with_itself(grain_found):
    both = compare(grain_found, grain_found)
    assert both.names == ("oat", "rye", "novelty")
    assert both.ari == 1.0
    assert both.differing.size == 0
    assert (both.differences == 0.0).all()
    assert "0 of 60 rows have different labels; ARI of the partitions 1.000" in str(both)


def test_turning_the_two_about_turns_the_differences():
    both = comparison()
    turned = replace(both, first=both.second, second=both.first)
    np.testing.assert_array_equal(turned.differences, -both.differences)
    np.testing.assert_array_equal(turned.most_different, both.most_different)
    np.testing.assert_array_equal(turned.differing, both.differing)


def test_rows_are_ordered_by_their_largest_difference():
    both = comparison()
    apart = np.abs(both.differences).max(axis=1)
    assert sorted(both.most_different.tolist()) == list(range(30))
    assert (np.diff(apart[both.most_different]) <= 0.0).all()
    assert sorted(both.differing.tolist()) == list(range(14))
    assert (np.diff(apart[both.differing]) <= 0.0).all()


def test_ten_rows_that_differ_are_shown_and_the_others_counted():
    lines = str(comparison()).splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["oat", "rye", "novelty"]
    assert lines[4] == "14 of 30 rows have different labels; ARI of the partitions 0.500; novel groups 1.00 and 2.25."
    assert len(lines[5:-1]) == 10
    assert all(": oat or rye; P(" in line for line in lines[5:-1])
    assert lines[-1] == "  and 4 more in `differing`"


def test_only_two_discoveries_of_the_same_rows_and_classes_can_be_compared(grain_found):
    known, labels, new, _ = grain_rows()
    detector = VBrand(random_state=0, search="none").fit(known, labels)
    with pytest.raises(ValueError, match="the first discovery has 50 rows, the second 60"):
        compare(detector.discover(new[:50]), grain_found)
    with pytest.raises(ValueError, match="of different rows, or of the same rows in another order"):
        compare(grain_found, detector.discover(new[::-1]))
    other = VBrand(random_state=0, search="none").fit(known, [f"{name}s" for name in labels]).discover(new)
    with pytest.raises(ValueError, match="have different known classes"):
        compare(grain_found, other)
    with pytest.raises(TypeError, match="compare takes what `discover` returned, twice; one of them is a VBrand"):
        compare(grain_found, detector)
