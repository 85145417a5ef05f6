"""Why a row is novel: distances, and shares of columns that add up."""

import numpy as np
import pandas as pd
import pytest
from tables import grain_rows

from vbrand import VBrand
from vbrand.facts.explain import Contribution, Explanation


def test_an_explanation_names_the_column_that_differs():
    rng = np.random.default_rng(0)
    train = rng.normal(size=(200, 4)) * [1.0, 10.0, 0.1, 1.0] + [5.0, 0.0, 0.0, 100.0]
    test = rng.normal(size=(120, 4)) * [1.0, 10.0, 0.1, 1.0] + [5.0, 0.0, 0.0, 100.0]
    test[80:, 2] += 1.2  # twelve standard deviations
    found = VBrand(random_state=0).fit(train, np.repeat(["a", "b"], 100)).discover(test)
    explanation = found.explain(100)
    assert explanation.contributions[0].column == "column 2"
    assert explanation.contributions[0].share > 0.8
    assert 9.0 < explanation.distance < 16.0
    assert explanation.typical == pytest.approx(2.0)
    assert sum(part.share for part in explanation.contributions) == pytest.approx(1.0)
    assert "column 2: " in str(explanation)
    group = next(group for group in found.groups if group.kind == "novel group")
    assert group.explanation.contributions[0].column == "column 2"


def test_shares_sum_to_one_and_the_largest_come_first(grain_found):
    for row in range(-60, 60, 7):
        explanation = grain_found.explain(row)
        shares = [part.share for part in explanation.contributions]
        assert sum(shares) == pytest.approx(1.0)
        assert shares == sorted(shares, reverse=True)
        assert {part.column for part in explanation.contributions} == {"moisture", "protein", "ash"}


def test_the_values_are_those_of_the_row_and_the_usual_ones_those_of_its_class(grain_found):
    _, _, new, _ = grain_rows()
    for row in (0, 59):
        explanation = grain_found.explain(row)
        assert explanation.nearest == "oat"
        values = {part.column: part.value for part in explanation.contributions}
        np.testing.assert_allclose([values[name] for name in ("moisture", "protein", "ash")], new[row])
        np.testing.assert_allclose([part.usual for part in explanation.contributions], 0.0, atol=0.5)


def test_known_rows_are_as_far_as_is_typical_and_novel_ones_farther(grain_found):
    distances = np.array([grain_found.explain(row).distance for row in range(60)])
    typical = grain_found.explain(0).typical
    assert typical == pytest.approx(np.sqrt(3.0))
    assert np.sqrt((distances[:30] ** 2).mean()) == pytest.approx(typical, rel=0.3)
    assert distances[30:].min() > 3.0 * typical


def test_units_of_columns_change_no_explanation():
    known, labels, new, _ = grain_rows()
    unit = np.array([2.0**-10, 1.0, 2.0**10])
    plain, moved = (VBrand(random_state=0).fit(known * u, labels).discover(new * u).explain(40) for u in (1.0, unit))
    assert moved.distance == pytest.approx(plain.distance)
    assert [part.share for part in moved.contributions] == pytest.approx([part.share for part in plain.contributions])


def test_a_row_beyond_all_measure_has_a_finite_explanation():
    known, labels, new, _ = grain_rows()
    explanation = VBrand(random_state=0).fit(known, labels).discover(np.vstack([new, [1e200, 0.0, 0.0]])).explain(60)
    assert np.isfinite(explanation.distance)
    assert explanation.contributions[0].column == "column 0"
    assert sum(part.share for part in explanation.contributions) == pytest.approx(1.0)


def explanation_of(distance, *shares):
    parts = tuple(Contribution(f"c{k}", float(k % 2), 0.5, share) for k, share in enumerate(shares))
    return Explanation("oat", distance, 2.0, parts)


def test_no_farther_than_its_own_rows_is_doubtful():
    assert explanation_of(2.0, 1.0).is_doubtful
    assert not explanation_of(2.1, 1.0).is_doubtful
    assert "no farther than those" in str(explanation_of(2.0, 1.0))
    assert (
        str(explanation_of(2.1, 1.0)).splitlines()[0].endswith("2.1 standard deviations away (its own rows: about 2.0)")
    )


def test_columns_that_hardly_matter_are_not_named():
    assert str(explanation_of(9.0, 0.9, 0.08, 0.02)).splitlines()[1:] == [
        "  c0: 0, lower than its 0.5 (90% of the distance)",
        "  c1: 1, higher than its 0.5 (8% of the distance)",
    ]
    # where no column has a large share, those that matter half as much as the first are
    assert len(str(explanation_of(9.0, *[0.04] * 3, *[0.01] * 88)).splitlines()) == 1 + 3
    assert len(str(explanation_of(9.0, *[0.1] * 10)).splitlines()) == 1 + 5


def test_columns_that_go_together_are_named_together():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(160, 1))
    rows = np.column_stack([common, common, rng.normal(size=160)]) + 0.1 * rng.normal(size=(160, 3))
    new = rows[100:] + np.where(np.arange(60)[:, None] < 30, 0.0, [[4.0, 3.0, 0.0]])
    found = VBrand(random_state=0).fit(rows[:100], np.repeat(["a", "b"], 50)).discover(new)
    group = next(group for group in found.groups if group.kind == "novel group")
    first = group.explanation.contributions[0]
    assert (first.column, first.others) == ("column 0", ("column 1",))
    assert 0.9 < first.share < 1.05
    assert ", together with column 1 (" in str(group.explanation)


def test_neighbouring_wavelengths_are_one_band():
    rng = np.random.default_rng(0)
    place = np.arange(12)
    noise = rng.normal(size=(200, 12)) @ np.linalg.cholesky(0.95 ** np.abs(place[:, None] - place)).T
    new = noise[140:] + np.where(np.arange(60)[:, None] < 30, 0.0, 8.0 * np.exp(-np.square(place - 5.0) / 2.0))
    names = [f"{1100 + 10 * j} nm" for j in range(12)]
    detector = VBrand(random_state=0, reduce=None)
    detector.fit(pd.DataFrame(noise[:140], columns=names), np.repeat(["a", "b"], 70))
    group = next(g for g in detector.discover(pd.DataFrame(new, columns=names)).groups if g.kind == "novel group")
    shares = [part.share for part in group.explanation.contributions]
    assert all(-0.05 <= share <= 1.05 for share in shares)
    assert any(" nm to " in part.column for part in group.explanation.contributions)


def test_what_rounding_alone_can_make_is_not_explained_by_columns():
    fine = Contribution("weight", 10.4, 10.0, 0.8, within_rounding=True)
    explanation = Explanation("oat", 9.0, 2.0, (fine, Contribution("length", 3.0, 1.0, 0.2)))
    assert explanation.is_rounding
    assert "may be made by rounding alone" in str(explanation)
    assert "weight" not in str(explanation)
    assert not explanation_of(9.0, 0.9, 0.1).is_rounding
