"""Rows on workers are read as an array would give them, whatever the partitions, and stay when workers go."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
from clusters import deadline, killing

from vbrand.inference.rows import Rows
from vbrand.io.sources.cluster import client_of
from vbrand.io.sources.scratch import Scratch
from vbrand.io.sources.workers import WorkerRows, gathered_parts

ROWS = np.arange(600.0).reshape(200, 3)


def spread(client, sizes=(70, 0, 1, 29, 100)):
    edges = np.append(0, np.cumsum(sizes))
    parts = [client.submit(np.array, ROWS[first:last], pure=False) for first, last in pairwise(edges)]
    return WorkerRows(client, parts, list(sizes), 3, np.float64, Scratch(), gaps=False)


@pytest.mark.parametrize(
    "chosen",
    [
        slice(None),
        slice(5, 9),
        slice(60, 150),
        slice(3, None, 7),
        np.arange(200) % 3 == 1,
        [4],
        [-1, 3, 199, 70],
        slice(9, 9),
    ],
)
def test_rows_are_chosen_as_of_an_array(client, chosen):
    np.testing.assert_array_equal(spread(client)[chosen], ROWS[chosen])


def test_what_a_function_makes_of_rows_stays_on_workers(client):
    np.testing.assert_array_equal(spread(client).mapped(np.negative)[:], -ROWS)
    odd = np.arange(200) % 2 == 1
    left = spread(client).without(odd)
    assert left.shape == (100, 3)
    np.testing.assert_array_equal(left[:], ROWS[~odd])


def summed(rows, pieces):
    def total(rows, factor):
        return factor * rows.table.sum()

    seen = dict[int, float]()

    def taken(piece, found):
        seen[piece.start] = found
        return found

    kept = rows.each(total, Rows(rows, np.zeros(3), np.ones(3)), pieces, lambda piece: (piece.start,), taken)
    assert [seen[piece.start] for piece in pieces] == kept
    return kept


@pytest.mark.parametrize("sizes", [(200,), (70, 0, 1, 29, 100), (1,) * 200, (0, 199, 1, 0)])
def test_work_is_done_on_the_same_ranges_whatever_the_partitions(client, sizes):
    pieces = [slice(0, 60), slice(60, 120), slice(120, 200)]
    expected = [piece.start * ROWS[piece].sum() for piece in pieces]
    rows = spread(client, sizes)
    assert summed(rows, pieces) == expected
    assert summed(rows, pieces) == expected  # cut already
    np.testing.assert_array_equal(rows[:], ROWS)


def test_labelled_rows_come_here_and_others_stay(client):
    def part(number):
        return ROWS[10 * number : 10 * number + 6], ROWS[10 * number + 6 : 10 * number + 10], ["a", "b", "c", "d"]

    parts = [client.submit(part, number, pure=False) for number in range(3)]
    rest, known, labels = gathered_parts(client, parts, 3, np.float64, Scratch())
    np.testing.assert_array_equal(rest[:], np.concatenate([ROWS[first : first + 6] for first in (0, 10, 20)]))
    np.testing.assert_array_equal(known, np.concatenate([ROWS[first + 6 : first + 10] for first in (0, 10, 20)]))
    assert labels == ["a", "b", "c", "d"] * 3


def test_rows_of_workers_that_are_killed_are_made_again(client):
    def slow(rows):
        import time

        time.sleep(0.05)
        return rows.table.sum()

    rows = spread(client_of(client))  # whose tasks may lose more workers than Dask allows
    pieces = [slice(first, first + 10) for first in range(0, 200, 10)]
    view = Rows(rows, np.zeros(3), np.ones(3))
    with deadline(60, client), killing(client, "_worked", 3) as killed:
        for _ in range(3):
            found = rows.each(slow, replace(view), pieces, lambda _: (), lambda _, found: found)
            assert found == [ROWS[piece].sum() for piece in pieces]
    assert len(killed) == 3
