"""Cells: every row is in them once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vbrand.trust.cells import Cells, cells_of
from vbrand.trust.standing import standing_of
from vbrand.trust.tuning import TUNED

CLASS_OF = np.array([0, 1, -1, -1])


def standing(seed, n=300):
    rng = np.random.default_rng(seed)
    return standing_of(rng.normal(0.0, 3.0, (n, 4)), rng.normal(0.0, 3.0, (n, 2)))


@given(st.integers(0, 1000), st.integers(0, 200))
def test_the_shares_of_a_row_add_up_to_one(seed, hidden):
    rows = standing(seed)
    cells = cells_of(rows, CLASS_OF, np.full(3, float(hidden)), TUNED)
    mass = cells.mass(rows, CLASS_OF)
    assert mass.shape == (300, cells.starts[-1])
    np.testing.assert_allclose(mass.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        mass[:, : cells.starts[1]].sum(axis=1), np.exp(rows.log_shares[:, :2]).sum(axis=1), rtol=1e-9
    )


def test_few_rows_or_few_hidden_ones_make_one_cell():
    rows = standing(0)
    assert cells_of(rows, CLASS_OF, np.zeros(3), TUNED).starts.tolist() == [0, 1, 2, 3]
    few = standing(0, n=20)
    assert cells_of(few, CLASS_OF, np.full(3, 1e3), TUNED).starts.tolist() == [0, 1, 2, 3]
    assert cells_of(rows, CLASS_OF, np.full(3, 1e3), TUNED).starts[1] > 1


def test_a_row_is_in_the_cell_of_how_unlike_it_is():
    """(9.2)"""
    rows = standing_of(np.log([[0.5, 0.25, 0.25, 0.0 + 1e-300]]), np.log([[0.05, 0.05]]))
    cells = Cells(np.array([0.0, 5.0]), (np.array([10.0]), np.empty(0)))
    mass = cells.mass(rows, CLASS_OF)[0]
    np.testing.assert_allclose(mass, [0.0, 0.75, 0.0, 0.25, 0.0, 0.0], atol=1e-12)
