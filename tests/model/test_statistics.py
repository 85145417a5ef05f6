"""Statistics: those of all rows are the sum of those of parts, about any origin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.model.statistics import Statistics, joined

NAMES = ("counts", "weights", "origin", "sums", "squares", "evidence")


def of(rows, phi, tau, origin):
    """Return the statistics of rows with shares phi and weights phi tau, by plain arrays."""
    weight = phi * tau
    deviation = rows[:, None] - origin  # (n, K, p)
    return Statistics(
        counts=phi.sum(axis=0),
        weights=weight.sum(axis=0),
        origin=origin,
        sums=np.einsum("nk,nki->ki", weight, deviation),
        squares=np.einsum("nk,nki,nkj->kij", weight, deviation, deviation),
        evidence=float(phi.sum()),
    )


def problem(seed, n=30, k=3, p=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.dirichlet(np.ones(k), n), rng.gamma(3.0, size=(n, k)), rng.normal(size=(k, p))


def same(first, second):
    for name in NAMES:
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-10, atol=1e-10)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(0, 30))
def test_statistics_of_two_blocks_add_up_wherever_the_cut_is(seed, cut):
    rows, phi, tau, origin = problem(seed)
    first = of(rows[:cut], phi[:cut], tau[:cut], origin)
    second = of(rows[cut:], phi[cut:], tau[cut:], origin)
    same(first + second, of(rows, phi, tau, origin))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_another_origin_gives_what_rows_about_it_give_and_the_way_back_is_the_same(seed):
    rows, phi, tau, origin = problem(seed)
    there = np.random.default_rng(seed + 1).normal(size=origin.shape)
    found = of(rows, phi, tau, origin)
    same(found.about(there), of(rows, phi, tau, there))
    same(found.about(there).about(origin), found)


def test_statistics_about_different_origins_do_not_add():
    rows, phi, tau, origin = problem(0)
    with pytest.raises(ValueError, match="different origins"):
        _ = of(rows, phi, tau, origin) + of(rows, phi, tau, origin + 1.0)


def test_three_times_the_rows_is_every_row_three_times():
    rows, phi, tau, origin = problem(1)
    three = of(*(np.concatenate([each] * 3) for each in (rows, phi, tau)), origin)
    same(of(rows, phi, tau, origin).scaled(3.0), three)


def test_components_in_another_order_and_joined_again_are_the_same():
    rows, phi, tau, origin = problem(2)
    found, order = of(rows, phi, tau, origin), np.array([2, 0, 1])
    same(found.reordered(order), of(rows, phi[:, order], tau[:, order], origin[order]))
    again = joined([found.reordered(np.array([k])) for k in range(3)])
    for name in NAMES[:-1]:
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    assert again.evidence == 0.0
