"""The posterior predictive density: how likely a row is before it is seen."""

import numpy as np
from scipy.special import logsumexp

from vbrand.model.components import Components
from vbrand.model.gaps import expected
from vbrand.model.levels import codes_of, log_level_densities
from vbrand.model.posterior import Posterior
from vbrand.model.weights import log_expected_weights
from vbrand.types import FloatArray, IntArray


def log_component_weights(posterior: Posterior) -> FloatArray:
    """Return log E[w_k], (K,); the last component stands for all places after its own, which are like it."""
    count = posterior.components.dof.size
    # (8.2)  the last weight is the sum of those of all places from its own on
    weights = log_expected_weights(posterior.weights)
    return np.append(weights[: count - 1], logsumexp(weights[count - 1 :]))


def log_predictive_parts(rows: FloatArray, posterior: Posterior) -> FloatArray:
    """Return log E[w_k] + log p(y | component k) of each row and component, (n, K)."""
    return log_component_weights(posterior) + log_component_densities(rows, posterior.components)


def log_urn_weights(dirichlet: FloatArray, counts: FloatArray, concentration: float) -> FloatArray:
    """Return the log probabilities that the next row joins each component, or a new one (last), given a partition.

    `dirichlet` is the prior's, novelty last; `counts` are the rows of the known components and of the novel clusters.
    """
    known = dirichlet.size - 1
    novel = counts[known:].sum()
    # (8.10)  (alpha_k + N_k) / (sum alpha + n), and within novelty N_c / (gamma + N_nov) or gamma / (gamma + N_nov)
    joins = np.append(counts[:known], np.zeros(counts.size - known + 1)) + np.append(
        dirichlet[:known],
        (dirichlet[known] + novel) * np.append(counts[known:], concentration) / (concentration + novel),
    )
    return np.asarray(np.log(joins / (dirichlet.sum() + counts.sum())))


def log_component_densities(rows: FloatArray, components: Components) -> FloatArray:
    """Return log p(y | component k) of each row and component, (n, K); levels of categories come after the numbers.

    A Gaussian component predicts t_{u-p+1}(y | m, S (1 + 1 / l) / (u - p + 1)); one of another kernel the average over
    tau of t_{u-p+1}(y | m, S (1 + 1 / l) / (tau (u - p + 1))). There the doubt about the mean shares the tau of the
    row: for a component with rows this is the model but for (1 / tau - 1) / l; for a class that nobody has seen it says
    that the class may lie as far out as a row may, without which a row far from everything would count as known.
    """
    if components.levels is None:
        return _log_densities(rows, components)
    p = components.columns
    codes = codes_of(rows[:, p:], components.levels.sizes)
    return _log_densities(rows[:, :p], components) + log_level_densities(components.levels, codes)


def _log_densities(rows: FloatArray, components: Components) -> FloatArray:
    """Return the same of the numbers of rows alone."""
    n, p = rows.shape
    parts = np.empty((n, components.dof.size))
    missing = np.isnan(rows).sum(axis=1)
    if missing.any():
        whole = missing == 0
        parts[whole] = _log_densities(rows[whole], components)
        parts[~whole] = _observed_densities(rows[~whole], components, p - missing[~whole])
        return parts
    for k in range(components.dof.size):
        unit = (rows - components.mean[k]) @ components.inverse_factor[k].T
        distance = np.square(unit).sum(axis=1)  # (y - m)' S^-1 (y - m)
        kernel = components.kernels[k]
        # (8.5)  a point mass predicts its own density; (8.3), (8.4) else
        if components.fixed[k]:
            density = kernel.log_density(distance, p)
        else:
            density = kernel.log_predictive(distance, 1.0 + 1.0 / components.precision[k], components.dof[k], p)
        parts[:, k] = density - 0.5 * components.log_determinant[k]
    return parts


def _observed_densities(rows: FloatArray, components: Components, observed: IntArray) -> FloatArray:
    """Return the same of rows that have so many cells each: their marginal densities; those of no cell are 1."""
    p = rows.shape[1]
    parts = np.zeros((rows.shape[0], components.dof.size))
    for k in range(components.dof.size):
        inverse, kernel = components.inverse_factor[k], components.kernels[k]
        filled, log_missing = expected(rows, components.mean[k], inverse.T @ inverse)
        distance = np.square((filled - components.mean[k]) @ inverse.T).sum(axis=1)
        for q in np.unique(observed[observed > 0]).tolist():
            own = observed == q
            if components.fixed[k]:
                density = kernel.log_density(distance[own], q)
            else:
                # (8.11)  of q columns: u - p + 1 degrees of freedom still
                stretch, dof = 1.0 + 1.0 / components.precision[k], components.dof[k] - p + q
                density = kernel.log_predictive(distance[own], stretch, dof, q)
            # |S_oo| = |S| |P_mm|, P = S^-1
            parts[own, k] = density - 0.5 * (components.log_determinant[k] + log_missing[own])
    return parts
