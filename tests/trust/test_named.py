"""A named component means its class."""

import numpy as np
from stream import fitted, rows_of

from vbrand.trust.named import as_class, without_component


def test_the_cells_of_a_named_component_go_and_its_class_has_a_share():
    rng = np.random.default_rng(0)
    detector = fitted(rng)
    detector.update(rows_of(rng, third=40))
    finding = detector._fitted.finding
    meaning, k = finding.meaning, finding.prior.known
    named = as_class(meaning, k, 2, finding.posterior.components.reordered(np.array([k])), 0.25)

    assert named.class_of[k] == 2
    before, after = meaning.checked, named.checked
    cells = before.cells.novel[0].size + 1
    assert after.novel.size == before.novel.size - cells
    assert after.classes.shape == (after.novel.size, 3)
    assert after.labelled.class_of.tolist() == [0, 1, 2]
    np.testing.assert_allclose(np.exp(after.labelled.log_weights).sum(), 1.0)
    assert np.exp(after.labelled.log_weights[-1]) == 0.25
    assert len(without_component(before, meaning.class_of, k).cells.novel) == len(before.cells.novel) - 1
