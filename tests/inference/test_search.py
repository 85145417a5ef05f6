"""The default search against a start at the true labels, on the paper's simulated studies with their priors."""

import warnings

import numpy as np
import pytest
from deep import amount
from shared import SHARED, needs_shared

from vbrand import VBrand
from vbrand.estimators.paper import paper_settings
from vbrand.studies.simulate import Simulated, simulate

CELLS = [
    (study, size, columns, seed)
    for study in ("ss1", "ss2_simple", "ss2_complex")
    for size in (0.5, 1.0, 2.5)
    for columns in (2, 5, 10)
    for seed in (0, 1)
] + [(study, 1.0, 2, seed) for study in ("ss3_low", "ss3_high") for seed in (0, 1, 2)]


def published(seed: int) -> Simulated:
    folder = SHARED / "oracles" / "ss1_published"
    names = [f"{name}_{seed}_0.5_2.csv" for name in ("Y_training", "labels_training", "Y", "labels_tot")]
    train, train_classes, test, classes = (np.loadtxt(folder / name, delimiter=",") for name in names)
    return Simulated(train, train_classes.astype(int), test, classes.astype(int)[-len(test) :])


def behind_truth(data: Simulated, study: str) -> float:
    """Return by how much the bound of a start at the true labels is above that of the search."""
    detector = VBrand(random_state=0, **paper_settings(study, data.train)).fit(data.train, data.train_classes)
    found = detector.discover(data.test)
    return detector.set_params(init=data.test_classes).discover(data.test).elbo - found.elbo


def test_the_search_needs_no_truth():
    gaps = {
        cell: behind_truth(simulate(study, seed, size=size, columns=columns), study.split("_")[0])
        for cell in CELLS[:: amount(2, 1)]
        for study, size, columns, seed in [cell]
    }
    missed = {cell: gap for cell, gap in gaps.items() if gap > 0.5}
    assert len(gaps) == amount(30, 60)
    assert len(missed) <= len(gaps) // 20, missed


@needs_shared
@pytest.mark.parametrize("seed", [17021890, 34043780, 51065670, 68087560, 85109450])
def test_the_search_needs_no_truth_on_the_published_sets(seed):
    assert behind_truth(published(seed), "ss1") <= 0.5


def test_no_novelty_no_group():
    quiet = 0
    tables = amount(10, 20)
    for seed in range(tables):
        data = simulate("ss1", 100 + seed, size=0.5)
        seen = data.test_classes <= data.known
        found = (
            VBrand(random_state=0, **paper_settings("ss1", data.train))
            .fit(data.train, data.train_classes)
            .discover(data.test[seen])
        )
        quiet += (found.labels == -1).mean() <= 0.005
    assert quiet >= tables - 1


def test_nothing_but_novelty():
    data = simulate("ss1", 3)
    unseen = data.test_classes > data.known
    found = VBrand(random_state=0).fit(data.train, data.train_classes).discover(data.test[unseen])
    assert (found.labels == -1).mean() > 0.99
    assert 3 <= sum(group.kind == "novel group" for group in found.groups) <= 4


def test_the_cap_is_said_when_it_is_felt():
    data = simulate("ss1", 4, size=0.5)
    detector = VBrand(random_state=0, max_novel=2).fit(data.train, data.train_classes)
    with pytest.warns(UserWarning, match="all 2 places for novel groups are in use: raise max_novel"):
        detector.discover(data.test)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector.set_params(max_novel=20).discover(data.test)


def test_the_history_is_in_the_units_of_the_bound():
    data = simulate("ss1", 5, size=0.5)
    found = VBrand(random_state=0).fit(data.train * 1e3, data.train_classes).discover(data.test * 1e3)
    assert found.history[-1].bound <= found.elbo
    assert found.history[-1].bound == pytest.approx(found.elbo, abs=5.0)
    kinds = {move.kind for move in found.history if move.kept}
    assert "birth" in kinds
