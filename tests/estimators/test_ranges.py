"""Columns in which unlabelled rows lie where no labelled row does are told beside the answer."""

import numpy as np
import pandas as pd
import pytest

from vbrand import VBrand, load
from vbrand.estimators.ranges import ranges_of

LABELS = ["oat"] * 30 + ["rye"] * 30


def rows_of(rng, oat, rye):
    return np.vstack([rng.normal(0.0, 1.0, (oat, 3)), rng.normal(6.0, 1.0, (rye, 3))])


def fitted(table, labels=LABELS):
    return VBrand(check=0, random_state=0).fit(table, labels)


def test_rows_that_differ_where_labelled_rows_do_not_are_told(tmp_path):
    rng = np.random.default_rng(0)
    known, new = (pd.DataFrame(rows_of(rng, n, n), columns=list("abc")) for n in (30, 20))
    new["lead"] = np.where(np.arange(40) < 7, 30.0, 0.0)
    new["note"] = np.where(np.arange(40) < 2, 5.0, np.nan)
    with pytest.warns(UserWarning, match="dropped column 'lead', column 'note'"):
        detector = fitted(known.assign(lead=0.0, note=np.nan))
    found = detector.discover(new)
    told = (
        "ot measured, for labelled rows do not differ there, but others do: column 'lead' (0 in all labelled rows, "
        "something else in 7 rows), column 'note' (empty in all labelled rows, something else in 2 rows). Look at them."
    )
    assert repr(found).endswith(f"N{told}")
    assert f"n{told}" in str(found.summary()).splitlines()

    detector.save(tmp_path / "m.vbrand")
    again = load(tmp_path / "m.vbrand")
    assert f"N{told}" in repr(again.discover(new))
    assert again.discover(new.assign(lead=0.0, note=np.nan)).context.cautions == ()


def test_a_column_in_which_no_row_lies_among_the_labelled_ones_is_told():
    rng = np.random.default_rng(1)
    known = pd.DataFrame(rows_of(rng, 30, 30), columns=list("abc")).assign(year=[2019, 2020] * 30)
    new = pd.DataFrame(rows_of(rng, 20, 20), columns=list("abc")).assign(year=2021)
    (told,) = fitted(known).discover(new).context.cautions
    assert told.startswith("no row lies among the labelled ones in column 'year' (2021 to 2021, labelled rows 2019 to")
    # one row that does, or too few to tell: nothing is said
    assert fitted(known).discover(new.assign(year=[2020] + [2021] * 39)).context.cautions == ()
    assert fitted(known).discover(new[:4]).context.cautions == ()


def test_other_units_are_suspected_where_no_column_fits():
    rng = np.random.default_rng(2)
    detector = fitted(rows_of(rng, 30, 30))
    assert "same units" in repr(detector.discover(1e3 * rows_of(rng, 20, 20) + 1e5))
    assert detector.discover(rows_of(rng, 20, 20)).context.cautions == ()


def test_ranges_are_those_of_the_cells_that_there_are():
    low, high, cells = ranges_of(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, -2.0]]))
    np.testing.assert_array_equal(low, [1.0, np.nan, -2.0])
    np.testing.assert_array_equal(high, [1.0, np.nan, 3.0])
    assert cells.tolist() == [1.0, 0.0, 2.0]
