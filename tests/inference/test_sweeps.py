"""The compiled loops: blocks hold every row once, limits are where shares end, weights are slopes of scores."""

import numpy as np
import pytest
from compiled import from_python
from problems import EVERY_KERNEL

from vbrand.inference.sweeps import (
    BEST,
    DISTANCE,
    LIMIT,
    NEGLIGIBLE,
    VECTOR,
    _from_distance,
    _limits,
    block_memory,
    filled_roots,
    group_memory,
    load_block,
    part_of,
)


def test_a_negligible_share_is_lost_in_rounding_and_one_above_it_is_not():
    assert 1.0 + np.exp(-NEGLIGIBLE) == 1.0
    assert 1.0 + np.exp(-NEGLIGIBLE + 0.1) > 1.0


def test_a_block_holds_every_row_once_by_component_and_within_the_farthest():
    rng = np.random.default_rng(0)
    table, winners = rng.normal(size=(50, 3)) * 100.0, rng.integers(0, 4, 50).astype(np.int32)
    centre, unit, start, size = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, 0.1]), 10, 30
    block = block_memory(4, 3, size)
    load_block(table, start, size, winners, centre, unit, 60.0, *block)
    order = block.order[:size]
    assert sorted(order.tolist()) == list(range(start, start + size))
    assert (np.diff(winners[order]) >= 0).all()
    assert block.first[:5].tolist() == [0, *np.cumsum(np.bincount(winners[start : start + size], minlength=4))]
    expected = np.clip((table[order] - centre) * unit, -60.0, 60.0)
    np.testing.assert_array_equal(block.held[:, :size], expected.T)


def scored(kernel, constant, tail, power, distance):
    group = group_memory(1, 2)
    m = distance.size
    group.lanes[DISTANCE, :m] = distance
    pull, score = np.ones((2, m))
    from_python(_from_distance)(kernel.code, constant, tail, power, pull, score, group.lanes, group.bits, m)
    return score, pull


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=str)
def test_beyond_its_limit_a_component_has_no_share(kernel):
    best = np.linspace(-30.0, 1.0, 50)
    (constant,), (tail,), (power,) = kernel.score(np.array([0.3]), 20)
    group = group_memory(1, 20)
    group.lanes[BEST, :50] = best
    from_python(_limits)(kernel.code, constant, tail, power, group.lanes, group.bits, 50)
    score, _ = scored(kernel, constant, tail, power, group.lanes[LIMIT, :50])
    assert (score <= best - NEGLIGIBLE + 1e-9).all()
    assert (score >= best - NEGLIGIBLE - 1.0).all()  # and it is not far from where its share ends


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=str)
def test_the_weight_of_a_row_is_minus_twice_the_slope_of_its_score(kernel):
    distance, step = np.geomspace(0.1, 1e3, 40), 1e-4
    (constant,), (tail,), (power,) = kernel.score(np.array([0.3]), 5)
    above, below = (scored(kernel, constant, tail, power, distance * (1.0 + by))[0] for by in (step, -step))
    _, pull = scored(kernel, constant, tail, power, distance)
    np.testing.assert_allclose(pull, -2.0 * (above - below) / (2.0 * step * distance), rtol=1e-6)


def test_memory_for_fewer_components_is_part_of_the_memory_for_more():
    whole = group_memory(16, 5)
    block, part = part_of(block_memory(16, 5, 100), whole, 3)
    assert part.score.shape == (3, whole.lanes.shape[1])
    assert (part.pull.shape[0], part.reach.size, block.first.size) == (3, 3, 4)
    assert all(np.shares_memory(getattr(part, name), getattr(whole, name)) for name in ("score", "pull", "reach"))


@pytest.mark.parametrize("p", [1, 4, 10, 64, 300])
def test_a_group_has_whole_vectors_of_lanes_and_whole_quads_of_rows(p):
    group = group_memory(3, p)
    assert group.lanes.shape[1] % VECTOR == 0
    assert p <= len(group.deviation) < p + 4
    assert len(group.deviation) % 4 == 0
    assert not group.deviation.any()
    root = np.tril(np.random.default_rng(p).normal(size=(2, p, p)))
    filled = filled_roots(root)
    np.testing.assert_array_equal(filled[:, :p, :p], root)
    assert not filled[:, p:].any()
    assert not filled[:, :, p:].any()
