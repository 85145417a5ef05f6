"""Means and standard errors by cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand.studies.summary import cells


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(-1e3, 1e3)), max_size=20))
def test_every_line_is_in_its_cell_and_none_in_two(pairs):
    lines = [{"arm": arm, "ari": str(value)} for arm, value in pairs]
    held = cells(lines, "ari", lambda line: line["arm"] if line["arm"] != "c" else None)
    assert sum(cell.count for cell in held.values()) == sum(arm != "c" for arm, _ in pairs)
    for arm, cell in held.items():
        values = [value for other, value in pairs if other == arm]
        assert cell.mean == pytest.approx(np.mean(values), abs=1e-9)
        assert np.isnan(cell.error) == (len(values) == 1)


def test_cells_are_means_with_standard_errors():
    lines = [{"ari": "0.5", "arm": "a"}, {"ari": "0.7", "arm": "a"}, {"ari": "1", "arm": "b"}]
    held = cells(lines, "ari", lambda line: line["arm"])
    assert (held["a"].mean, held["a"].count) == (0.6, 2)
    assert held["a"].error == pytest.approx(0.1)
    assert np.isnan(held["b"].error)
