"""How unlike the labelled rows a row is, by the fit and by trees: hidden rows say how much each of them counts."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from vbrand.trust.contrast import Contrast
from vbrand.trust.standing import Standing
from vbrand.types import FloatArray

# of either at the least, so that rows do not tie
_LEAST = 1e-3


@dataclass(frozen=True)
class Opinion:
    """What the order of the rows of a component is made of."""

    contrast: Contrast
    by_fit: float
    by_trees: float

    def on(self, standing: Standing, log_odds: FloatArray) -> Standing:
        """Return where rows stand with the order of all that tells them apart, given the log odds of the trees."""
        # (9.18)  v(y) = a asinh u(y) + b t(y)
        return replace(standing, order=self.by_fit * np.arcsinh(standing.unlike) + self.by_trees * log_odds)


def opinion_of(
    contrast: Contrast, rows: tuple[FloatArray, FloatArray], hidden: tuple[FloatArray, FloatArray]
) -> Opinion:
    """Return the weights with which unlabelled and hidden rows are told apart best.

    Of both, how unlike the labelled rows they are by the fit and the log odds by trees are given, (n,) and (h,).

    (9.19)  a, b make it most likely which rows are unlabelled, by a logistic model, both kinds of rows worth the same
    """
    x = np.column_stack([np.arcsinh(np.concatenate([rows[0], hidden[0]])), np.concatenate([rows[1], hidden[1]])])
    n, h = rows[0].size, hidden[0].size
    sign = np.where(np.arange(n + h) < n, 1.0, -1.0)
    weight = np.where(sign > 0.0, 0.5 / n, 0.5 / h)

    def loss(at: FloatArray) -> tuple[float, FloatArray]:
        margin = sign * (x @ at[:2] + at[2])
        slope = -weight * sign * expit(-margin)
        return float(weight @ np.logaddexp(0.0, -margin)), np.append(slope @ x, slope.sum())

    found = minimize(loss, np.array([0.1, 0.1, 0.0]), jac=True, bounds=[(_LEAST, 1e3), (_LEAST, 1e3), (None, None)])
    return Opinion(contrast, float(found.x[0]), float(found.x[1]))
