"""One way in and out: what goes into working coordinates comes back as it was."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.stage1.coordinates import Coordinates
from vbrand.stage1.passage import Passage
from vbrand.stage1.reduction import reduce_columns


def passage_of(table, kept, reduced=None, names=None):
    measured, reduction = table[:, kept], None
    if reduced is not None:
        reduction, measured = reduce_columns(measured, np.zeros(len(table), dtype=int), reduced)
    return Passage(names, kept, reduction, Coordinates.of(measured))


def table_of(seed, columns=4, rows=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)) * rng.uniform(0.1, 100.0, columns) + rng.normal(0.0, 50.0, columns)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.booleans(), min_size=4, max_size=4).filter(any))
def test_working_coordinates_come_back_as_they_were(seed, kept):
    table, kept = table_of(seed), np.array(kept)
    passage = passage_of(table, kept)
    np.testing.assert_allclose(passage.outward(passage.working(table)), table[:, kept], rtol=1e-9, atol=1e-9)


def test_rows_are_a_view_of_the_table_and_give_the_same_coordinates():
    table = table_of(0)
    passage = passage_of(table, np.ones(4, dtype=bool))
    rows = passage.rows(table)
    assert np.shares_memory(rows.table, table)
    np.testing.assert_array_equal(rows.working(slice(None)), passage.working(table))


def test_a_reduced_row_comes_back_but_for_what_its_components_leave_over():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 6)) * [1, 2, 3, 4, 5, 6] + 7.0  # two directions only
    passage = passage_of(table, np.ones(6, dtype=bool), reduced=2)
    np.testing.assert_allclose(passage.outward(passage.working(table)), table, rtol=1e-6)
    assert passage.working_columns == ("component 1", "component 2", "left over")


@pytest.mark.parametrize("reduced", [None, 2])
def test_the_middle_of_rows_is_the_mean_of_both_ends(reduced):
    table = table_of(1)
    passage = passage_of(table, np.array([True, False, True, True]), reduced)
    kept, working = passage.middle(table[:20])
    np.testing.assert_allclose(kept, table[:20][:, [0, 2, 3]].mean(axis=0))
    np.testing.assert_allclose(working, passage.working(table[:20]).mean(axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("reduced", [None, 3])
def test_what_columns_add_to_a_squared_distance_adds_up_to_it(reduced):
    table = table_of(2, columns=6)
    passage = passage_of(table, np.ones(6, dtype=bool), reduced)
    centre = np.zeros(passage.working(table[:1]).shape[1])
    kept, working = passage.middle(table[:1])
    pull = working - centre  # of the identity as scatter
    parts = passage.by_column(kept, passage.outward(centre[None])[0], pull * (working - centre), pull)
    assert parts.shape == (6,)
    assert parts.sum() == pytest.approx(np.square(working - centre).sum(), rel=1e-6)


def test_columns_are_called_by_their_names_or_numbers():
    table, kept = table_of(3), np.array([True, False, True, True])
    plain, named = passage_of(table, kept), passage_of(table, kept, names=("ash", "fat", "salt", "zinc"))
    assert plain.columns == ("0", "1", "2", "3")
    assert plain.kept_columns == ("column 0", "column 2", "column 3")
    assert named.kept_columns == named.working_columns == ("ash", "salt", "zinc")


def test_the_volume_is_the_jacobian_of_the_way_in():
    table = table_of(4)
    passage = passage_of(table, np.ones(4, dtype=bool))
    step = passage.working(table[:1] + np.eye(4)) - passage.working(table[:1])
    assert passage.log_volume == pytest.approx(np.linalg.slogdet(step)[1])
