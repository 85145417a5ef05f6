"""A small problem: two known classes, and rows of these and of two novel ones, far apart."""

import numpy as np

from vbrand.inference.rows import Rows
from vbrand.stage1.classes import learn_classes
from vbrand.stage1.elicit import Beliefs, elicit


def problem(seed=0, p=3, novel=6, update_known=True, concentration=1.0):
    rng = np.random.default_rng(seed)
    train = np.vstack([rng.normal(c, 1.0, size=(60, p)) for c in (0.0, 8.0)])
    rows = np.vstack([rng.normal(c, 1.0, size=(40, p)) for c in (0.0, 8.0, -8.0, 16.0)])
    prior = elicit(
        learn_classes(train, np.repeat([0, 1], 60)),
        Beliefs(concentration=concentration),
        novel,
        update_known=update_known,
    )
    return Rows.plain(rows), prior
