"""What tests of detectors share."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    """Return a stream of numbers that is the same in every run."""
    return np.random.default_rng(0)
