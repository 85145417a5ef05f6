"""What earlier rows taught: statistics that lie between two beliefs, and the prior that they make for later rows.

Beliefs are conjugate, so a posterior is the prior of the next batch, and batches that are shared out as one table are
the same as that table. Groups that were found before stand beside the known components then: the posterior of a
Dirichlet process is a Dirichlet over its groups and what is left of it.
"""

from dataclasses import replace

import numpy as np

from vbrand.model.components import posterior_from, stacked
from vbrand.model.posterior import Posterior
from vbrand.model.prior import Prior, with_novelties
from vbrand.model.statistics import Statistics
from vbrand.types import IntArray


def taught_by(prior: Prior, posterior: Posterior) -> Statistics:
    """Return the statistics of the rows that made a posterior of a prior, about its means.

    Of point masses, which rows do not change, only the counts are told.
    """
    after = posterior.components
    before = with_novelties(prior, after.dof.size - prior.known).components
    fixed = before.fixed
    free = np.where(fixed, 0.0, before.precision)[:, None]  # lambda
    moved = after.mean - before.mean

    known = posterior.weights.dirichlet[: prior.known] - prior.weights.dirichlet[: prior.known]
    own = np.append(known, np.zeros(after.dof.size - prior.known))
    counts = np.maximum(np.where(fixed, own, after.dof - before.dof), 0.0)
    weights = counts.copy()
    np.subtract(after.precision, before.precision, out=weights, where=~fixed)
    weights = np.maximum(weights, 0.0)  # rounding makes less than none

    # (14.1)  N = u - nu,  R = l - lambda;  about o = m:  s = lambda (m - m0),
    #         Q = S - Psi - R D - lambda (m - m0)(m - m0)'
    squares = after.scale - before.scale - (free * moved)[:, :, None] * moved[:, None, :]
    if after.noise is not None:
        squares -= np.where(fixed, 0.0, weights)[:, None, None] * after.noise
    levels = None
    if after.levels is not None and before.levels is not None:
        # n = a - a0 of the levels of categories
        levels = np.where(after.levels.fixed[:, None], 0.0, np.maximum(after.levels.counts - before.levels.counts, 0.0))
    return Statistics(counts, weights, after.mean, free * moved, squares, 0.0, levels)


def informed(prior: Prior, taught: Statistics, class_of: IntArray) -> Prior:
    """Return the prior after earlier rows, of which components beside the known ones hold some, too.

    `taught` has the known components of the prior first. `class_of` says which class each of the others means, -1
    where it is none: they are groups that were found before.
    """
    carried = taught.counts.size - prior.known
    base = prior.components.reordered(np.full(prior.novel, prior.known))
    # (14.2)  l, u, m and S of (5.8) and (5.9) are the lambda, nu, m0 and Psi of later rows
    after = posterior_from(with_novelties(prior, carried).components, taught)
    # (14.3)  alpha_k + N_k of a known component,  N_g of a group,  alpha_0 of all that nobody has seen
    alphas = np.append(prior.weights.dirichlet[: prior.known], np.zeros(carried)) + taught.counts
    weights = replace(prior.weights, dirichlet=np.append(alphas, prior.weights.dirichlet[prior.known]))
    return Prior(stacked(after, base), weights, np.append(prior.class_of, class_of))
