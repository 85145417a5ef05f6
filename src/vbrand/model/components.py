"""A batch of K Normal-inverse-Wisharts: beliefs about the mean and covariance of each component.

    Sigma ~ InverseWishart(u, S),  mu | Sigma ~ N(m, Sigma / l)

An infinite l marks a component that is known exactly (inductive learning): a point mass at mean m and covariance S.

Rows are N(mu, Sigma / tau), and the kernel of the component says what tau is.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg

from vbrand.compiling import from_python, plain
from vbrand.model import wishart as formulas
from vbrand.model.kernels import Kernel
from vbrand.model.levels import Levels, diverge_levels, level_evidence, levels_from, stacked_levels
from vbrand.model.statistics import Statistics, sums_of
from vbrand.model.wishart import Roots, Wisharts
from vbrand.types import BoolArray, FloatArray, IntArray

_log_precisions = from_python(formulas.log_precisions)
_diverge = from_python(formulas.diverge)
_explain = from_python(formulas.explain)


@dataclass(frozen=True)
class Components:
    """K Normal-inverse-Wisharts (2.5), prior or posterior."""

    mean: FloatArray  # (K, p) m
    precision: FloatArray  # (K,) l
    dof: FloatArray  # (K,) u
    scale: FloatArray  # (K, p, p) S
    kernels: tuple[Kernel, ...]  # K of them: how rows scatter about the mean
    noise: FloatArray | None = None  # (p, p) D, what rounding hides of the scatter of any row; None: nothing
    levels: Levels | None = None  # of columns of categories; None: there are none

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
    def roots(self) -> Roots:
        """Return the lower Cholesky factors L of the scales, L^-1, (K, p, p), and log |S|, (K,)."""
        factor = np.linalg.cholesky(self.scale)
        inverse = np.array([linalg.lapack.dtrtri(one, lower=True)[0] for one in factor]).reshape(factor.shape)
        return Roots(factor, inverse, 2.0 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1))

    @cached_property
    def wisharts(self) -> Wisharts:
        """Return the components as compiled formulas take them, which only read them."""
        p = self.columns
        noise = np.zeros((p, p)) if self.noise is None else plain(self.noise)
        return Wisharts(plain(self.mean), plain(self.precision), plain(self.dof), plain(self.scale), noise)

    @cached_property
    def codes(self) -> tuple[IntArray, FloatArray]:
        """Return which kernel each component has, as compiled formulas know it, and its shape: (K,) each."""
        kind = np.array([kernel.code for kernel in self.kernels], dtype=np.int64)
        return kind, np.array([kernel.shape for kernel in self.kernels], dtype=np.float64)

    @property
    def factor(self) -> FloatArray:
        """Return the lower Cholesky factors of the scales, (K, p, p)."""
        return np.asarray(self.roots.factor)

    @property
    def inverse_factor(self) -> FloatArray:
        """Return L^-1 of S = L L', (K, p, p)."""
        return np.asarray(self.roots.inverse)

    @property
    def log_determinant(self) -> FloatArray:
        """Return log |S|, (K,)."""
        return np.asarray(self.roots.log_determinant)

    @property
    def columns(self) -> int:
        """Return p."""
        return int(self.mean.shape[1])

    def reordered(self, order: IntArray) -> "Components":
        """Return the components in another order."""
        kernels = tuple(self.kernels[k] for k in order.tolist())
        levels = None if self.levels is None else self.levels.reordered(order)
        chosen = Components(
            self.mean[order], self.precision[order], self.dof[order], self.scale[order], kernels, self.noise, levels
        )
        if "roots" in self.__dict__:  # what is known already
            chosen.__dict__["roots"] = Roots(*(part[order] for part in self.roots))
        return chosen


def stacked(first: Components, second: Components) -> Components:
    """Return the components of both."""
    return Components(
        mean=np.concatenate([first.mean, second.mean]),
        precision=np.concatenate([first.precision, second.precision]),
        dof=np.concatenate([first.dof, second.dof]),
        scale=np.concatenate([first.scale, second.scale]),
        kernels=first.kernels + second.kernels,
        noise=first.noise,
        levels=stacked_levels(first.levels, second.levels),
    )


def copied(wisharts: Wisharts) -> Wisharts:
    """Return Normal-inverse-Wisharts that may be overwritten, of rows with the same noise."""
    mean, precision, dof, scale, noise = wisharts
    return Wisharts(mean.copy(), precision.copy(), dof.copy(), scale.copy(), noise)


def components_of(wisharts: Wisharts, before: Components) -> Components:
    """Return what compiled formulas have stored; kernels and noise are those of the components before."""
    return Components(wisharts.mean, wisharts.precision, wisharts.dof, wisharts.scale, before.kernels, before.noise)


def room_for(components: int, noise: FloatArray) -> tuple[Wisharts, Roots]:
    """Return room for so many components of rows with this noise, (p, p), and for their roots."""
    p = noise.shape[0]
    shape, numbers = (components, p, p), np.empty((3, components))
    wisharts = Wisharts(np.empty((components, p)), numbers[0], numbers[1], np.empty(shape), noise)
    return wisharts, Roots(np.empty(shape), np.empty(shape), numbers[2])


def posterior_from(prior: Components, statistics: Statistics) -> Components:
    """Return the best Normal-inverse-Wisharts for rows with these statistics; point masses stay."""
    before = prior.wisharts
    posterior, _ = room_for(prior.dof.size, before.noise)
    formulas.update(before, sums_of(statistics), posterior)
    return replace(components_of(posterior, prior), levels=levels_from(prior.levels, statistics.levels))


def expected_log_precision(components: Components) -> FloatArray:
    """Return E log |Sigma^-1| of each component, (K,)."""
    result = np.empty(components.dof.size)
    _log_precisions(components.precision, components.dof, components.log_determinant, components.columns, result)
    return result


def divergence(posterior: Components, prior: Components) -> FloatArray:
    """Return KL(posterior || prior) of each component, (K,); 0 for point masses."""
    result = np.empty(prior.dof.size)
    _diverge(posterior.wisharts, posterior.roots, prior.wisharts, prior.roots, result)
    if posterior.levels is not None and prior.levels is not None:
        result += diverge_levels(posterior.levels, prior.levels)
    return result


def evidence(prior: Components, statistics: Statistics, of: IntArray | None = None) -> FloatArray:
    """Return what each component adds to the bound at its optimum for rows with these statistics, (K,).

    Its expected log density, summed over its rows, minus its divergence from the prior: for rows that belong to it
    alone the log marginal likelihood. `of` says which component of the prior each one has; all the same number if not.
    """
    chosen = np.arange(prior.dof.size) if of is None else of
    result = np.empty(chosen.size)
    before = prior.wisharts
    _explain(before, prior.roots, chosen, sums_of(statistics), room_for(2, before.noise)[0], result)
    if prior.levels is not None and statistics.levels is not None:
        result += level_evidence(prior.levels, statistics.levels, chosen)
    return result
