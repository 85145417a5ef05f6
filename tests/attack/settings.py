"""Settings of every kind: what is taken gives an answer, all else a sentence that names the setting."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from attack.judge import want, want_answer

from vbrand import VBrand

_ODD = (
    *(None, True, "x", "", b"x", "auto", 0, -1, 3, 2**70, 10**9, -(2**70), 0.5, 1e308, 1e-308, -1e308),
    *(float("nan"), float("inf"), 1j, [], [1], (1,), (1, 2), (1, 2, 3), ("a", "b"), {}, {"a": 1}, ["a", "b"]),
    *(np.array([1, 2]), np.array("auto"), np.eye(2), np.float32(3.0), Fraction(1, 2), Decimal(1), object(), len),
)


def set_one(generator, folder):
    """Give one setting an odd value."""
    name = generator.choice(sorted(VBrand().get_params())).item()
    value = _ODD[generator.integers(len(_ODD))]
    rows = np.vstack([generator.normal(0, 1, (25, 2)), generator.normal(8, 1, (25, 2))])
    unknown = np.vstack([generator.normal(0, 1, (15, 2)), generator.normal(-8, 1, (10, 2))])
    try:
        detector = VBrand(**{"random_state": 0, "check": 0, "n_starts": 2, name: value})
        detector.fit(rows, np.repeat([0, 1], 25))
        found = detector.discover(unknown)
    except ValueError as error:
        want(name in str(error), f"{name}={value!r} is refused without its name: {error}")
        raise
    want_answer(detector, found, unknown)
