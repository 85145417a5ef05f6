"""Whether labelled rows keep company: rows of one patient or field, labelled together, are near each other.

The check takes labelled rows for a fair sample of their classes. Where they come in samples of several rows, hidden
ones have others of theirs among the labelled rows, and unlabelled ones have not.
"""

import numpy as np
from scipy.spatial import KDTree

from vbrand.samples import evenly
from vbrand.types import FloatArray

# the nearest rows, and those that are looked at beside them: of more, small classes are few, and novel rows many
_NEAR, _AROUND = 4, 12
# labelled rows that are asked
_ASKED = 500


def company(labelled: FloatArray, others: FloatArray) -> float:
    """Return how much oftener labelled rows have each other for neighbours than those around, in standard deviations.

    Whatever is novel, among rows that were labelled by lot the nearest ones are labelled as often as those around them.
    Rows with missing cells have no part in it; 0 where there are too few of the others.
    """
    labelled, others = (rows[~np.isnan(rows).any(axis=1)] for rows in (labelled, others))
    rows = np.vstack([labelled, others])
    around = min(_AROUND, rows.shape[0] - 2)
    if around <= 2 * _NEAR or not labelled.shape[0]:
        return 0.0
    asked = evenly(labelled.shape[0], _ASKED)
    _, nearest = KDTree(rows).query(rows[asked], k=around + 1)
    # a row is no neighbour of itself; of copies it may be the last one
    own = nearest == asked[:, None]
    own[~own.any(axis=1), -1] = True
    shares = (nearest[~own].reshape(asked.size, around) < labelled.shape[0]).astype(np.float64)

    # (9.28)  z = sum_i (f_i - g_i) / (sum_i h_i (1 - h_i) (1 / 4 + 1 / 8))^1/2:  shares of labelled rows among the
    #         four nearest, the eight next and all twelve
    near, around_them, all_of_them = shares[:, :_NEAR], shares[:, _NEAR:], shares.mean(axis=1)
    spread = (all_of_them * (1.0 - all_of_them)).sum() * (1.0 / _NEAR + 1.0 / (around - _NEAR))
    return float((near.mean(axis=1) - around_them.mean(axis=1)).sum() / np.sqrt(spread)) if spread > 0.0 else 0.0
