"""Batches of rows of two known classes and two others."""

import numpy as np

from vbrand import VBrand


def rows_of(rng, oat=20, rye=20, third=0, fourth=0):
    """Return rows of two known classes and of two others."""
    places = (([0, 0, 0], oat), ([8, 8, 8], rye), ([-8, -8, -8], third), ([0, 9, -9], fourth))
    return np.vstack([rng.normal(place, 1, (count, 3)) for place, count in places])


def fitted(rng, **settings):
    """Return a detector that knows the two classes."""
    return VBrand(random_state=0, **settings).fit(rows_of(rng, 60, 60), np.repeat(["oat", "rye"], 60))
