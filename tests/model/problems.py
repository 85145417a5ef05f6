"""Small random priors, posteriors and rows that the tests of model and inference share."""

import numpy as np
from scipy import stats

from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.model.components import Components
from vbrand.model.posterior import updated
from vbrand.model.prior import Prior
from vbrand.model.weights import prior_weights


def random_components(rng, k, p, tail=np.inf):
    scale = stats.wishart(p + 2, np.eye(p)).rvs(k, random_state=rng).reshape(k, p, p) + 0.5 * np.eye(p)
    return Components(
        mean=rng.normal(size=(k, p)),
        precision=rng.gamma(2.0, size=k),
        dof=p + rng.gamma(3.0, size=k),
        scale=scale,
        tail=np.full(k, tail),
    )


def random_prior(rng, known, novel, p, fixed=False, tail=np.inf):
    components = random_components(rng, known + novel, p, tail)
    base = components.reordered(np.r_[np.arange(known), np.full(novel, known)])
    if fixed:
        base.precision[:known] = np.inf
    weights = prior_weights(rng.gamma(2.0, size=known + 1), rng.gamma(2.0) + 0.1, novel)
    return Prior(base, weights, np.arange(known))


def random_problem(seed, n=40, known=2, novel=3, p=3, fixed=False, tail=np.inf):
    """Return rows, prior, and a posterior after random labels."""
    rng = np.random.default_rng(seed)
    prior = random_prior(rng, known, novel, p, fixed, tail)
    rows = rng.normal(size=(n, p)) + 3.0 * rng.integers(-1, 2, size=(n, 1))
    labels = rng.integers(0, known + novel, size=n)
    return rows, prior, updated(prior, statistics_of_labels(Rows.plain(rows), labels, known + novel))


def score_rows(rows, scores):
    """Return the score of every row in every component, (n, K): the dense reference for the kernel."""
    distance = squared_distances(rows, scores)
    heavy = scores.power * np.log1p(distance / scores.tail)
    return scores.constant - np.where(np.isinf(scores.tail), 0.5 * distance, heavy)


def pulls(rows, scores):
    """Return E[tau] of every row in every component, (n, K)."""
    heavy = 2.0 * scores.power / (scores.tail + squared_distances(rows, scores))
    return np.where(np.isinf(scores.tail), 1.0, heavy)


def squared_distances(rows, scores):
    working = rows.working(slice(None))
    return np.stack(
        [
            np.square((working - centre) @ root.T).sum(axis=1)
            for centre, root in zip(scores.centre, scores.root, strict=True)
        ],
        axis=1,
    )
