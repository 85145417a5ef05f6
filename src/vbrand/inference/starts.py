"""Where to begin: one novelty, k-means, multipliers from a Latin hypercube, given labels."""

from dataclasses import replace

import numpy as np
from scipy.stats import qmc
from sklearn.cluster import KMeans

from vbrand.inference.kernel import Rows, statistics_of_labels
from vbrand.model.components import posterior_from
from vbrand.model.posterior import Posterior, before_rows, updated
from vbrand.model.predictive import log_predictive_parts
from vbrand.model.prior import Prior, with_one_novelty
from vbrand.types import FloatArray, IntArray

# how the start multiplies novelty weight, degrees of freedom and mean strength in the paper's protocol
_LOWEST_MULTIPLIERS = (0.1, 1.0, 1.0)
_HIGHEST_MULTIPLIERS = (1.0, 10.0, 10.0)
_ROWS_FOR_K_MEANS = 50_000
# ranges between the outer tenths beyond which a row is wild
_WILD = 10.0


def from_labels(rows: Rows, prior: Prior, component: IntArray) -> Posterior:
    """Return the posterior of rows that are put into one component each, 0..J+T-1."""
    return updated(prior, statistics_of_labels(rows, component, prior.known + prior.novel))


def one_novelty(rows: Rows, prior: Prior) -> Posterior:
    """Return known classes as the prior has them, and one novel component as wide as all the rows."""
    everything = from_labels(rows, prior, np.full(len(rows), prior.known))
    return Posterior(everything.components, prior.weights)


def k_means(rows: Rows, prior: Prior, groups: int, seed: int, among: IntArray | None = None) -> Posterior:
    """Return the prior with some novel means at the centres of k-means on standardised rows, or some of them.

    Each mean is as certain as the rows of its cluster make it; a vague one would lose all its rows to known classes.
    Wild rows get components of their own, lest they tear another one apart: one each, or a wide one if they are many.
    """
    sample, share = _sample(rows, among)
    standard = _standardised(sample)
    wild = np.abs(standard).max(axis=1) > _WILD
    groups = min(groups, prior.novel, np.unique(standard[~wild], axis=0).shape[0])
    found = KMeans(groups, n_init=1, random_state=seed).fit(standard[~wild])
    place = np.full(sample.shape[0], prior.known + min(groups, prior.novel - 1))
    place[~wild] = prior.known + found.labels_
    if 0 < wild.sum() <= prior.novel - groups:
        place[wild] += np.arange(wild.sum())
    split = statistics_of_labels(Rows.plain(sample), place, prior.known + prior.novel)
    novel = slice(prior.known, prior.known + groups)
    start = posterior_from(prior.components, split)
    dof, scale, precision = start.dof.copy(), start.scale.copy(), start.precision.copy()
    dof[novel], scale[novel] = prior.components.dof[novel], prior.components.scale[novel]
    precision[novel] = prior.components.precision[novel] + split.counts[novel] / share
    return Posterior(replace(start, precision=precision, dof=dof, scale=scale), prior.weights)


def multipliers(starts: int, generator: np.random.Generator) -> FloatArray:
    """Return one row of multipliers a start, a Latin hypercube, (starts, 3)."""
    unit = qmc.LatinHypercube(d=3, rng=generator).random(starts)
    return np.asarray(qmc.scale(unit, _LOWEST_MULTIPLIERS, _HIGHEST_MULTIPLIERS))


def multiplied_k_means(rows: Rows, prior: Prior, seed: int, factors: FloatArray) -> Posterior:
    """Return the start of the paper's protocol.

    Novel means at the centres of k-means; novelty weight, degrees of freedom and mean strength of novel components
    are those of the prior times three factors.
    """
    start = k_means(rows, prior, prior.novel, seed).components
    known = prior.known
    dirichlet = prior.weights.dirichlet.copy()
    dirichlet[known] *= factors[0]
    dof, precision = prior.components.dof.copy(), prior.components.precision.copy()
    dof[known:] *= factors[1]
    precision[known:] *= factors[2]
    return Posterior(replace(start, dof=dof, precision=precision), replace(prior.weights, dirichlet=dirichlet))


def unexplained(rows: Rows, prior: Prior) -> IntArray:
    """Return the rows that the base measure predicts better than the known classes do."""
    before = before_rows(with_one_novelty(prior))
    better = list[IntArray]()
    for block in rows.blocks():
        parts = log_predictive_parts(rows.working(block), before)  # (b, J + 1)
        better.append(block.start + np.flatnonzero(parts.argmax(axis=1) == prior.known))
    return np.concatenate(better)


def _sample(rows: Rows, among: IntArray | None) -> tuple[FloatArray, float]:
    """Return some rows in working coordinates, of a long table an even sample, and the share of them that it is."""
    chosen = np.arange(len(rows)) if among is None else among
    sample = rows.working(chosen[:: -(-chosen.size // _ROWS_FOR_K_MEANS)])
    return sample, sample.shape[0] / chosen.size


def _standardised(rows: FloatArray) -> FloatArray:
    """Return rows about their median, in units that a tenth of wild rows can't change."""
    low, middle, high = np.quantile(rows, [0.1, 0.5, 0.9], axis=0)
    scale = np.where(high > low, high - low, rows.std(axis=0))
    return np.asarray((rows - middle) / np.where(scale > 0.0, scale, 1.0))
