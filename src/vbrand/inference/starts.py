"""Where to begin: one novelty, k-means, multipliers from a Latin hypercube, given labels."""

from dataclasses import replace

import numpy as np
from scipy.stats import qmc
from sklearn.cluster import KMeans

from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.inference.tuning import TUNED, SearchTuning
from vbrand.model.components import posterior_from
from vbrand.model.gaps import by_moments
from vbrand.model.levels import spread_levels
from vbrand.model.posterior import Posterior, updated
from vbrand.model.prior import Prior
from vbrand.model.weights import Weights, weights_from
from vbrand.samples import every_kth
from vbrand.types import FloatArray, IntArray


def from_labels(rows: Rows, prior: Prior, component: IntArray) -> Posterior:
    """Return the posterior of rows that are put into one component each, 0..J+T-1."""
    return updated(prior, statistics_of_labels(rows, component, prior.known + prior.opened))


def one_novelty(rows: Rows, prior: Prior) -> Posterior:
    """Return known classes as the prior has them, and one novel component as wide as all the rows."""
    everything = statistics_of_labels(rows, np.full(len(rows), prior.known), prior.known + prior.opened)
    return Posterior(posterior_from(prior.components, everything), _weights(prior))


def k_means(rows: Rows, prior: Prior, groups: int, seed: int, tuning: SearchTuning = TUNED) -> Posterior:
    """Return the prior with some novel means at the centres of k-means on standardised rows.

    Each mean is as certain as the rows of its cluster make it; a vague one would lose all its rows to known classes.
    """
    sample, share = _sample(rows, tuning.rows_for_k_means)
    standard = _standardised(sample.numbers(slice(None)))
    if rows.levels:
        standard = np.column_stack([standard, spread_levels(sample.codes(slice(None)), sum(rows.levels))])
    groups = min(groups, prior.novel, np.unique(standard, axis=0).shape[0])
    found = KMeans(groups, n_init=1, random_state=seed).fit(standard)

    split = statistics_of_labels(sample, prior.known + found.labels_, prior.known + prior.opened)
    novel = slice(prior.known, prior.known + groups)
    start = posterior_from(prior.components, split)

    dof, scale, precision = start.dof.copy(), start.scale.copy(), start.precision.copy()
    dof[novel], scale[novel] = prior.components.dof[novel], prior.components.scale[novel]
    precision[novel] = prior.components.precision[novel] + split.counts[novel] / share
    return Posterior(replace(start, precision=precision, dof=dof, scale=scale), _weights(prior))


def multipliers(starts: int, generator: np.random.Generator, tuning: SearchTuning = TUNED) -> FloatArray:
    """Return one row of multipliers per start, a Latin hypercube, (starts, 3)."""
    unit = qmc.LatinHypercube(d=3, rng=generator).random(starts)
    return np.asarray(qmc.scale(unit, tuning.lowest_multipliers, tuning.highest_multipliers))


def multiplied_k_means(
    rows: Rows, prior: Prior, seed: int, factors: FloatArray, tuning: SearchTuning = TUNED
) -> Posterior:
    """Return the start of the paper's protocol.

    Novel means at the centres of k-means; novelty weight, degrees of freedom and mean strength of novel components
    are those of the prior times three factors.
    """
    start = k_means(rows, prior, prior.novel, seed, tuning).components
    known = prior.known

    weights = _weights(prior)
    dirichlet = weights.dirichlet.copy()
    dirichlet[known] *= factors[0]
    dof, precision = prior.components.dof.copy(), prior.components.precision.copy()
    dof[known:] *= factors[1]
    precision[known:] *= factors[2]

    return Posterior(replace(start, dof=dof, precision=precision), replace(weights, dirichlet=dirichlet))


def _weights(prior: Prior) -> Weights:
    """Return the weights before any row is seen, as a factor of the posterior.

    The prior itself is none where the concentration is learned: its sticks depend on gamma, and no bound belongs to it.
    """
    return weights_from(prior.weights, np.zeros(prior.known + prior.opened))


def _sample(rows: Rows, most: int) -> tuple[Rows, float]:
    """Return the rows in working coordinates, of a long table an even sample, and the share of them that it is."""
    sample = Rows.plain(rows.working(every_kth(len(rows), most)), rows.levels)
    return sample, len(sample) / len(rows)


def _standardised(rows: FloatArray) -> FloatArray:
    """Return rows about their median, in units that a tenth of wild rows can't change; missing cells at their mean."""
    if np.isnan(rows).any():
        rows, _ = by_moments(rows, np.zeros(rows.shape[0], dtype=np.int64), 1)
    low, middle, high = np.quantile(rows, [0.1, 0.5, 0.9], axis=0)
    scale = np.where(high > low, high - low, rows.std(axis=0))
    return np.asarray((rows - middle) / np.where(scale > 0.0, scale, 1.0))
