"""What was done to a table, in sentences."""

import numpy as np
import pytest

from vbrand import VBrand


def test_notes_name_rounded_columns_copies_and_tails():
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.round(rng.normal(0.0, 2.0, 60)), rng.normal(size=60)])
    found = VBrand(random_state=0).fit(rows, np.repeat([0, 1], 30)).discover(np.tile(rows + 1.0, (2, 1)))
    assert found.notes[:2] == (
        "rounded columns: column 0 to 1. No group is taken to be thinner than that.",
        "60 rows are copies of others: they count once.",
    )
    assert found.notes[-1].startswith("tails: ")


@pytest.mark.parametrize("rows", [4, 9, 12])
def test_few_labelled_rows_make_what_is_near_a_guess(rows):
    rng = np.random.default_rng(0)
    known = np.vstack([rng.normal(place, 1.0, (rows, 9)) for place in (0.0, 8.0)])
    new = np.vstack([rng.normal(place, 1.0, (30, 9)) for place in (0.0, 8.0)])
    found = VBrand(random_state=0).fit(known, np.repeat(["Liguria", "Sardinia"], rows)).discover(new)
    sentence = f"{rows} labelled rows for 9 columns: what is near 'Liguria', 'Sardinia' is a guess."
    assert (sentence in found.notes) == (rows < 10)


def test_few_rows_are_enough_for_fewer_columns():
    rng = np.random.default_rng(0)
    known = np.vstack([rng.normal(place, 1.0, (8, 2)) for place in (0.0, 8.0)])
    found = VBrand(random_state=0).fit(known, np.repeat(["a", "b"], 8)).discover(rng.normal(size=(30, 2)))
    assert not any("guess" in note for note in found.notes)


def test_as_many_rows_as_numbers_that_describe_a_class_are_few():
    rng = np.random.default_rng(0)
    known = rng.normal(size=(9, 2))
    labels = ["a"] * 5 + ["b"] * 4
    found = VBrand(random_state=0).fit(known, labels).discover(rng.normal(size=(30, 2)))
    assert "5 labelled rows for 2 columns: what is near 'a' is a guess." in found.notes
    assert "4 labelled rows for 2 columns: what is near 'b' is a guess." in found.notes
