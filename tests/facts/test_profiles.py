"""Profiles: quartiles of groups, column by column."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import grain_rows

from vbrand import VBrand
from vbrand.facts.profiles import ordered_numbers


def test_names_that_are_ordered_numbers_are_an_axis():
    assert ordered_numbers(("1100", "1098.5", "900")).tolist() == [1100.0, 1098.5, 900.0]
    assert ordered_numbers(("X400nm", "X410nm", "X420nm")).tolist() == [400.0, 410.0, 420.0]
    for names in (("0", "1", "2"), ("c 1", "c 2", "c 3"), ("3", "1", "2"), ("a1", "b2", "c3"), ("ash", "protein", "x")):
        assert ordered_numbers(names) is None


@given(st.lists(st.integers(0, 3_000), min_size=3, max_size=20, unique=True), st.sampled_from(["{} nm", "X{}", "{}"]))
def test_an_axis_holds_the_numbers_of_the_names(numbers, form):
    rising = sorted(numbers)
    counted = rising == list(range(rising[0], rising[0] + len(rising))) and rising[0] <= 1
    names = tuple(form.format(number) for number in rising)
    if counted:
        assert ordered_numbers(names) is None
    else:
        assert ordered_numbers(names).tolist() == rising
    assert ordered_numbers(names[::-1]).tolist() == rising[::-1]
    assert ordered_numbers((names[1], names[0], *names[2:])) is None


def test_profiles_are_the_quartiles_of_the_rows_of_a_group(grain_found):
    _, _, new, _ = grain_rows()
    profiles = grain_found.facts().profiles
    assert profiles.columns == ("moisture", "protein", "ash")
    for k, rows in ((0, new[:30]), (2, new[30:])):
        quartiles = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
        np.testing.assert_allclose([profiles.lower[k], profiles.middle[k], profiles.upper[k]], quartiles)
    assert np.isnan(profiles.lower[1]).all()
    np.testing.assert_allclose(profiles.middle[1], 8.0, atol=0.5)  # no rows of rye: what the model expects


def test_scaled_profiles_are_what_is_drawn_where_names_are_no_numbers(grain_found):
    profiles = grain_found.facts().profiles
    assert not profiles.are_spectra
    assert profiles.axis.tolist() == [0.0, 1.0, 2.0]
    np.testing.assert_array_equal(profiles.drawn, profiles.scaled)
    # one scale and one middle for a column, whatever the group
    moved, raw = profiles.scaled[1], profiles.middle
    slope = (moved[0] - moved[2]) / (raw[0] - raw[2])
    np.testing.assert_allclose(moved[1], moved[0] + slope * (raw[1] - raw[0]))


def found_of(columns, names):
    rng = np.random.default_rng(0)
    known = rng.normal(size=(60, columns)) + np.repeat([0.0, 5.0], 30)[:, None]
    new = rng.normal(size=(30, columns))
    new[:, -1] += 40.0
    detector = VBrand(random_state=0, reduce=4).fit(pd.DataFrame(known, columns=names), np.repeat(["a", "b"], 30))
    return detector.discover(pd.DataFrame(new, columns=names)), new


def test_of_many_columns_those_that_tell_most_are_drawn_in_their_order():
    found, _ = found_of(45, [f"c{chr(97 + j // 26)}{chr(97 + j % 26)}" for j in range(45)])
    profiles = found.facts().profiles
    assert profiles.of == 45
    assert len(profiles.columns) == 40
    assert profiles.columns[-1] == found.columns[-1]
    assert list(profiles.columns) == sorted(profiles.columns)


def test_of_a_long_spectrum_points_are_drawn_evenly_in_its_units():
    found, new = found_of(700, [f"{1000 + 2 * j} nm" for j in range(700)])
    profiles = found.facts().profiles
    assert profiles.are_spectra
    assert (profiles.of, len(profiles.columns)) == (700, 500)
    assert (profiles.positions[0], profiles.positions[-1]) == (1000.0, 2398.0)
    assert set(np.diff(profiles.positions)) == {2.0, 4.0}
    np.testing.assert_array_equal(profiles.drawn[1], profiles.middle)
    novel = [group.kind for group in found.groups].index("novel group")
    assert profiles.middle[novel, -1] == pytest.approx(np.median(new[:, -1]))
