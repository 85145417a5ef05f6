"""Novel components that are known classes, or pieces of them, are told from those that are not."""

import numpy as np
import pytest

from vbrand.model.components import Components, stacked
from vbrand.model.kernels import Gaussian
from vbrand.model.posterior import Posterior
from vbrand.stage1.classes import learn_classes
from vbrand.stage1.elicit import Beliefs, elicit
from vbrand.trust.meaning import meanings_of


def labelled(rng, n, p, root):
    rows = np.vstack([rng.normal(size=(n, p)) @ root.T, rng.normal(size=(n, p)) @ root.T + 30.0])
    return learn_classes(rows, np.repeat([0, 1], n), scatter="empirical")


def meanings(known, centres, covariances, counts):
    """Return the meaning of novel components with these moments; the first two counts are those of the classes."""
    prior = elicit(known, Beliefs(), len(centres))
    count = np.array(counts[2:], dtype=float)
    p = centres[0].size
    novel = Components(
        np.array(centres),
        count,
        count + p + 1.0,
        count[:, None, None] * np.array(covariances),
        (Gaussian(),) * count.size,
    )
    own = prior.components.reordered(np.arange(2))
    posterior = Posterior(stacked(own, novel), prior.weights)
    return meanings_of(known, prior, posterior, np.array(counts, dtype=float))[2:].tolist()


@pytest.mark.parametrize(("n", "p"), [(8, 2), (50, 2), (1_000, 2), (60, 10), (60, 20), (500, 30)])
def test_a_component_of_which_the_labelled_rows_are_a_sample_is_their_class(n, p):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(p, p)) + 2.0 * np.eye(p)
    found = [meanings(labelled(rng, n, p, root), [np.zeros(p)], [root @ root.T], [0, 500, 5_000]) for _ in range(50)]
    assert np.mean([each == [0] for each in found]) > 0.95


def test_pieces_of_a_class_are_the_class():
    """The halves of a Gaussian that is cut through its middle, beside a third part that the class has kept."""
    rng = np.random.default_rng(0)
    p = 3
    half = np.eye(p)
    half[0, 0] = 1.0 - 2.0 / np.pi
    shift = np.sqrt(2.0 / np.pi) * np.eye(p)[0]
    for n in (50, 1_000):
        for _ in range(20):
            known = labelled(rng, n, p, np.eye(p))
            assert meanings(known, [shift, -shift], [half, half], [3_000, 500, 3_000, 3_000]) == [0, 0]


@pytest.mark.parametrize("count", [30, 500, 5_000])
@pytest.mark.parametrize("held", [0, 500, 5_000])
@pytest.mark.parametrize("change", ["moved", "small", "large"])
def test_a_group_elsewhere_or_of_another_size_stays_novel(change, held, count):
    """Whether its nearest class has rows here or none."""
    rng = np.random.default_rng(0)
    n, p = 60, 5
    factor = {"moved": 1.0, "small": 0.01, "large": 20.0}[change]
    centre = np.full(p, 2.0 if change == "moved" else 0.0)  # 4.5 standard deviations away
    for _ in range(20):
        assert meanings(labelled(rng, n, p, np.eye(p)), [centre], [factor * np.eye(p)], [held, 500, count]) == [-1]


def test_a_large_group_three_standard_deviations_away_stays_novel():
    rng = np.random.default_rng(0)
    for held in (0, 500, 5_000):
        for _ in range(20):
            known = labelled(rng, 60, 5, np.eye(5))
            assert meanings(known, [np.full(5, 3.0 / np.sqrt(5.0))], [np.eye(5)], [held, 500, 2_000]) == [-1]


def test_a_shift_that_labelled_rows_rule_out_stays_novel():
    """Many labelled rows: a group 1.5 standard deviations away is no sample of theirs, nor is the class with it."""
    rng = np.random.default_rng(0)
    known = labelled(rng, 1_000, 2, np.eye(2))
    assert meanings(known, [np.array([1.5, 0.0])], [np.eye(2)], [2_000, 500, 2_000]) == [-1]


def test_components_without_rows_mean_nothing():
    known = labelled(np.random.default_rng(0), 50, 2, np.eye(2))
    assert meanings(known, [np.zeros(2)], [np.eye(2)], [100, 100, 1e-9]) == [-1]
