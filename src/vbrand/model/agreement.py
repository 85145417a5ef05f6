"""Whether a novel component is a known class that its labelled rows have not quite shown."""

import numpy as np
from scipy import stats

from vbrand.model.components import Components
from vbrand.robust.classes import KnownClasses
from vbrand.types import BoolArray, FloatArray

# the labelled rows of a class would be this unusual a sample of the novel component, or more usual
_UNUSUAL = 1e-4
# sizes of scatters that differ by less, or by what chance makes of so few rows, are the same
_SAME_SIZE = 1.5
_TOO_SMALL = 2.0


def on_top(known: KnownClasses, novel: Components, counts: FloatArray) -> BoolArray:
    """Return which known components have a novel one on top: labelled rows that could be a sample of it, (K,).

    `counts` are the rows of the novel ones. A prior that is surer than its labelled rows may leave a class to a novel
    component where it lies in truth.
    """
    found = np.zeros(known.rows.size, dtype=bool)
    p = known.centres.shape[1]
    for g in np.flatnonzero(counts >= 1.0):
        spread = novel.dof[g] - p - 1.0
        if not spread > 0.0:
            continue
        root = novel.inverse_factor[g] * np.sqrt(spread)  # of E[Sigma_g]^-1
        moved = (known.centres - novel.mean[g]) @ root.T  # (K, p)
        # T^2 = (1 / n + 1 / N)^-1 (c - m)' E[Sigma_g]^-1 (c - m), chi2_p if the labelled rows are a sample of g
        size = 1.0 / (1.0 / known.rows + 1.0 / counts[g])
        here = size * np.square(moved).sum(axis=1) <= stats.chi2.isf(_UNUSUAL, p)
        # tr(E[Sigma_g]^-1 S) / p, one but for chance: its standard deviation is sqrt(2 / (n p))
        width = np.einsum("ij,kjl,il->k", root, known.scatters, root) / p
        chance = np.maximum(np.log(_SAME_SIZE), stats.norm.isf(_UNUSUAL) * np.sqrt(2.0 / (known.rows * p)))
        # and the scatter that few rows show of many columns is too small
        found |= here & (np.log(width) <= chance) & (np.log(width) >= -chance - _TOO_SMALL * p / known.rows)
    return found
