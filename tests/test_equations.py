"""Equations of docs/model.md that no other test derives a second time: by quadrature, by loops, by scipy."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gammaln, logsumexp
from shared import SHARED, needs_shared

from vbrand.discovery.memberships import memberships
from vbrand.inference.cavi import ascend
from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.moves import merges, releases
from vbrand.inference.rows import Rows
from vbrand.inference.starts import from_labels
from vbrand.model.components import Components, evidence
from vbrand.model.kernels import Gaussian
from vbrand.model.posterior import Posterior
from vbrand.model.predictive import log_component_weights
from vbrand.model.prior import with_novelties
from vbrand.model.weights import log_expected_weights, prior_weights, weights_evidence, weights_from
from vbrand.robust.scale import _expected_clipped_square
from vbrand.stage1.classes import learn_classes
from vbrand.stage1.elicit import Beliefs, elicit
from vbrand.studies.simulate import DESIGNS
from vbrand.trust.meaning import Meaning


def test_the_clipped_square_of_a_gaussian_agrees_with_quadrature():
    """(3.5)."""
    bound = 3.0 * stats.norm.ppf(0.75)
    expected, _ = integrate.quad(lambda z: min(z * z, bound * bound) * stats.norm.pdf(z), -12.0, 12.0, limit=200)
    assert _expected_clipped_square() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("gamma", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("novel", [[5.0, 40.0, 1.0, 9.0], [0.0, 3.0, 0.0, 0.0]])
def test_both_forms_of_the_stick_part_agree(gamma, novel):
    """(7.4), its second form; the Dirichlet is one over novelty alone and adds nothing."""
    rows = np.array(novel)
    left = np.cumsum(rows[::-1])[::-1]  # A_t
    expected = sum(gammaln(1.0 + rows[t]) + np.log(gamma) - np.log(gamma + left[t]) for t in range(rows.size - 1))
    expected += gammaln(gamma + rows[-1]) - gammaln(gamma + left[0])
    assert weights_evidence(prior_weights(np.ones(1), gamma, 4), rows) == pytest.approx(expected, rel=1e-12)


def certain(labels):
    """Return rows of four groups, a prior, and a state in which rows belong to the components of their labels."""
    rng = np.random.default_rng(0)
    train = np.vstack([rng.normal(c, 1.0, size=(60, 3)) for c in (0.0, 8.0)])
    rows = Rows.plain(np.vstack([rng.normal(c, 1.0, size=(40, 3)) for c in (0.0, 8.0, -8.0, 16.0)]))
    prior = elicit(learn_classes(train, np.repeat([0, 1], 60)), Beliefs(concentration=1.5), 6)
    part = with_novelties(prior, int(labels.max()) - 1)
    state = ascend(rows, part, from_labels(rows, part, labels), max_iter=1)
    statistics = statistics_of_labels(rows, labels, int(labels.max()) + 1)
    return rows, prior, replace(state, statistics=statistics, winners=labels.astype(np.int32))


def bound_of_labels(rows, prior, labels):
    """Return the bound of rows that belong to one component each."""
    part = with_novelties(prior, int(labels.max()) - 1)
    statistics = statistics_of_labels(rows, labels, int(labels.max()) + 1)
    return evidence(part.components, statistics).sum() + weights_evidence(part.weights, statistics.counts)


def test_what_a_merge_promises_is_the_difference_of_two_bounds():
    """(7.5): the fourth group is cut in two."""
    cut = np.repeat([0, 1, 2, 3, 4], [40, 40, 40, 20, 20])
    rows, prior, state = certain(cut)
    hopes = {each.parts: each.hope for each in merges(prior, state)}
    expected = bound_of_labels(rows, prior, np.minimum(cut, 3)) - bound_of_labels(rows, prior, cut)
    assert hopes[3, 4] == pytest.approx(expected, rel=1e-9)


def test_what_a_release_promises_is_the_difference_of_two_bounds():
    """(7.6): the rows of a known component lie elsewhere."""
    wrong = np.repeat([2, 1, 0, 3], 40)
    rows, prior, state = certain(wrong)
    hopes = {each.parts: each.hope for each in releases(prior, state)}
    released = np.where(wrong == 0, 4, wrong)
    assert hopes[(0,)] == pytest.approx(
        bound_of_labels(rows, prior, released) - bound_of_labels(rows, prior, wrong), rel=1e-9
    )


def test_the_last_component_has_the_weight_of_all_places_after_it():
    """(8.2)."""
    prior = prior_weights(np.array([1.0, 2.0, 0.5]), 1.3, 7)
    weights = weights_from(prior, np.array([4.0, 0.0, 9.0, 3.0, 0.0]))  # two known, three of seven novel places
    three = Components(np.zeros((5, 1)), np.ones(5), np.full(5, 4.0), np.ones((5, 1, 1)), (Gaussian(),) * 5)
    found = np.exp(log_component_weights(Posterior(three, weights)))
    everywhere = np.exp(log_expected_weights(weights))
    np.testing.assert_allclose(found, np.append(everywhere[:4], everywhere[4:].sum()))
    assert found.sum() == pytest.approx(1.0)


def test_memberships_are_shares_of_densities():
    """(8.7): components 0 and 2 mean class 0, component 1 class 1, the last two novelty."""
    parts = np.random.default_rng(0).normal(size=(6, 5))
    meaning = np.array([0, 1, 0, -1, -1])
    predictive = SimpleNamespace(meaning=Meaning(meaning), log_parts=lambda rows: parts.copy())
    ((_, members),) = memberships(Rows.plain(np.zeros((6, 1))), predictive)
    density = np.exp(parts)
    share = density / density.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(members.known), np.column_stack([share[:, 0] + share[:, 2], share[:, 1]]))
    np.testing.assert_allclose(np.exp(members.novel), share[:, 3:])
    np.testing.assert_allclose(members.novelty_probability, share[:, 3:].sum(axis=1))
    np.testing.assert_allclose(logsumexp(np.column_stack([members.known, members.novel]), axis=1), 0.0, atol=1e-12)


@needs_shared
def test_simulated_tables_are_those_that_the_authors_published():
    """SS1 at q = 0.5: the paper's table misprints the first mean, three variances, a correlation and a size."""
    folder, design = SHARED / "oracles" / "ss1_published", DESIGNS["ss1"]
    for rows_name, labels_name, sizes in (
        ("Y_training", "labels_training", design.train_sizes),
        ("Y", "labels_tot", design.test_sizes),
    ):
        names = sorted(folder.glob(f"{rows_name}_[0-9]*.csv"))
        rows = np.vstack([np.loadtxt(name, delimiter=",") for name in names])
        labels = np.concatenate(
            [np.loadtxt(str(name).replace(rows_name + "_", labels_name + "_"), delimiter=",") for name in names]
        )
        for k, size in enumerate(sizes):
            own = rows[labels == k + 1]
            assert len(own) == len(names) * round(0.5 * size)
            error = np.sqrt(np.diagonal(design.covariances[k]) / len(own))
            assert (np.abs(own.mean(axis=0) - design.means[k]) < 4.5 * error).all()
            assert np.cov(own.T) == pytest.approx(design.covariances[k], abs=0.2 * design.covariances[k].max())
