"""How much of a test is run: enough to notice what breaks, or with VBRAND_DEEP, which `make attack` sets, far more."""

import os

DEEP = "VBRAND_DEEP" in os.environ


def amount(usual, deep):
    """Return how many examples, sweeps or draws a test takes."""
    return deep if DEEP else usual
