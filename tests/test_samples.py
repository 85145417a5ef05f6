"""Even samples: as many as allowed, from all over, in even steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand import samples
from vbrand.samples import by_content, chunks, evenly, every_kth, members_at, parts_of, some_members


@given(st.integers(1, 500), st.integers(1, 500))
def test_numbers_spread_evenly_are_distinct_in_range_and_as_many_as_allowed(total, most):
    chosen = evenly(total, most)
    assert chosen.size == min(total, most)
    assert chosen[0] == 0
    assert chosen[-1] < total
    steps = np.diff(chosen)
    assert (steps >= 1).all()
    assert steps.size == 0 or np.ptp(steps) <= 1


@given(st.integers(2, 500), st.integers(2, 500))
def test_the_first_and_the_last_are_in_the_sample(total, most):
    assert evenly(total, most)[[0, -1]].tolist() == [0, total - 1]


@pytest.mark.parametrize(("total", "most"), [(0, 5), (5, 5), (5, 50)])
def test_of_few_all_are_taken(total, most):
    assert evenly(total, most).tolist() == list(range(total))
    assert list(range(total))[every_kth(total, most)] == list(range(total))


@given(st.integers(1, 5_000), st.integers(1, 500))
def test_every_kth_is_at_most_so_many_in_equal_steps_and_with_a_smaller_step_there_would_be_more(total, most):
    step = every_kth(total, most).step
    chosen = np.arange(total)[every_kth(total, most)]
    assert 0 < chosen.size <= most
    assert (np.diff(chosen) == step).all()
    assert step == 1 or np.arange(total)[:: step - 1].size > most


def test_a_sample_of_a_table_is_a_view():
    table = np.zeros((1_000, 3))
    assert np.shares_memory(table[every_kth(1_000, 10)], table)


@given(st.lists(st.integers(0, 3), max_size=60), st.integers(1, 20), st.integers(1, 70))
def test_members_are_the_same_however_rows_are_cut_into_chunks(labels, most, size):
    labels = np.array(labels, dtype=np.int64)
    members = np.flatnonzero(labels == 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "_CHUNK", size)
        assert sum(chunk.stop - chunk.start for chunk in chunks(labels.size)) == labels.size
        some = some_members(labels, labels.size, 2, most)
        last = members_at(labels, labels.size, 2, np.arange(members.size)[-3:])
    np.testing.assert_array_equal(some, members[every_kth(members.size, most)])
    np.testing.assert_array_equal(last, members[-3:])


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 5), st.booleans())
def test_the_order_by_content_depends_on_neither_places_nor_units(seed, n, p, rounded):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n, p))
    rows = np.round(rows) if rounded else rows
    rows[generator.random((n, p)) < 0.1 * generator.integers(0, 2)] = np.nan
    ordered = rows[by_content(rows)]

    other = generator.permutation(n)
    np.testing.assert_array_equal(rows[other][by_content(rows[other])], ordered)
    unit = 10.0 ** generator.integers(-9, 9, p)
    np.testing.assert_array_equal(rows[by_content(rows * unit)], ordered)


@pytest.mark.parametrize("seed", range(20))
def test_the_order_by_content_of_rows_that_hold_the_same_in_other_columns_does_not_depend_on_columns(seed):
    generator = np.random.default_rng(seed)
    rows = generator.integers(0, 3, (40, 3)).astype(np.float64)
    ordered, columns = rows[by_content(rows)], generator.permutation(3)
    np.testing.assert_array_equal(rows[:, columns][by_content(rows[:, columns])], ordered[:, columns])


def test_rows_have_an_order_by_content_at_the_ends_of_the_range_and_where_columns_are_constant():
    rows = np.array([[1e308, 7.0], [-1e308, 7.0], [0.0, 7.0]])
    assert by_content(rows).tolist() == [1, 0, 2]
    assert by_content(rows[::-1]).tolist() == [1, 2, 0]
    assert by_content(np.empty((0, 3))).tolist() == []


def test_near_rows_are_not_near_each_other_in_the_order_by_content():
    rows = np.linspace(0.0, 1.0, 2001)[:, None] * [1.0, 3.0]
    order = by_content(rows)
    places = np.argsort(order)
    assert abs(np.corrcoef(places, np.arange(2001))[0, 1]) < 0.1
    assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 0.1


@pytest.mark.parametrize("columns", [0, 1, 7, 1_000])
def test_parts_are_all_rows_in_their_order_and_the_order_by_content_does_not_depend_on_them(monkeypatch, columns):
    rows = np.random.default_rng(0).normal(size=(900, columns)).round(1)
    whole = by_content(rows) if columns else None
    monkeypatch.setattr(samples, "_PART", 2_000)
    parts = parts_of(rows)
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(900))
    if columns > 1:
        assert len(parts) > 1
    if columns:
        np.testing.assert_array_equal(by_content(rows), whole)
