"""The posterior predictive density: how likely a row is before it is seen."""

import numpy as np
from scipy.special import gammaln, logsumexp

from vbrand.model.components import Components
from vbrand.model.posterior import Posterior
from vbrand.model.weights import log_expected_weights
from vbrand.types import FloatArray

# integral over tau: Newton steps to its mode, and points of Gauss-Hermite around it
_STEPS = 8
_POINTS = 11


def log_predictive(rows: FloatArray, posterior: Posterior) -> FloatArray:
    """Return the log density of rows: log sum_k of what `log_predictive_parts` gives, (n,)."""
    return np.asarray(logsumexp(log_predictive_parts(rows, posterior), axis=1))


def log_component_weights(posterior: Posterior) -> FloatArray:
    """Return log E[w_k], (K,); the last component stands for all places after its own, which are like it."""
    count = posterior.components.dof.size
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
    # (alpha_j + N_j) / (sum alpha + N), and within novelty N_c / (gamma + N_novel) or gamma / (gamma + N_novel)
    joins = np.append(counts[:known], np.zeros(counts.size - known + 1)) + np.append(
        dirichlet[:known],
        (dirichlet[known] + novel) * np.append(counts[known:], concentration) / (concentration + novel),
    )
    return np.asarray(np.log(joins / (dirichlet.sum() + counts.sum())))


def log_component_densities(rows: FloatArray, components: Components) -> FloatArray:
    """Return log p(y | component k) of each row and component, (n, K).

    A Gaussian component predicts t_{u-p+1}(y | m, S (1 + 1 / l) / (u - p + 1)); with heavy tails it is the average of
    t_{u-p+1}(y | m, S (1 + 1 / l) / (tau (u - p + 1))) over tau. There the doubt about the mean shares the tau of the
    row: for a component with rows this is the model but for (1 / tau - 1) / l; for a class that nobody has seen it says
    that the class may lie as far out as a row may, without which a row far from everything would count as known.
    """
    n, p = rows.shape
    parts = np.empty((n, components.dof.size))
    for k in range(components.dof.size):
        unit = (rows - components.mean[k]) @ components.inverse_factor[k].T
        distance = np.square(unit).sum(axis=1)  # (y - m)' S^-1 (y - m)
        tail, precision, dof = components.tail[k], components.precision[k], components.dof[k]
        if components.fixed[k]:
            density = _log_known_exactly(distance, tail, p)
        elif np.isinf(tail):
            density = _log_student(distance, 1.0 + 1.0 / precision, dof, p)
        else:
            stretch = 1.0 + 1.0 / precision
            density = _log_student_scaled(distance / stretch, dof, tail, p) - 0.5 * p * np.log(stretch)
        parts[:, k] = density - 0.5 * components.log_determinant[k]
    return parts


def _log_known_exactly(distance: FloatArray, tail: float, p: int) -> FloatArray:
    """Return log N(y | m, S) or log t_d(y | m, S), without |S|."""
    if np.isinf(tail):
        return np.asarray(-0.5 * (p * np.log(2.0 * np.pi) + distance))
    constant = gammaln(0.5 * (tail + p)) - gammaln(0.5 * tail) - 0.5 * p * np.log(np.pi * tail)
    return np.asarray(constant - 0.5 * (tail + p) * np.log1p(distance / tail))


def _log_student(distance: FloatArray, stretch: float, dof: float, p: int) -> FloatArray:
    """Return log t_{u-p+1}(y | m, S stretch / (u - p + 1)), without |S|."""
    constant = gammaln(0.5 * (dof + 1.0)) - gammaln(0.5 * (dof - p + 1.0)) - 0.5 * p * np.log(np.pi * stretch)
    return np.asarray(constant - 0.5 * (dof + 1.0) * np.log1p(distance / stretch))


def _log_student_scaled(distance: FloatArray, dof: float, tail: float, p: int) -> FloatArray:
    """Return log of the average of t_{u-p+1}(y | m, S / (tau (u - p + 1))) over tau ~ Gamma(d / 2, d / 2), without |S|.

    By Gauss-Hermite about the mode of the integrand in s = log tau.
    """
    half, power = 0.5 * tail, 0.5 * (dof + 1.0)

    def log_integrand(s: FloatArray, distance: FloatArray) -> FloatArray:
        # (d + p)/2 s - d/2 e^s - (u + 1)/2 log(1 + D e^s)
        return np.asarray((half + 0.5 * p) * s - half * np.exp(s) - power * np.log1p(distance * np.exp(s)))

    s = np.log((tail + p) / (tail + (dof - p + 1.0) * distance))  # right where u is large; where it is small, 0 is near
    s = np.where(log_integrand(s, distance) > log_integrand(np.zeros(1), distance), s, 0.0)
    for _ in range(_STEPS):
        tau = np.exp(s)
        share = distance * tau / (1.0 + distance * tau)
        slope = half + 0.5 * p - half * tau - power * share
        bend = -half * tau - power * share * (1.0 - share)  # the integrand is log-concave
        s -= np.clip(slope / bend, -1.0, 1.0)
    width = np.sqrt(-2.0 / bend)
    nodes, weights = np.polynomial.hermite.hermgauss(_POINTS)
    value = log_integrand(s[:, None] + width[:, None] * nodes, distance[:, None])  # (n, points)
    integral = logsumexp(value + np.square(nodes) + np.log(weights), axis=1) + np.log(width)
    constant = gammaln(power) - gammaln(power - 0.5 * p) - 0.5 * p * np.log(np.pi)
    return np.asarray(constant + half * np.log(half) - gammaln(half) + integral)
