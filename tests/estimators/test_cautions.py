"""What an answer may rest on that tells nothing of novelty is told beside it."""

import numpy as np
import pandas as pd
import pytest

from vbrand import VBrand, load
from vbrand.estimators.cautions import ranges_of

LABELS = ["oat"] * 30 + ["rye"] * 30


def rows_of(rng, oat, rye):
    return np.vstack([rng.normal(0.0, 1.0, (oat, 3)), rng.normal(6.0, 1.0, (rye, 3))])


def fitted(table, labels=LABELS):
    return VBrand(check=0, random_state=0).fit(table, labels)


def test_rows_that_differ_where_labelled_rows_do_not_are_told(tmp_path):
    rng = np.random.default_rng(0)
    known, new = (pd.DataFrame(rows_of(rng, n, n), columns=list("abc")) for n in (30, 20))
    new["lead"] = np.where(np.arange(40) < 7, 30.0, 0.0)
    new["note"] = np.where(np.arange(40) < 9, 5.0, np.nan)
    with pytest.warns(UserWarning, match="dropped column 'lead', column 'note'"):
        detector = fitted(known.assign(lead=0.0, note=np.nan))
    found = detector.discover(new)
    told = (
        "ot measured, for labelled rows do not differ there, but others do: column 'lead' (0 in all labelled rows, "
        "something else in 7 rows), column 'note' (empty in all labelled rows, something else in 9 rows). Look at them."
    )
    assert repr(found).endswith(f"N{told}")
    assert f"n{told}" in str(found.summary()).splitlines()

    detector.save(tmp_path / "m.vbrand")
    again = load(tmp_path / "m.vbrand")
    assert f"N{told}" in repr(again.discover(new))
    # four of forty may differ, and none of sixty, by chance
    assert again.discover(new.assign(lead=[1.0] * 4 + [0.0] * 36, note=np.nan)).cautions == ()


def test_levels_that_no_labelled_row_has_are_told():
    """Also of text that is the same in all labelled rows: such a column was refused (mushrooms' veils)."""
    rng = np.random.default_rng(0)
    known, new = (pd.DataFrame(rows_of(rng, n, n), columns=list("abc")) for n in (30, 20))
    detector = fitted(known.assign(veil="partial", farm=["hill", "vale"] * 30))
    new = new.assign(veil=["universal"] * 7 + ["partial"] * 33, farm=["moor"] * 9 + ["hill"] * 31)
    (told,) = detector.discover(new).context.cautions
    assert told == (
        "levels that no labelled row has: column 'veil' in 17.5% of the rows, column 'farm' in 22.5% of the rows. "
        "Look at them."
    )
    assert detector.discover(new.assign(veil="partial", farm="vale")).cautions == ()


def test_a_column_in_which_no_row_lies_among_the_labelled_ones_is_told():
    rng = np.random.default_rng(1)
    known = pd.DataFrame(rows_of(rng, 30, 30), columns=list("abc")).assign(year=[2019, 2020] * 30)
    new = pd.DataFrame(rows_of(rng, 20, 20), columns=list("abc")).assign(year=2021)
    (told,) = fitted(known).discover(new).context.cautions
    assert told.startswith("no row lies among the labelled ones in column 'year' (2021 to 2021, labelled rows 2019 to")
    # one row that does, or too few to tell: nothing is said
    assert fitted(known).discover(new.assign(year=[2020] + [2021] * 39)).context.cautions == ()
    assert fitted(known).discover(new[:4]).cautions == ()


def test_other_units_are_suspected_where_no_column_fits():
    rng = np.random.default_rng(2)
    detector = fitted(rows_of(rng, 30, 30))
    assert "same units" in repr(detector.discover(1e3 * rows_of(rng, 20, 20) + 1e5))
    assert detector.discover(rows_of(rng, 20, 20)).cautions == ()


def test_ranges_are_those_of_the_cells_that_there_are():
    low, high, cells = ranges_of(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, -2.0]]))
    np.testing.assert_array_equal(low, [1.0, np.nan, -2.0])
    np.testing.assert_array_equal(high, [1.0, np.nan, 3.0])
    assert cells.tolist() == [1.0, 0.0, 2.0]


def test_classes_that_lie_elsewhere_are_told_in_a_discovery_too():
    rng = np.random.default_rng(3)
    detector = VBrand(random_state=0).fit(rows_of(rng, 100, 100), ["oat"] * 100 + ["rye"] * 100)
    new = rows_of(rng, 150, 150)
    assert detector.discover(new).context.moved == {}
    new[150:] += 0.8
    found = detector.discover(new)
    assert list(found.context.moved) == ["rye"]
    assert "rye has moved, or novel rows pass for it: its rows lie " in repr(found)


def test_novel_groups_near_a_class_that_has_moved_may_be_it():
    """All of rye is elsewhere: nothing is left in its place, and labelled rows can't tell."""
    rng = np.random.default_rng(4)
    detector = VBrand(random_state=0).fit(rows_of(rng, 100, 100), ["oat"] * 100 + ["rye"] * 100)
    new = rows_of(rng, 150, 150)
    new[150:] += 1.6
    found = detector.discover(new)
    assert (found.labels[150:] == "novel").mean() > 0.9
    assert any(told.startswith("novel 1 may be rye") for told in found.cautions)
    assert "ovel 1 may be rye" in repr(found)
    assert "novel 1 may be rye" in str(found.summary())


def test_control_samples_that_are_called_novel_are_told():
    rng = np.random.default_rng(5)
    detector = VBrand(random_state=0).fit(rows_of(rng, 50, 50), ["oat"] * 50 + ["rye"] * 50)
    detector.update(rows_of(rng, 30, 20))
    new = rows_of(rng, 30, 20)
    new[30:] += 3.0
    found = detector.update(new, labels=[None] * 46 + ["rye"] * 4)
    assert "4 of 4 control samples of rye are called novel: so may other rows be." in found.cautions
    assert not any("control" in told for told in detector.update(rows_of(rng, 30, 20), ["oat"] * 50).cautions)
