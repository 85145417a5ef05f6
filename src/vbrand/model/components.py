"""A batch of K Normal-inverse-Wisharts: beliefs about the mean and covariance of each component.

    Sigma ~ InverseWishart(u, S),  mu | Sigma ~ N(m, Sigma / l)

An infinite l marks a component that is known exactly (inductive learning): a point mass at mean m and covariance S.

Rows are N(mu, Sigma / tau), and the kernel of the component says what tau is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg
from scipy.special import digamma, multigammaln

from vbrand.model.kernels import Kernel
from vbrand.model.statistics import Statistics
from vbrand.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Components:
    """K Normal-inverse-Wisharts (2.5), prior or posterior."""

    mean: FloatArray  # (K, p) m
    precision: FloatArray  # (K,) l
    dof: FloatArray  # (K,) u
    scale: FloatArray  # (K, p, p) S
    kernels: tuple[Kernel, ...]  # K of them: how rows scatter about the mean

    @property
    def fixed(self) -> BoolArray:
        """Return which components are point masses: (2.7)  l = infinity."""
        return np.isinf(self.precision)

    @property
    def divisor(self) -> FloatArray:
        """Return u - p - 1, by which E[Sigma] is smaller than S; 1 for point masses, (K,)."""
        return np.where(self.fixed, 1.0, self.dof - self.columns - 1.0)

    @property
    def expected_scatter(self) -> FloatArray:
        """Return E[Sigma], (K, p, p); NaN where u is too small for there to be one."""
        # (2.6)  E[Sigma] = S / (u - p - 1)
        return self.scale / np.where(self.divisor > 0.0, self.divisor, np.nan)[:, None, None]

    @cached_property
    def factor(self) -> FloatArray:
        """Return the lower Cholesky factors of the scales, (K, p, p)."""
        return np.asarray(np.linalg.cholesky(self.scale), dtype=np.float64)

    @cached_property
    def inverse_factor(self) -> FloatArray:
        """Return L^-1 of S = L L', (K, p, p)."""
        inverse = [linalg.lapack.dtrtri(factor, lower=True)[0] for factor in self.factor]
        return np.array(inverse).reshape(self.scale.shape)

    @cached_property
    def log_determinant(self) -> FloatArray:
        """Return log |S|, (K,)."""
        return np.asarray(2.0 * np.log(np.diagonal(self.factor, axis1=1, axis2=2)).sum(axis=1))

    @property
    def columns(self) -> int:
        """Return p."""
        return int(self.mean.shape[1])

    def reordered(self, order: IntArray) -> "Components":
        """Return the components in another order."""
        kernels = tuple(self.kernels[k] for k in order.tolist())
        return Components(self.mean[order], self.precision[order], self.dof[order], self.scale[order], kernels)


def stacked(first: Components, second: Components) -> Components:
    """Return the components of both."""
    return Components(
        mean=np.concatenate([first.mean, second.mean]),
        precision=np.concatenate([first.precision, second.precision]),
        dof=np.concatenate([first.dof, second.dof]),
        scale=np.concatenate([first.scale, second.scale]),
        kernels=first.kernels + second.kernels,
    )


def posterior_from(prior: Components, statistics: Statistics) -> Components:
    """Return the best Normal-inverse-Wisharts for rows with these statistics; point masses stay."""
    weights = statistics.weights
    moved = statistics.origin - prior.mean  # (K, p)
    # (5.4)  ybar = o + s / R,  W = Q - s s' / R;  nothing where R = 0
    share = np.where(weights > 0.0, weights, 1.0)
    drift = statistics.sums / share[:, None]  # (K, p)
    within = statistics.squares - weights[:, None, None] * _outer(drift)
    # (5.8)  l = lambda + R,  u = nu + N,  m = (lambda m0 + R ybar) / l
    precision = prior.precision + weights
    distance = np.where(weights[:, None] > 0.0, moved + drift, 0.0)  # ybar - m0
    pull = np.where(prior.fixed, 0.0, weights / precision)
    mean = prior.mean + pull[:, None] * distance
    # (5.9)  S = Psi + W + lambda R / l (ybar - m0)(ybar - m0)'
    tension = np.where(prior.fixed, 0.0, prior.precision) * pull
    scale = prior.scale + within + tension[:, None, None] * _outer(distance)
    scale = 0.5 * (scale + scale.transpose(0, 2, 1))
    keep = prior.fixed
    return Components(
        mean=np.where(keep[:, None], prior.mean, mean),
        precision=precision,
        dof=np.where(keep, prior.dof, prior.dof + statistics.counts),
        scale=np.where(keep[:, None, None], prior.scale, scale),
        kernels=prior.kernels,
    )


