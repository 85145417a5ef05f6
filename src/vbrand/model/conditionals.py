"""Draws from the conditionals of the exact model: the updates of the fit, with counts and draws for expectations.

Given who lies with whom, everything else can be drawn: concentration, order and lengths of the sticks, weights, means
and covariances. Labels of novel components are places on the stick; their order given the partition is drawn too, for
a concentration drawn from the partition alone would not go with an old order.
"""

from dataclasses import dataclass

import numpy as np

from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian
from vbrand.model.levels import Levels, starts_of
from vbrand.model.posterior import RowScores
from vbrand.model.triangles import divide, solve
from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Drawn:
    """Means and covariances of K components, Sigma^-1 = root' root."""

    mean: FloatArray  # (K, p)
    root: FloatArray  # (K, p, p) lower triangular
    levels: FloatArray | None = None  # (K, L) log theta of the levels of categories; None: there are none


def draw_components(components: Components, factor: FloatArray, generator: np.random.Generator) -> Drawn:
    """Return one draw of each Normal-inverse-Wishart; `factor` are the Cholesky factors of their scales."""
    count, p = components.mean.shape
    # (10.1)  D'D ~ Wishart(u, I), D lower triangular: D_ii^2 ~ chi2(u - p + i), i = 1..p, and N(0, 1) below
    root = np.zeros((count, p, p))
    dof = components.dof[:, None] - p + np.arange(1.0, p + 1.0)  # (K, p)
    below = np.tril_indices(p, -1)
    root[:, np.arange(p), np.arange(p)] = np.sqrt(generator.chisquare(dof))
    root[:, below[0], below[1]] = generator.standard_normal((count, below[0].size))
    root[components.fixed] = np.eye(p)  # a point mass has D = I, and infinite l
    # S = L L', Sigma^-1 = L'^-1 D'D L^-1: its root is D L^-1, lower triangular again
    divide(root, factor)
    # (10.2)  mu = m + root^-1 z / sqrt(l)
    shift = generator.standard_normal((count, p)) / np.sqrt(components.precision)[:, None]
    solve(root, shift)
    levels = None if components.levels is None else draw_levels(components.levels, generator)
    return Drawn(components.mean + shift, root, levels)


def draw_levels(levels: Levels, generator: np.random.Generator) -> FloatArray:
    """Return log theta of one draw of each Dirichlet, (K, L)."""
    # (10.16)  theta ~ Dir(a): Gamma(a) over their sum;  log Gamma(a) = log Gamma(a + 1) + log(u) / a, u ~ U(0, 1)
    small = np.log1p(-generator.random(levels.counts.shape)) / levels.counts
    logs = np.log(generator.standard_gamma(levels.counts + 1.0)) + small
    logs -= np.logaddexp.reduceat(logs, starts_of(levels.sizes), axis=1)[:, levels.column]
    return np.where(levels.fixed[:, None], np.log(levels.counts), logs)


def draw_concentration(
    prior: float | tuple[float, float], now: float, clusters: int, rows: int, generator: np.random.Generator
) -> float:
    """Return gamma given that so many novel rows lie in so many clusters (Escobar and West 1995)."""
    if not isinstance(prior, tuple):
        return prior
    shape, rate = prior
    if rows == 0:
        return _positive(generator.gamma(shape, 1.0 / rate))
    # (10.3)  x ~ Beta(gamma + 1, n);  gamma ~ Gamma(s1 + k, s2 - log x) or Gamma(s1 + k - 1, s2 - log x), with odds
    # (s1 + k - 1) : n (s2 - log x)
    rate -= float(np.log(generator.beta(now + 1.0, rows)))
    odds = (shape + clusters - 1.0) / (rows * rate)
    shape += clusters if generator.random() * (1.0 + odds) < odds else clusters - 1.0
    return _positive(generator.gamma(shape, 1.0 / rate))


