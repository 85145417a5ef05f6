"""The compiled ascent over one block is the ascent over many blocks, step by step."""

import numpy as np
import pytest
from problems import random_problem

from vbrand.inference import rows as rows_module
from vbrand.inference.cavi import Stopped, ascend
from vbrand.inference.climb import CONVERGED, FELL, GOES_ON, HOPELESS, MAX_ITERATIONS, Pace, memory, why_stop
from vbrand.inference.rows import Rows
from vbrand.model.kernels import Gaussian, Student
from vbrand.model.posterior import bound_of

PACE = Pace(1e-6, 10, -np.inf, True, 1e-8, 20.0, 3)


@pytest.mark.parametrize("kernel", [Gaussian(), Student(6.0)])
@pytest.mark.parametrize("sort", [True, False])
def test_one_block_and_many_blocks_lead_to_the_same_place(monkeypatch, kernel, sort):
    rows, prior, start = random_problem(seed=3, known=2, novel=4, n=700, p=3, kernel=kernel)
    one = ascend(Rows.plain(rows), prior, start, max_iter=12, sort=sort)
    monkeypatch.setattr(rows_module, "_BLOCK_ROWS", 256)
    many = ascend(Rows.plain(rows), prior, start, max_iter=12, sort=sort)

    np.testing.assert_allclose(one.trace, many.trace, rtol=1e-11)
    np.testing.assert_allclose(one.statistics.counts, many.statistics.counts, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(one.posterior.components.scale, many.posterior.components.scale, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(one.winners, many.winners)
    assert one.stopped is many.stopped


def test_the_bound_is_that_of_the_posterior():
    rows, prior, start = random_problem(seed=1, known=1, novel=3, n=200, p=2)
    found = ascend(Rows.plain(rows), prior, start, max_iter=7)
    again = bound_of(prior, found.posterior, found.statistics.evidence)
    assert found.bound.total == pytest.approx(again.total, rel=1e-13)
    assert found.trace[-1] == pytest.approx(found.bound.total, rel=1e-13)
    assert found.stopped is Stopped.MAX_ITERATIONS
    assert found.trace.size == 7


def test_a_start_and_its_winners_stay_as_they_were():
    rows, prior, start = random_problem(seed=2, known=1, novel=2, n=100, p=2)
    winners = np.zeros(100, np.int32)
    mean, scale = start.components.mean.copy(), start.components.scale.copy()
    ascend(Rows.plain(rows), prior, start, winners=winners)
    np.testing.assert_array_equal(start.components.mean, mean)
    np.testing.assert_array_equal(start.components.scale, scale)
    assert not winners.any()


@pytest.mark.parametrize(
    ("trace", "pace", "expected"),
    [
        ([-10.0], PACE, GOES_ON),
        ([-10.0, -9.0], PACE, GOES_ON),
        ([-10.0, -10.0 + 1e-6], PACE, CONVERGED),
        ([-10.0, -11.0], PACE, FELL),
        ([-10.0, -9.0, -8.9], PACE._replace(beat=-5.0), HOPELESS),
        ([-10.0, -8.9], PACE._replace(beat=20.0), GOES_ON),
        ([-10.0, -9.0], PACE._replace(max_iter=2), MAX_ITERATIONS),
    ],
)
def test_an_ascent_ends_for_a_reason(trace, pace, expected):
    assert why_stop(np.array(trace), len(trace), pace) == expected


def test_memory_is_used_again_and_fits():
    first = memory(5, 3, 100)
    assert memory(4, 3, 90).buffers is first.buffers
    assert memory(4, 3, 90).shares.score.shape[0] == 4
    assert memory(40, 3, 5_000).block.held.shape[1] >= 5_000
    assert memory(4, 6, 90).block.held.shape[0] == 6
