"""Small random priors, posteriors and rows that the tests of model and inference share."""

import numpy as np
from scipy import stats

from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.model.components import Components
from vbrand.model.kernels import KERNELS, Gaussian, Student
from vbrand.model.posterior import updated
from vbrand.model.prior import Prior
from vbrand.model.weights import prior_weights

GAUSSIAN = Gaussian()
# those of the setting `kernel`, and one with heavier tails than any: a new kernel is tested as soon as it can be chosen
EVERY_KERNEL = sorted({kernel for each in KERNELS.values() for kernel in each} | {Student(2.5)}, key=str)


def random_components(rng, k, p, kernel=GAUSSIAN):
    scale = stats.wishart(p + 2, np.eye(p)).rvs(k, random_state=rng).reshape(k, p, p) + 0.5 * np.eye(p)
    return Components(
        mean=rng.normal(size=(k, p)),
        precision=rng.gamma(2.0, size=k),
        dof=p + rng.gamma(3.0, size=k),
        scale=scale,
        kernels=(kernel,) * k,
    )


def random_prior(rng, known, novel, p, fixed=False, kernel=GAUSSIAN):
    components = random_components(rng, known + novel, p, kernel)
    base = components.reordered(np.r_[np.arange(known), np.full(novel, known)])
    if fixed:
        base.precision[:known] = np.inf
    weights = prior_weights(rng.gamma(2.0, size=known + 1), rng.gamma(2.0) + 0.1, novel)
    return Prior(base, weights, np.arange(known))


def random_problem(seed, n=40, known=2, novel=3, p=3, fixed=False, kernel=GAUSSIAN):
    """Return rows, prior, and a posterior after random labels."""
    rng = np.random.default_rng(seed)
    prior = random_prior(rng, known, novel, p, fixed, kernel)
    rows = rng.normal(size=(n, p)) + 3.0 * rng.integers(-1, 2, size=(n, 1))
    labels = rng.integers(0, known + novel, size=n)
    return rows, prior, updated(prior, statistics_of_labels(Rows.plain(rows), labels, known + novel))


def score_rows(rows, scores):
    """Return the score of every row in every component, (n, K): the dense reference for the kernel."""
    distance = squared_distances(rows, scores)
    heavy = scores.power * np.log1p(distance / _tail_or_one(scores))
    return scores.constant - np.where(scores.kind == Gaussian.code, 0.5 * distance, heavy)


def pulls(rows, scores):
    """Return E[tau] of every row in every component, (n, K)."""
    heavy = 2.0 * scores.power / (_tail_or_one(scores) + squared_distances(rows, scores))
    return np.where(scores.kind == Gaussian.code, 1.0, heavy)


def _tail_or_one(scores):
    return np.where(scores.kind == Gaussian.code, 1.0, scores.tail)


def squared_distances(rows, scores):
    working = rows.working(slice(None))
    return np.stack(
        [
            np.square((working - centre) @ root.T).sum(axis=1)
            for centre, root in zip(scores.centre, scores.root, strict=True)
        ],
        axis=1,
    )
