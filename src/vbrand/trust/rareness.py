"""How rare a row would be among labelled rows: by the fit and by trees, both measured with hidden rows."""

from dataclasses import dataclass

import numpy as np

from vbrand.trust.contrast import Contrast, wrong_with_contrast
from vbrand.types import FloatArray


@dataclass(frozen=True)
class Rareness:
    """What orders the rows of a component."""

    contrast: Contrast
    by_fit: FloatArray  # (h,) how unlike the labelled rows hidden ones were, in rising order
    by_trees: FloatArray  # (h,) their log odds by trees, in rising order

    def of(self, unlike: FloatArray, log_odds: FloatArray) -> FloatArray:
        """Return how rare rows are, given how unlike the labelled rows they are and the log odds of the trees, (n,)."""
        # (9.18)  r(y) = -log P(u of a hidden row >= u(y)) - log P(t of a hidden row >= t(y))
        return _rare(self.by_fit, unlike) + _rare(self.by_trees, log_odds)


def wrong_with(rareness: Rareness, columns: int) -> str:
    """Return what is wrong with what was read from a file, for rows of so many columns; nothing if all is well."""
    for hidden in (rareness.by_fit, rareness.by_trees):
        if hidden.ndim != 1 or not np.isfinite(hidden).all() or (np.diff(hidden) < 0.0).any():
            return "its hidden rows are not in order"
    return wrong_with_contrast(rareness.contrast, columns)


def _rare(hidden: FloatArray, value: FloatArray) -> FloatArray:
    """Return minus the logarithm of the share of hidden values that are as large, counting the row itself."""
    larger = hidden.size - np.searchsorted(hidden, value)
    return np.asarray(np.log(hidden.size + 1.0) - np.log(larger + 1.0))
