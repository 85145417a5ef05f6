"""A novel component on top of a known class is told from one that is not."""

import numpy as np
import pytest

from vbrand.model.agreement import on_top
from vbrand.model.components import Components
from vbrand.robust.classes import learn_classes


def component(mean, covariance, rows=100_000.0):
    p = mean.size
    dof = rows + p + 1.0
    return Components(mean[None], np.array([rows]), np.array([dof]), rows * covariance[None], np.array([np.inf]))


def labelled(rng, n, p, root):
    rows = np.vstack([rng.normal(size=(n, p)) @ root.T, rng.normal(size=(n, p)) @ root.T + 9.0])
    return learn_classes(rows, np.repeat([0, 1], n), scatter="empirical")


@pytest.mark.parametrize(("n", "p"), [(8, 2), (50, 2), (1_000, 2), (60, 10), (60, 20), (500, 30)])
def test_a_class_whose_labelled_rows_are_a_sample_of_the_group_is_found(n, p):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(p, p)) + 2.0 * np.eye(p)
    group = component(np.zeros(p), root @ root.T)
    hits = [on_top(labelled(rng, n, p, root), group, np.array([5_000.0])) for _ in range(100)]
    assert np.mean([hit[0] for hit in hits]) > 0.95
    assert not any(hit[1] for hit in hits)


@pytest.mark.parametrize("change", ["moved", "small", "large"])
def test_a_group_elsewhere_or_of_another_size_is_none(change):
    rng = np.random.default_rng(0)
    n, p = 60, 5
    factor = {"moved": 1.0, "small": 0.3, "large": 3.0}[change]
    group = component(np.full(p, 0.7 if change == "moved" else 0.0), factor * np.eye(p))  # 1.6 sd away
    assert not any(on_top(labelled(rng, n, p, np.eye(p)), group, np.array([500.0])).any() for _ in range(100))


def test_without_rows_there_is_no_group():
    known = labelled(np.random.default_rng(0), 50, 2, np.eye(2))
    assert not on_top(known, component(np.zeros(2), np.eye(2)), np.array([0.0])).any()
