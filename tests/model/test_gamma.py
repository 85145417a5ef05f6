"""The compiled Gamma function and its slope are those of scipy."""

import numpy as np
from scipy import special

from vbrand.compiling import from_python
from vbrand.model import gamma

digamma, log_gamma = from_python(gamma.digamma), from_python(gamma.log_gamma)

ARGUMENTS = np.concatenate([np.geomspace(1e-6, 1e9, 400), np.linspace(0.01, 12.0, 400), [1.0, 2.0, 0.5, 1.5]])


def test_log_gamma_is_that_of_scipy():
    found = np.array([log_gamma(x) for x in ARGUMENTS])
    np.testing.assert_allclose(found, special.gammaln(ARGUMENTS), rtol=1e-14, atol=1e-14)


def test_digamma_is_that_of_scipy():
    found = np.array([digamma(x) for x in ARGUMENTS])
    np.testing.assert_allclose(found, special.digamma(ARGUMENTS), rtol=1e-14, atol=2e-15)


def test_digamma_is_the_slope_of_log_gamma():
    at = np.linspace(0.3, 40.0, 100)
    slope = np.array([(log_gamma(x + 1e-5) - log_gamma(x - 1e-5)) / 2e-5 for x in at])
    np.testing.assert_allclose(slope, [digamma(x) for x in at], atol=1e-8)
