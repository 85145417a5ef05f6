"""The posterior predictive density: how likely a row is before it is seen."""

import numpy as np
from scipy.special import gammaln, logsumexp

from vbrand.model.posterior import Posterior
from vbrand.model.weights import log_expected_weights
from vbrand.types import FloatArray


def log_predictive(rows: FloatArray, posterior: Posterior) -> FloatArray:
    """Return the log density of rows: log sum_k of what `log_predictive_parts` gives, (n,)."""
    return np.asarray(logsumexp(log_predictive_parts(rows, posterior), axis=1))


def log_predictive_parts(rows: FloatArray, posterior: Posterior) -> FloatArray:
    """Return log E[w_k] + log t_{u-p+1}(y | m, S (l + 1) / (l (u - p + 1))) of each row and component, (n, K)."""
    components = posterior.components
    n, p = rows.shape
    log_weights = log_expected_weights(posterior.weights)
    parts = np.empty((n, log_weights.size))
    for k, log_weight in enumerate(log_weights):
        unit = (rows - components.mean[k]) @ components.inverse_factor[k].T
        distance = np.square(unit).sum(axis=1)  # (y - m)' S^-1 (y - m)
        determinant = components.log_determinant[k]
        if components.fixed[k]:
            density = -0.5 * (p * np.log(2.0 * np.pi) + determinant + distance)
        else:
            density = _log_student(distance, determinant, components.precision[k], components.dof[k], p)
        parts[:, k] = log_weight + density
    return parts


def _log_student(distance: FloatArray, determinant: float, precision: float, dof: float, p: int) -> FloatArray:
    tail = dof - p + 1.0
    stretch = (precision + 1.0) / precision  # the scale matrix is S stretch / tail
    constant = gammaln(0.5 * (tail + p)) - gammaln(0.5 * tail) - 0.5 * p * np.log(np.pi * stretch)
    return np.asarray(constant - 0.5 * determinant - 0.5 * (tail + p) * np.log1p(distance / stretch))
