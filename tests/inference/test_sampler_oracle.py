"""The sampler beside the authors' R package, given what its stage 1 had learned (study SS2, complex, 500 test rows)."""

import numpy as np
import pytest
from deep import amount
from shared import SHARED, needs_shared, oracle
from sklearn.metrics import adjusted_rand_score

from vbrand.discovery.chains import Chains
from vbrand.discovery.sampled import clusters_of
from vbrand.inference.rows import Rows
from vbrand.inference.sampler import Schedule, Target, run_chains
from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian
from vbrand.model.prior import Prior
from vbrand.model.weights import prior_weights
from vbrand.partition.points import expected_loss

pytestmark = needs_shared


def stored(p, part):
    return np.loadtxt(SHARED / "oracles" / "brand_mcmc" / f"ss2_complex_q0.5_p{p}_seed101_{part}.csv", delimiter=",")


def target_of(p, summary):
    """Return the posterior of the oracle: its priors, stage 1 as it was."""
    components = Components(
        mean=np.vstack([summary["stage1_center"], np.zeros((1, p))]),
        precision=np.array([11.0 + p, 11.0 + p, 0.1]),
        dof=np.array([20.0, 20.0, p + 2.0]),
        scale=np.concatenate([(20.0 - p - 1.0) * np.array(summary["stage1_cov"]), 3.0 * np.eye(p)[None]]),
        kernels=(Gaussian(),) * 3,
    )
    prior = Prior(components, prior_weights(np.array([1.0, 1.0, 0.1]), (1.0, 5.0), 1), np.arange(2))
    return Target(prior, (1.0, 5.0), 0.25)


def sampled(p, run, starts, schedule, jobs=2):
    summary = oracle("brand_mcmc", f"ss2_complex_q0.5_p{p}_seed101_{run}_summary.json")
    rows = Rows.plain(stored(p, "test_Y"))
    return summary, Chains(run_chains(rows, target_of(p, summary), starts, schedule, 0, jobs=jobs), 2)


@pytest.fixture(scope="module")
def two_columns():
    starts = [np.random.default_rng(chain).integers(0, 7, 500) for chain in range(2)]
    return sampled(2, "full_chain1", starts, Schedule(draws=amount(6_000, 10_000), burn=1_000, thin=1))


def test_weights_clusters_and_concentration_agree_with_r(two_columns):
    summary, chains = two_columns
    theirs = summary["posterior"]
    ours = chains.weights.mean(axis=(0, 1))
    for k, name in enumerate(("pi_known_1", "pi_known_2", "pi_novelty")):
        assert ours[k] == pytest.approx(theirs[name]["mean"], abs=0.003)
    assert chains.novel_groups().mean() == pytest.approx(theirs["occupied_novelty_clusters"]["mean"], abs=0.4)
    assert chains.concentration.mean() == pytest.approx(theirs["alphaDP"]["mean"], abs=0.04)
    assert np.allclose(chains.known_means.mean(axis=(0, 1)), summary["known_mean_posterior_mean"], atol=0.02)


def test_novelty_of_single_rows_agrees_with_r(two_columns):
    _, chains = two_columns
    ours = chains.votes / (chains.count * chains.draws)
    for chain in (1, 2):
        assert np.abs(ours[:, 2] - stored(2, f"full_chain{chain}_novelty_probability")).max() < 0.04
        assert np.abs(ours[:, :2] - stored(2, f"full_chain{chain}_known_probability")).max() < 0.04


def test_our_partition_has_no_larger_expected_loss_than_that_of_r(two_columns):
    _, chains = two_columns
    draws = chains.labels(chains.chosen(4_000))
    ours = clusters_of(chains, 0.5, 1, 0)
    for chain in (1, 2):
        theirs = stored(2, f"full_chain{chain}_est_labels")
        assert expected_loss(ours, draws) <= expected_loss(theirs, draws)
        assert adjusted_rand_score(ours, theirs) > 0.95


@pytest.mark.parametrize(("p", "draws"), [(5, 2_000), (10, 1_200)])
def test_within_a_mode_more_columns_agree_with_r(p, draws):
    """At p = 10 the chains of R do not agree with each other: only from where its first chain ended."""
    start = stored(p, "full_chain1_est_labels").astype(int) - 1
    summary, chains = sampled(p, "full_chain1", [start], Schedule(draws=draws, burn=300, thin=1))
    theirs = summary["posterior"]
    ours = chains.weights.mean(axis=(0, 1))
    for k, name in enumerate(("pi_known_1", "pi_known_2", "pi_novelty")):
        assert ours[k] == pytest.approx(theirs[name]["mean"], abs=0.004)
    assert chains.novel_groups().mean() == pytest.approx(theirs["occupied_novelty_clusters"]["mean"], abs=0.1)
    assert chains.concentration.mean() == pytest.approx(theirs["alphaDP"]["mean"], abs=0.02)
