"""What the sampler found: shares of draws, and chains that agree or are named."""

import numpy as np
import pytest
from scipy.special import logit
from tables import grain_rows

from vbrand import BrandSampler
from vbrand.discovery.chains import Chains
from vbrand.discovery.sampled import clusters_of, diagnose, disagreement
from vbrand.inference.sampler import Leg

# short chains may well disagree
pytestmark = pytest.mark.filterwarnings("ignore:the (chains|two halves of the chain) disagree:UserWarning")


@pytest.fixture(scope="module")
def found():
    known, labels, new, _ = grain_rows()
    return BrandSampler(n_draws=40, n_burn=20, n_chains=2, random_state=0).fit(known, labels).discover(new)


def chains_of(labels, weights=None):
    """Return chains of (chains, draws, n) labels with two known classes."""
    legs = [
        [
            Leg(
                kept_labels=one.astype(np.uint8),
                weights=np.full((len(one), 3), 1.0 / 3.0) if weights is None else weights[chain],
                concentration=np.linspace(1.0, 2.0, len(one)),
                known_means=np.zeros((len(one), 2, 1)),
                last_labels=one[-1].astype(np.int32),
                last_concentration=1.0,
            )
        ]
        for chain, one in enumerate(labels)
    ]
    return Chains(legs, known=2)


def test_probabilities_are_shares_of_draws(found):
    np.testing.assert_allclose(found.class_probabilities * 80, found.chains.votes)
    np.testing.assert_allclose(found.novelty_probability, found.class_probabilities[:, -1])
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.probabilities[:, 2:].sum(axis=1), found.novelty_probability)


def test_the_score_is_finite_and_decides_as_the_threshold_does(found):
    expected = logit((found.chains.votes[:, -1] + 0.5) / 81.0) - logit(0.5)
    np.testing.assert_allclose(found.novelty_score, expected)
    np.testing.assert_array_equal(found.novelty_score > 0.0, found.labels == "novel")


def test_label_draws_are_draws_of_the_chains(found):
    whole = found.label_draws(10_000)
    np.testing.assert_array_equal(whole, np.concatenate([np.asarray(block) for block in found.chains.blocks()]))
    some = found.label_draws(7)
    assert some.shape == (7, 60)
    np.testing.assert_array_equal(some, whole[found.chains.chosen(7)])


def test_a_sampler_has_no_bound_and_its_summary_has_diagnostics(found):
    assert found.facts().climb is None
    lines = str(found.summary()).splitlines()
    for name in ("weight of oat", "weight of rye", "weight of novelty", "novel rows", "novel groups", "concentration"):
        assert any(line.startswith(name) for line in lines)


def test_known_classes_are_by_majority_and_novel_rows_by_their_company():
    draws = np.array([[0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 3, 3, 2, 2], [0, 0, 4, 2, 2, 4, 4], [1, 1, 1, 5, 5, 3, 3]])
    clusters = clusters_of(chains_of(draws[None]), 0.5, 1, 0)
    assert clusters.tolist() == [0, 1, 1, 2, 2, 3, 3]
    sure = clusters_of(chains_of(draws[None]), 0.2, 1, 0)  # the third row is novel in a quarter of the draws
    assert sure[2] >= 2
    assert clusters_of(chains_of(draws[None] % 2), 0.5, 1, 0).max() == 1  # no novelty at all


def test_diagnoses_are_means_and_intervals_over_all_draws():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(3), (2, 50))
    chains = chains_of(rng.integers(0, 4, (2, 50, 9)), weights)
    held = {each.name: each for each in diagnose(chains, np.array(["oat", "rye"]), 3)}
    assert held["weight of rye"].mean == pytest.approx(weights[:, :, 1].mean())
    assert held["novel rows"].mean == pytest.approx(chains.novel_rows().mean())
    assert held["novel groups"].mean == pytest.approx(chains.novel_groups(3).mean())
    assert held["clusters, any size"].mean >= held["novel groups"].mean
    for each in held.values():
        assert each.low <= each.mean <= each.high
        assert each.effective_size > 0.0


class Said:
    """A discovery as far as `disagreement` looks at it."""

    def __init__(self, chains):
        self.chains = chains
        self.diagnostics = diagnose(chains, np.array(["oat", "rye"]), 1)


def test_chains_that_stand_apart_are_named_and_those_that_agree_are_not():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(3, 50.0), (2, 200))
    labels = rng.integers(0, 4, (2, 200, 9))
    agreeing = chains_of(labels, weights)
    drifting = {each.name for each in diagnose(agreeing, np.array(["oat", "rye"]), 1) if each.rhat > 1.05}
    assert drifting == {"concentration"}  # it runs from 1 to 2 in every chain
    weights[1] = weights[1][:, [1, 0, 2]] * [1.5, 0.5, 1.0]
    sentence = disagreement(Said(chains_of(labels, weights)))
    assert sentence.startswith("the chains disagree about: ")
    assert "weight of oat (R-hat " in sentence
    assert "novel rows" not in sentence
    one = disagreement(Said(chains_of(labels[:1], weights[:1])))
    assert one.startswith("the two halves of the chain disagree about: concentration (R-hat ")
