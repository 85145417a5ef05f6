"""The compiled loops: blocks hold every row once, limits are where shares end, weights are slopes of scores."""

import numpy as np
import pytest
from problems import EVERY_KERNEL

from vbrand.inference.sweeps import LANES, NEGLIGIBLE, _from_distance, _limits, load_block, part_of, workspace


def test_a_negligible_share_is_lost_in_rounding_and_one_above_it_is_not():
    assert 1.0 + np.exp(-NEGLIGIBLE) == 1.0
    assert 1.0 + np.exp(-NEGLIGIBLE + 0.1) > 1.0


def test_a_block_holds_every_row_once_by_component_and_within_the_farthest():
    rng = np.random.default_rng(0)
    table, winners = rng.normal(size=(50, 3)) * 100.0, rng.integers(0, 4, 50).astype(np.int32)
    centre, unit, start, size = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, 0.1]), 10, 30
    block = workspace(4, 3, size).block
    load_block(table, start, size, winners, centre, unit, 60.0, block._replace(first=block.first[:5]))
    order = block.order[:size]
    assert sorted(order.tolist()) == list(range(start, start + size))
    assert (np.diff(winners[order]) >= 0).all()
    assert block.first[:5].tolist() == [0, *np.cumsum(np.bincount(winners[start : start + size], minlength=4))]
    expected = np.clip((table[order] - centre) * unit, -60.0, 60.0)
    np.testing.assert_array_equal(block.held[:, :size], expected.T)


def scored(kernel, constant, tail, power, distance):
    work = workspace(1, 2, 10)
    m = distance.size
    work.lanes.distance[:m] = distance
    pull, score = np.ones(LANES), np.empty(LANES)
    _from_distance(kernel.code, constant, tail, power, pull, score, work.lanes, m)
    return score[:m], pull[:m]


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=str)
def test_beyond_its_limit_a_component_has_no_share(kernel):
    best = np.linspace(-30.0, 1.0, 50)
    (constant,), (tail,), (power,) = kernel.score(np.array([0.3]), 20)
    limit = np.empty(50)
    _limits(kernel.code, constant, tail, power, best, limit, 50)
    score, _ = scored(kernel, constant, tail, power, limit)
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
    whole = workspace(16, 5, 100)
    part = part_of(whole, 3)
    assert part.shares.score.shape == (3, LANES)
    assert (part.shares.active.size, part.shares.reach.size, part.block.first.size) == (3, 3, 4)
    assert all(
        np.shares_memory(getattr(part.shares, name), getattr(whole.shares, name)) for name in ("score", "pull", "reach")
    )
