"""What bounds the score of a row with missing cells, against the blocks of scatters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.inference.gapped import bounds, gap_work


def root_of(rng, p, axes):
    """Return a root of the precision of a scatter with some long axes, and the scatter."""
    long = rng.normal(size=(p, axes)) * 10.0 ** rng.uniform(-1.0, 2.0, axes)
    scatter = (long @ long.T + np.diag(rng.uniform(0.1, 1.0, p))) * np.outer(*[10.0 ** rng.uniform(-2.0, 2.0, p)] * 2)
    return np.linalg.inv(np.linalg.cholesky(scatter)), scatter


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(0, 3))
def test_bounds_hold_for_any_cells(seed, p, axes):
    """(5.28), (5.29)."""
    rng = np.random.default_rng(seed)
    root, scatter = root_of(rng, p, axes)
    weight, load, missed = (each[0] for each in bounds(root[None]))
    here = rng.random(p) < 0.6
    deviation = np.where(here, rng.normal(size=p) * np.sqrt(np.diagonal(scatter)) * 3.0, 0.0)
    along, loaded = (weight * load * deviation)[here].sum(), (weight * load * load)[here].sum()
    least = (weight * deviation**2).sum() - along**2 / (1.0 + loaded)

    inside = scatter[np.ix_(here, here)]
    distance = deviation[here] @ np.linalg.solve(inside, deviation[here])
    assert least <= distance * (1.0 + 1e-6) + 1e-9
    # |P_mm| = |S_oo| / |S|
    of_missing = np.linalg.slogdet(inside)[1] - np.linalg.slogdet(scatter)[1]
    assert 0.5 * ((~here).sum() * np.log(2.0 * np.pi) - of_missing) <= missed[here.sum()] + 1e-8


def test_the_bound_of_a_distance_is_that_distance_where_columns_have_one_thing_in_common():
    p, here = 8, np.array([1, 1, 0, 1, 1, 0, 1, 1], dtype=bool)
    scatter = 0.3 * np.eye(p) + 0.7
    weight, load, _ = (each[0] for each in bounds(np.linalg.inv(np.linalg.cholesky(scatter))[None]))
    deviation = np.random.default_rng(0).normal(size=p) * here
    along, loaded = (weight * load * deviation)[here].sum(), (weight * load * load)[here].sum()
    exact = deviation[here] @ np.linalg.solve(scatter[np.ix_(here, here)], deviation[here])
    assert (weight * deviation**2).sum() - along**2 / (1.0 + loaded) == pytest.approx(exact)


def test_of_a_root_that_is_zero_nothing_is_known():
    weight, _, missed = bounds(np.zeros((1, 3, 3)))
    assert (weight == 0.0).all()
    assert (missed > 1e200).all()


@pytest.mark.parametrize(("components", "p"), [(3, 2), (400, 200)])
def test_memory_is_bounded(components, p):
    work = gap_work(components, p)
    assert work.deviation.size < 5_000_000
    assert work.was.size % 16 == 0
