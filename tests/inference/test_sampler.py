import numpy as np
from scipy import stats

from vbrand.inference.kernel import Rows
from vbrand.inference.sampler import Target, state_of, step
from vbrand.model.components import Components
from vbrand.model.prior import Prior
from vbrand.model.weights import prior_weights

ROWS = 6


def small_target(p, known, update_known, seed=0, concentration=(2.0, 2.0), kappa=0.4):
    rng = np.random.default_rng(seed)
    count = known + 1
    scale = np.stack([np.atleast_2d(stats.wishart(p + 6, np.eye(p)).rvs(random_state=rng)) for _ in range(count)])
    components = Components(
        mean=2.0 * rng.normal(size=(count, p)),
        precision=np.append(np.full(known, 2.0 if update_known else np.inf), 0.5),
        dof=np.full(count, p + 5.0),
        scale=scale if update_known else scale / 5.0,
        tail=np.full(count, np.inf),
    )
    dirichlet = np.append(rng.uniform(0.5, 2.0, known), 1.5)
    return Target(Prior(components, prior_weights(dirichlet, concentration, 1), np.arange(known)), concentration, kappa)


def from_the_prior(target, rng):
    """Draw labels, concentration, weights, components and rows by scipy and the Chinese restaurant."""
    prior, known = target.prior, target.prior.known
    shape, rate = target.concentration
    gamma = rng.gamma(shape, 1.0 / rate)
    weights = rng.dirichlet(prior.weights.dirichlet)
    labels, sizes = np.empty(ROWS, dtype=int), []
    for i in range(ROWS):
        label = rng.choice(known + 1, p=weights)
        if label == known:
            odds = np.array([*sizes, gamma])
            cluster = rng.choice(odds.size, p=odds / odds.sum())
            sizes = [*sizes, 0] if cluster == len(sizes) else sizes
            sizes[cluster] += 1
            label += cluster
        labels[i] = label
    means, covariances = [], []
    for k in range(known + len(sizes)):
        c = prior.components.reordered(np.array([min(k, known)]))
        if c.fixed[0]:
            mean, covariance = c.mean[0], c.scale[0]
        else:
            covariance = np.atleast_2d(stats.invwishart(c.dof[0], c.scale[0]).rvs(random_state=rng))
            mean = rng.multivariate_normal(c.mean[0], covariance / c.precision[0])
        means.append(mean)
        covariances.append(covariance)
    rows = np.stack([rng.multivariate_normal(means[k], covariances[k]) for k in labels])
    return labels, gamma, weights, rows


def features(labels, gamma, weights, rows, known):
    """Return bounded functions of parameters and rows: their means tell whether two distributions differ."""
    clusters, sizes = np.unique(labels[labels >= known], return_counts=True)
    squares = np.square(rows).sum(axis=1)
    return np.array(
        [
            np.log(gamma),
            gamma,
            clusters.size,
            (sizes.astype(float) ** 2).sum(),
            np.log(gamma) * clusters.size,
            weights[-1],
            (labels >= known).sum(),
            np.tanh(rows[:, 0] / 3.0).mean(),
            np.log(squares).mean(),
            np.tanh(squares / 10.0).mean(),
            np.tanh(rows[:, 0] / 3.0)[labels >= known].sum(),
        ]
    )


def largest_difference(target, sweeps, seed=0):
    """Return the largest z-score between draws from the prior and draws with rows given parameters in turn (Geweke)."""
    known = target.prior.known
    rng = np.random.default_rng(seed)
    direct = np.stack([features(*from_the_prior(target, rng), known) for _ in range(sweeps // 2)])
    labels, gamma, _, rows = from_the_prior(target, rng)
    chain = np.empty((sweeps, direct.shape[1]))
    for i in range(sweeps):
        state, sample = step(Rows.plain(rows), target, state_of(Rows.plain(rows), known, labels, gamma), rng)
        labels, gamma = state.labels, state.concentration
        noise = rng.normal(size=rows.shape)
        drawn = sample.components
        rows = np.stack(
            [drawn.mean[k] + np.linalg.solve(drawn.root[k], z) for k, z in zip(sample.places, noise, strict=True)]
        )
        chain[i] = features(labels, gamma, sample.weights, rows, known)
    batches = chain.reshape(50, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 50 + direct.var(axis=0, ddof=1) / direct.shape[0])
    difference = chain.mean(axis=0) - direct.mean(axis=0)
    same = np.abs(difference) < 1e-12  # no known classes: weights are one
    z = np.where(same, 0.0, difference / np.where(same, 1.0, error))
    return z