def _positive(draw: float) -> float:
    """Return a draw that is not 0: a vague Gamma has most of its mass below the smallest number."""
    return max(float(draw), float(np.finfo(np.float64).tiny))


def draw_places(counts: IntArray, concentration: float, generator: np.random.Generator) -> IntArray:
    """Return the place on the stick (0, 1, ..) of each novel cluster, given how many rows they hold.

    Place after place: left empty with probability gamma / (gamma + N), N the rows of clusters that have none yet, else
    taken by one of them in proportion to its rows.
    """
    places = np.empty(counts.size, dtype=np.int64)
    waiting = counts.tolist()
    left, place = float(sum(waiting)), 0

    for _ in waiting:
        # (10.4)  a run of empty places, each with probability gamma / (gamma + N); then one in proportion to its rows
        place += int(generator.geometric(left / (concentration + left))) - 1
        mark, cluster = generator.random() * left, -1
        for c, rows in enumerate(waiting):
            if rows > 0:
                cluster = c
                mark -= rows
                if mark < 0.0:
                    break

        places[cluster] = place
        left -= waiting[cluster]
        waiting[cluster] = 0
        place += 1
    return places


def draw_log_weights(
    dirichlet: FloatArray, known: IntArray, novel: IntArray, concentration: float, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return pi (J + 1,), novelty last, and log w of known components and of places on the stick, (J + T,).

    `dirichlet` is the prior's; `known` (J,) and `novel` (T,) are the rows that they hold.
    """
    # (10.5)  pi ~ Dir(alpha_k + N_k; alpha_0 + N_nov),  v_t ~ Beta(1 + N_t, gamma + sum_{s > t} N_s)
    weights = generator.dirichlet(dirichlet + np.append(known, novel.sum()))
    later = novel.sum() - np.cumsum(novel)
    broken = generator.beta(1.0 + novel, concentration + later)
    with np.errstate(divide="ignore"):  # a weight may be too small for double precision
        log_pi, kept, left = np.log(weights), np.log(broken), np.log1p(-broken)
    before = np.concatenate([np.zeros(1), np.cumsum(left[:-1])])[: novel.size]
    return weights, np.concatenate([log_pi[:-1], log_pi[-1] + kept + before])


def draw_depths(places: IntArray, kappa: float, generator: np.random.Generator) -> IntArray:
    """Return how many novel components each row may go to, given the place that it is in (below 0: known).

    u ~ U(0, zeta), and the depth is the number of zeta_t = (1 - kappa) kappa^(t - 1) above u. So P(depth >= t) is
    zeta_t from a known component, and zeta_t / zeta_s from place s <= t: a geometric number beyond s. u itself is
    never needed.
    """
    # (10.6)  s + Geometric(1 - kappa) from place s; Geometric(1 - kappa) with probability 1 - kappa from a known one
    depths = generator.geometric(1.0 - kappa, places.size)
    return np.where(places < 0, depths * (generator.random(places.size) < 1.0 - kappa), depths + places)


def slice_scores(drawn: Drawn, log_weights: FloatArray, known: int, kappa: float) -> RowScores:
    """Return log (w_k / zeta_k N(y | mu_k, Sigma_k)) as a function of y."""
    count, p = drawn.mean.shape
    # (10.7)  log w_k - log zeta_k + log N;  log zeta: 0 for known components, log(1 - kappa) + (t - 1) log kappa else
    novel = np.log1p(-kappa) + np.arange(count - known) * np.log(kappa)
    log_zeta = np.concatenate([np.zeros(known), novel])
    log_root = np.log(np.diagonal(drawn.root, axis1=1, axis2=2)).sum(axis=1)
    constant = log_weights - log_zeta + log_root - 0.5 * p * np.log(2.0 * np.pi)
    none = np.zeros(count)
    kind = np.full(count, Gaussian.code)
    levels = None if drawn.levels is None else np.column_stack([drawn.levels, none])
    return RowScores(drawn.mean, drawn.root, constant, kind, tail=none, power=none, levels=levels)
