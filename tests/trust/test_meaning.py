"""What components mean for rows: probabilities that add up, and a score that does not tie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from vbrand.model.components import Components
from vbrand.model.kernels import Student
from vbrand.model.predictive import log_component_densities
from vbrand.trust.cells import Cells
from vbrand.trust.meaning import BEYOND, Checked, Meaning, Memberships, judged, stacked_classes
from vbrand.trust.standing import Labelled

CLASS_OF = np.array([0, 1, -1])


def components(places):
    count = len(places)
    return Components(
        np.array(places, dtype=float)[:, None],
        np.full(count, 50.0),
        np.full(count, 53.0),
        np.full((count, 1, 1), 50.0),
        (Student(15.0),) * count,
    )


def checked(novel, classes=None, edges=(), farthest=1e9, fit_weight=1.0):
    """Return the meaning of two known components at 0 and 10 and a novel one, with cells as given."""
    novel = np.array(novel)
    if classes is None:
        classes = np.column_stack([0.5 * (1.0 - novel), 0.5 * (1.0 - novel)])
    labelled = Labelled(components([0.0, 10.0]), np.log([0.5, 0.5]), np.array([0, 1]))
    cells = Cells(np.empty(0), (np.array(edges, dtype=float),))
    return Meaning(CLASS_OF, Checked(labelled, cells, np.asarray(classes), novel, farthest, fit_weight))


def parts_of(rows, place):
    return np.log([0.4, 0.3, 0.3]) + log_component_densities(rows, components([0.0, 10.0, place]))


ROWS = np.linspace(-30.0, 30.0, 61)[:, None]


@settings(deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2), st.floats(0.0, 1.0), st.floats(-20.0, 20.0))
def test_probabilities_sum_to_one(novel, weight, place):
    members = judged(ROWS, parts_of(ROWS, place), checked(novel, fit_weight=weight))
    total = np.exp(members.known).sum(axis=1) + np.exp(members.novel).sum(axis=1)
    np.testing.assert_allclose(total, 1.0, rtol=1e-9)


def test_a_row_is_what_the_rows_of_its_cells_are():
    """(9.3), by a plain sum over cells."""
    meaning = checked([0.2, 0.7], classes=[[0.5, 0.3], [0.25, 0.05]])
    parts = parts_of(ROWS, -8.0)
    members = judged(ROWS, parts, meaning)
    shares = np.exp(parts - logsumexp(parts, axis=1, keepdims=True))
    novelty = 0.2 * shares[:, :2].sum(axis=1) + 0.7 * shares[:, 2]
    np.testing.assert_allclose(members.novelty_probability, novelty, rtol=1e-9)
    first = 0.8 * shares[:, 0] + 0.25 * shares[:, 2]
    np.testing.assert_allclose(np.exp(members.known[:, 0]), first, rtol=1e-9)


def test_components_that_were_not_checked_mean_what_they_stand_for():
    parts = parts_of(ROWS, -8.0)
    members = judged(ROWS, parts, Meaning(CLASS_OF))
    shares = np.exp(parts - logsumexp(parts, axis=1, keepdims=True))
    np.testing.assert_allclose(members.novelty_probability, shares[:, 2], rtol=1e-9, atol=1e-300)
    assert members.unlike is None
    np.testing.assert_array_equal(Meaning(CLASS_OF).matrix, np.eye(3))


def test_the_matrix_has_probabilities_of_classes_and_novelty():
    meaning = checked([0.2, 0.6, 0.8], classes=[[0.4, 0.4], [0.3, 0.1], [0.2, 0.0]], edges=[0.0])
    np.testing.assert_allclose(meaning.matrix, [[0.8, 0.0, 0.2], [0.0, 0.8, 0.2], [0.25, 0.05, 0.7]])


def test_a_row_far_beyond_every_hidden_one_is_novel_whatever_its_cell_says():
    meaning = checked([0.0, 0.01], farthest=3.0)
    far = np.array([[-60.0], [-600.0]])
    members = [judged(far[[i]], parts_of(far[[i]], far[i, 0]), meaning) for i in range(2)]
    assert all(each.unlike[0] > 3.0 + BEYOND for each in members)
    assert 0.5 < members[0].novelty_probability[0] < members[1].novelty_probability[0]
    near = judged(ROWS[25:36], parts_of(ROWS[25:36], -8.0), meaning)
    assert (near.novelty_probability < 0.1).all()


@given(st.floats(0.01, 0.99), st.floats(0.05, 0.95))
def test_the_score_has_the_sign_of_the_decision_and_rises_with_what_is_unlike(share, threshold):
    logit = np.log(share / (1.0 - share))
    unlike = np.linspace(-50.0, 50.0, 11)
    members = Memberships(
        np.full((11, 1), -np.logaddexp(0.0, logit)), np.full((11, 1), -np.logaddexp(0.0, -logit)), unlike
    )
    score = members.novelty_score(threshold)
    if abs(share - threshold) > 1e-6:
        assert ((score > 0.0) == (share > threshold)).all()
        assert (np.diff(score) > 0.0).all()


def test_classes_by_fit_and_by_labels_are_averaged():
    by_fit, by_labels = np.log([[0.9, 0.1]]), np.log([[0.5, 0.5]])
    np.testing.assert_allclose(stacked_classes(by_fit, by_labels, 0.25), [[0.6, 0.4]])


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_the_weight_says_whom_to_believe(weight):
    meaning = checked([0.0, 0.5], fit_weight=weight)
    row = np.array([[4.0]])
    known = judged(row, parts_of(row, -8.0), meaning).known[0]
    labels = meaning.checked.labelled.log_parts(row)[0]
    expected = labels - logsumexp(labels)
    close = np.allclose(known - logsumexp(known), expected, atol=1e-9)
    assert close == (weight == 0.0)
