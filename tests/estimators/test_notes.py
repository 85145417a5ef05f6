"""What was done to a table, in sentences."""

import numpy as np

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
