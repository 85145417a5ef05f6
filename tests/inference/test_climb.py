"""The compiled ascent over one block is the ascent over many blocks, step by step."""

import numpy as np
import pytest
from problems import random_problem

from vbrand.compiling import from_python
from vbrand.inference import cavi, climb
from vbrand.inference import rows as rows_module
from vbrand.inference.cavi import Stopped, ascend
from vbrand.inference.climb import (
    CONVERGED,
    FELL,
    GOES_ON,
    HOPELESS,
    MAX_ITERATIONS,
    PLAIN_SWEEPS,
    Pace,
    memory,
)
from vbrand.inference.rows import Rows
from vbrand.inference.starts import from_labels
from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian, Student
from vbrand.model.posterior import bound_of
from vbrand.model.prior import Prior
from vbrand.model.weights import prior_weights

jump, why_stop = from_python(climb.jump), from_python(climb.why_stop)
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


def overlapping(n=300, p=2):
    """Return rows of two clouds that overlap, and a start that is far from where the ascent ends: a slow one."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0.0, 1.0, size=(n, p)), rng.normal(1.5, 1.0, size=(n, p))])
    base = Components(np.zeros((1, p)), np.array([0.1]), np.array([p + 2.0]), np.eye(p)[None], (Gaussian(),))
    prior = Prior(base.reordered(np.zeros(2, int)), prior_weights(np.ones(1), 1.0, 2), np.zeros(0, int))
    return Rows.plain(rows), prior, from_labels(Rows.plain(rows), prior, (rows[:, 0] > -0.5).astype(int))


def test_a_slow_ascent_takes_fewer_sweeps(monkeypatch):
    rows, prior, start = overlapping()
    fast = ascend(rows, prior, start, max_iter=2_000)
    monkeypatch.setattr(cavi, "_jump", lambda *_: 0.0)
    monkeypatch.setattr(rows_module, "_BLOCK_ROWS", 256)
    plain = ascend(rows, prior, start, max_iter=2_000)
    assert fast.stopped is plain.stopped is Stopped.CONVERGED
    assert fast.bound.total >= plain.bound.total - 1e-4
    assert fast.trace.size < 0.7 * plain.trace.size
    assert (np.diff(fast.trace) >= -1e-9 * np.abs(fast.trace[1:])).all()


def test_no_jump_without_sweeps_to_reckon_from_or_to_go_back():
    slow = np.array([-10.0, -9.0, -8.2])
    assert jump(slow, 3, PLAIN_SWEEPS, 100) > 1.0
    assert jump(slow, 3, PLAIN_SWEEPS - 1, 100) == 0.0
    assert jump(slow, 3, PLAIN_SWEEPS, 4) == 0.0
    assert jump(np.array([-10.0, -9.0, -8.99]), 3, PLAIN_SWEEPS, 100) == 0.0


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
    assert memory(4, 3, 90).group.lanes is first.group.lanes
    assert memory(4, 3, 90).group.score.shape[0] == 4
    assert memory(40, 3, 5_000).block.held.shape[1] >= 5_000
    assert memory(4, 6, 90).block.held.shape[0] == 6
