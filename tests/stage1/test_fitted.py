"""Tails of Gaussian humps: what lies beyond an end."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import log_ndtr

from vbrand.compiling import from_python
from vbrand.stage1 import fitted

expected_beyond, log_below = from_python(fitted.expected_beyond), from_python(fitted.log_below)


@pytest.mark.parametrize("side", [0, -1])
def test_outermost_values_are_expected_where_a_gaussian_has_them(side):
    edge = -1.9 if side == 0 else 2.4
    expected, square = expected_beyond(edge, 0.3, np.sqrt(1.7), -1.0 if side == 0 else 1.0)
    reach = (-np.inf, edge) if side == 0 else (edge, np.inf)
    density = stats.norm(0.3, np.sqrt(1.7)).pdf
    mass, first, second = (
        integrate.quad(lambda x, power=power: (x - 0.3) ** power * density(x), *reach)[0] for power in range(3)
    )
    assert expected == pytest.approx(0.3 + first / mass)
    assert square == pytest.approx(second / mass)


@pytest.mark.parametrize("x", [30.0, 3.0, 0.0, -1.0, -5.0, -19.9, -20.1, -35.0, -1e3, -1e100, -np.inf])
def test_the_logarithm_of_a_tail_is_that_of_scipy(x):
    assert log_below(x) == pytest.approx(log_ndtr(x), rel=1e-9, abs=1e-15)
