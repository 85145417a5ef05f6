"""From scores to answers: probabilities that sum to one, and a threshold that decides."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp

from vbrand.discovery.memberships import answers_of, label_names, memberships
from vbrand.inference.rows import Rows
from vbrand.trust.meaning import Meaning, Memberships

# two known classes, the second of two components, and three novel components
MEANING = Meaning(np.array([0, 1, -1, 1, -1, -1]))
scores = arrays(np.float64, st.tuples(st.integers(1, 8), st.just(6)), elements=st.floats(-800.0, 50.0))
shares = st.floats(0.01, 0.99)


def members_of(score, meaning=MEANING):
    """Return the memberships of as many rows as there are scores."""
    predictive = SimpleNamespace(meaning=meaning, log_parts=lambda rows: score[rows[:, 0].astype(int)])
    rows = Rows.plain(np.arange(float(len(score)))[:, None])
    return [part for _, part in memberships(rows, predictive)]


@given(scores)
def test_probabilities_sum_to_one_and_components_of_a_class_add_up(score):
    (members,) = members_of(score.copy())
    assert members.known.shape == (len(score), 2)
    assert members.novel.shape == (len(score), 3)
    total = np.exp(members.known).sum(axis=1) + np.exp(members.novel).sum(axis=1)
    np.testing.assert_allclose(total, 1.0)
    posterior = score - logsumexp(score, axis=1, keepdims=True)
    np.testing.assert_allclose(
        members.known[:, 1], np.logaddexp(posterior[:, 1], posterior[:, 3]), rtol=1e-9, atol=1e-12
    )


@given(scores, st.floats(-500.0, 500.0))
def test_what_all_scores_of_a_row_share_does_not_matter(score, shift):
    (plain,), (moved,) = members_of(score.copy()), members_of(score + shift)
    np.testing.assert_allclose(moved.novelty_logit, plain.novelty_logit, atol=1e-9)


@given(scores, shares)
def test_a_row_is_novel_exactly_if_its_score_is_above_zero_and_its_probability_above_the_threshold(score, threshold):
    (members,) = members_of(score.copy())
    novel = members.is_novel(threshold)
    np.testing.assert_array_equal(novel, members.novelty_score(threshold) > 0.0)
    clear = np.abs(members.novelty_probability - threshold) > 1e-9
    np.testing.assert_array_equal(novel[clear], members.novelty_probability[clear] > threshold)


def test_the_score_does_not_saturate_where_probabilities_do():
    (members,) = members_of(np.array([[0.0, -900.0, 100.0, -900.0, -900.0, -900.0], [0, -900, 700, -900, -900, -900]]))
    assert members.novelty_probability.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(members.novelty_score(0.5), [100.0, 700.0])


def test_rows_come_block_by_block_in_their_order():
    score = np.random.default_rng(0).normal(size=(20_000, 6))
    parts = members_of(score.copy())
    assert len(parts) > 1
    (whole,) = members_of(score[:100].copy())
    np.testing.assert_array_equal(parts[0].novel[:100], whole.novel)
    assert sum(len(part.novel) for part in parts) == 20_000


@settings(deadline=None)
@given(scores, shares, st.permutations([0, 1, 2]).map(lambda order: order[:2]))
def test_answers_name_the_best_class_or_group_and_novelties_like_none(score, threshold, groups):
    (members,) = members_of(score.copy())
    classes = np.array(["oat", "rye"])
    answers = answers_of(members, classes, threshold, np.array(groups))
    novel = members.is_novel(threshold)
    assert (answers.labels == "novel").tolist() == novel.tolist()
    assert answers.labels[~novel].tolist() == classes[members.best_class[~novel]].tolist()
    names = {component: 2 + rank for rank, component in enumerate(groups)}
    expected = [names.get(component, 4) for component in members.novel.argmax(axis=1)[novel].tolist()]
    assert answers.clusters[novel].tolist() == expected
    np.testing.assert_allclose(answers.class_probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(answers.class_probabilities[:, -1], answers.novelty_probability)


@pytest.mark.parametrize(("classes", "novel"), [(np.array(["oat", "rye"]), "novel"), (np.array([3, 5]), -1)])
def test_the_label_of_novelty_follows_those_of_the_classes(classes, novel):
    names = label_names(classes)
    assert names[:-1].tolist() == classes.tolist()
    assert names[-1] == novel
    assert names.dtype.kind == classes.dtype.kind


def test_one_class_without_novelty_has_all_of_a_row():
    members = Memberships(np.zeros((3, 1)), np.full((3, 2), -np.inf))
    assert members.novelty_probability.tolist() == [0.0] * 3
    assert not members.is_novel(0.01).any()