def expected_log_precision(components: Components) -> FloatArray:
    """Return E log |Sigma^-1| of each component, (K,)."""
    p = components.columns
    # (5.11)  p log 2 - log|S| + sum_i psi((u + 1 - i) / 2)
    terms = digamma(0.5 * (components.dof[:, None] - np.arange(p)))
    free = p * np.log(2.0) - components.log_determinant + terms.sum(axis=1)
    return np.where(components.fixed, -components.log_determinant, free)


def divergence(posterior: Components, prior: Components) -> FloatArray:
    """Return KL(posterior || prior) of each component, (K,); 0 for point masses."""
    p = posterior.columns
    fixed = prior.fixed
    free = np.where(fixed, 1.0, prior.precision)  # lambda
    length = np.where(fixed, 1.0, posterior.precision)  # l
    u, nu = posterior.dof, prior.dof
    inverse = posterior.inverse_factor
    moved = np.einsum("kij,kj->ki", inverse, posterior.mean - prior.mean)  # L^-1 (m - m0)
    trace = np.square(inverse @ prior.factor).sum(axis=(1, 2))  # tr(Psi S^-1)
    # (6.7)  1/2 [p log(l / lambda) - p + p lambda / l + lambda u (m - m0)' S^-1 (m - m0)]
    means = 0.5 * (p * np.log(length / free) - p + p * free / length + free * u * np.square(moved).sum(axis=1))
    # .. + log B(S, u) - log B(Psi, nu) + (u - nu) / 2 E log|Sigma^-1| - u p / 2 + u / 2 tr(Psi S^-1)
    scatters = (
        _log_normaliser(posterior.log_determinant, u, p)
        - _log_normaliser(prior.log_determinant, nu, p)
        + 0.5 * (u - nu) * expected_log_precision(posterior)
        + 0.5 * u * (trace - p)
    )
    return np.where(fixed, 0.0, means + scatters)


def evidence(prior: Components, statistics: Statistics) -> FloatArray:
    """Return what each component adds to the bound at its optimum for rows with these statistics, (K,).

    Its expected log density, summed over its rows, minus its divergence from the prior: for rows that belong to it
    alone the log marginal likelihood.
    """
    p = prior.columns
    posterior = posterior_from(prior, statistics)
    # (7.1)  -N p / 2 log 2 pi + log B(Psi, nu) - log B(S, u) + p / 2 log(lambda / l)
    length = np.where(prior.fixed, 1.0, prior.precision) / np.where(prior.fixed, 1.0, posterior.precision)
    free = (
        _log_normaliser(prior.log_determinant, prior.dof, p)
        - _log_normaliser(posterior.log_determinant, posterior.dof, p)
        + 0.5 * p * np.log(length)
    )
    free -= 0.5 * p * np.log(2.0 * np.pi) * statistics.counts
    if prior.fixed.any():
        free[prior.fixed] = _evidence_of_point_masses(prior, statistics)[prior.fixed]
    return np.asarray(free)


def _evidence_of_point_masses(prior: Components, statistics: Statistics) -> FloatArray:
    """Return the sum over rows of log N(y | m0, Psi), (K,)."""
    about = statistics.about(prior.mean).squares
    inverse = prior.inverse_factor
    distance = np.trace(inverse @ about @ inverse.transpose(0, 2, 1), axis1=1, axis2=2)
    # (7.2)  -1/2 [N (p log 2 pi + log|Psi|) + tr(Psi^-1 Q)],  Q about m0
    constant = prior.columns * np.log(2.0 * np.pi) + prior.log_determinant
    return np.asarray(-0.5 * (statistics.counts * constant + distance))


def _log_normaliser(log_determinant: FloatArray, dof: FloatArray, p: int) -> FloatArray:
    """Return log B of a Wishart whose inverse scale matrix has this log determinant."""
    # (6.8)  log B = u / 2 log|S| - u p / 2 log 2 - log G_p(u / 2)
    return np.asarray(0.5 * dof * (log_determinant - p * np.log(2.0)) - multigammaln(0.5 * dof, p))


def _outer(vectors: FloatArray) -> FloatArray:
    return vectors[:, :, None] * vectors[:, None, :]
