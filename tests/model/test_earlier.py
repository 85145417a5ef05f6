"""What earlier rows taught: two batches are one table, and a belief tells what made it."""

import numpy as np
import pytest

from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.model.components import Components, evidence
from vbrand.model.earlier import informed, taught_by
from vbrand.model.kernels import Gaussian
from vbrand.model.posterior import updated
from vbrand.model.prior import Prior
from vbrand.model.weights import log_expected_weights, prior_weights


def prior_of(noise=None, fixed=False):
    """Return a prior of one known component and a base measure, in two columns."""
    components = Components(
        np.array([[0.0, 0.0], [1.0, -1.0], [1.0, -1.0]]),
        np.array([np.inf if fixed else 20.0, 0.1, 0.1]),
        np.array([25.0, 6.0, 6.0]),
        np.array([20.0 * np.eye(2), [[3.0, 1.0], [1.0, 2.0]], [[3.0, 1.0], [1.0, 2.0]]]),
        (Gaussian(),) * 3,
        noise,
    )
    return Prior(components, prior_weights(np.ones(2), 1.0, 2), np.array([0]))


def rows_of(seed, count):
    """Return rows of the known component and of a novel one."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(count, 2)), rng.normal(6.0, 2.0, (count, 2))]), np.repeat([0, 1], count)


@pytest.mark.parametrize("noise", [None, np.diag([0.0, 0.3])])
def test_a_posterior_tells_the_statistics_that_made_it(noise):
    prior = prior_of(noise)
    rows, component = rows_of(0, 30)
    made = statistics_of_labels(Rows.plain(rows), component, 3)
    told = taught_by(prior, updated(prior, made)).about(made.origin)
    for name in ("counts", "weights", "sums", "squares"):
        np.testing.assert_allclose(getattr(told, name), getattr(made, name), atol=1e-9)


def test_of_a_point_mass_the_rows_are_counted():
    prior = prior_of(fixed=True)
    rows, component = rows_of(0, 30)
    told = taught_by(prior, updated(prior, statistics_of_labels(Rows.plain(rows), component, 3)))
    np.testing.assert_allclose(told.counts, [30.0, 30.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("noise", [None, np.diag([0.0, 0.3])])
def test_two_batches_that_are_shared_out_alike_are_one_table(noise):
    prior = prior_of(noise)
    (first, own), (second, other) = rows_of(1, 40), rows_of(2, 25)
    before = updated(prior, statistics_of_labels(Rows.plain(first), own, 3))
    taught = taught_by(prior, before).reordered(np.array([0, 1]))
    later = informed(prior, taught, np.array([-1]))
    after = updated(later, statistics_of_labels(Rows.plain(second), other, later.components.dof.size))

    both = statistics_of_labels(Rows.plain(np.vstack([first, second])), np.append(own, other), 3)
    once = updated(prior, both).components
    for name in ("mean", "precision", "dof", "scale"):
        np.testing.assert_allclose(getattr(after.components, name)[:2], getattr(once, name)[:2], rtol=1e-9)


def test_later_rows_are_as_likely_as_the_chain_rule_says():
    # log p(later | earlier) = log p(both) - log p(earlier), each a marginal likelihood (7.1)
    prior = prior_of()
    (first, own), (second, other) = rows_of(3, 12), rows_of(4, 9)
    earlier = statistics_of_labels(Rows.plain(first), own, 2)
    both = statistics_of_labels(Rows.plain(np.vstack([first, second])), np.append(own, other), 2)
    informed_components = informed(prior, earlier, np.array([-1])).components.reordered(np.array([0, 1]))
    later = evidence(informed_components, statistics_of_labels(Rows.plain(second), other, 2))
    components = prior.components.reordered(np.array([0, 1]))
    np.testing.assert_allclose(later, evidence(components, both) - evidence(components, earlier), rtol=1e-9)


def test_groups_and_what_nobody_has_seen_share_novelty_as_in_an_urn():
    # given rows in groups, the next one joins a group by its rows, or a new one by the concentration, here alpha_0
    prior = prior_of()
    taught = statistics_of_labels(Rows.plain(np.zeros((10, 2))), np.array([0] * 4 + [1] * 5 + [2]), 3)
    later = informed(prior, taught, np.array([-1, -1]))
    shares = np.exp(log_expected_weights(later.weights))
    np.testing.assert_allclose(shares[:3], np.array([1 + 4, 5, 1]) / 12)
    np.testing.assert_allclose(shares[3:].sum(), 1 / 12)
    assert later.known == 3
    assert later.novel == prior.novel
