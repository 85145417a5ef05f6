"""The table of the last batch, beside that of all."""

import numpy as np
import pytest

from vbrand import VBrand
from vbrand.trust import check
from vbrand.trust.lately import of_batch, with_latest
from vbrand.trust.table import Counts, Shares, draw_shares
from vbrand.trust.tuning import TUNED


def of_all(unlabelled, hidden, starts):
    table = np.array(hidden, dtype=float)
    labelled = table.sum(axis=1) / table.sum()
    worth = np.full((2, len(hidden)), TUNED.shift)
    return Counts(np.array(unlabelled), table, np.array(starts), np.stack([labelled, labelled]), worth)


def both(unlabelled, now, hidden, starts):
    """Return what rows of cells are by all batches, and by the last one."""
    counts = of_all(unlabelled, hidden, starts)
    shares = draw_shares(counts, np.random.default_rng(0), TUNED)
    return shares, with_latest(counts, shares, np.array(now, dtype=float), np.random.default_rng(0), TUNED)


def test_earlier_rows_show_where_classes_and_novelty_fall():
    """(14.9): of 40 rows of a cell 10 are of the last batch; of the others a fifth is novel, and one half class 0."""
    counts = of_all([40, 5], [[8, 0], [2, 6]], [0, 1, 2])
    shares = Shares(np.array([[0.5, 0.3], [0.1, 0.1]]), np.array([0.2, 0.8]), np.zeros((3, 2), dtype=int))
    latest = of_batch(counts, shares, np.array([10.0, 5.0]), TUNED)
    np.testing.assert_allclose(latest.hidden, [[8 + 15, 0], [2 + 9, 6], [6, 0]])
    assert latest.unlabelled.tolist() == [10, 5]
    assert latest.before == 30
    np.testing.assert_allclose(latest.shares[1] * 31, [15 + 1 / 3, 9 + 1 / 3, 6 + 1 / 3])


def test_novelty_that_has_just_appeared_does_not_drown_in_earlier_rows():
    """Six batches of 40 known rows, 6 of each in a cell of a novel component, then one with 14 novel rows there."""
    shares, latest = both([238, 56], [34, 20], [[170, 30]], [0, 1, 2])
    assert shares.novel[1] < 0.4
    assert 0.5 < latest.novel[1] < 0.85
    low, high = np.quantile(latest.novel_rows[:, 1] / 56, [0.05, 0.95])
    assert low <= 14 / 20 <= high
    np.testing.assert_allclose(latest.classes.sum(axis=1) + latest.novel, 1.0)


def test_a_batch_like_those_before_gets_the_same_answer():
    shares, latest = both([238, 42, 60], [34, 6, 8], [[170, 30, 0]], [0, 1, 2, 3])
    np.testing.assert_allclose(latest.novel, shares.novel, atol=0.1)
    assert latest.novel[2] > 0.9


def test_a_cell_without_rows_of_the_batch_keeps_its_answer():
    shares, latest = both([238, 42, 60], [34, 6, 0], [[170, 30, 0]], [0, 1, 2, 3])
    np.testing.assert_allclose(latest.novel, shares.novel, atol=0.1)


@pytest.mark.parametrize("now", [0, 1, 5, 40])
def test_novelty_of_before_may_come_in_any_number(now):
    """It was 25 of 65 rows: where it stays away the known rows of the batch are known, and none are taken for it."""
    _, latest = both([80, 25 + now], [40, now], [[100, 0]], [0, 1, 2])
    assert latest.novel[0] < 0.2
    assert latest.novel[1] > 0.9


def test_a_class_may_come_in_any_number():
    """The last batch is all of the second class, half of whose rows fall into a novel component."""
    _, latest = both([200, 40, 60], [0, 20, 20], [[150, 0, 0], [0, 40, 40]], [0, 2, 3])
    assert (latest.novel[1:] < 0.2).all()


def test_rows_where_there_were_none_before_are_novel_as_far_as_all_rows_say():
    """(14.10): known rows and novelty are expected in the last batch by the share of its rows, both: odds stay."""
    shares, latest = both([200, 1], [20, 1], [[100, 0]], [0, 1, 2])
    assert abs(latest.novel[1] - shares.novel[1]) < 0.15


def test_names_of_classes_do_not_change_the_draws():
    hidden, order = [[40, 10, 0], [0, 20, 5], [3, 30, 9]], [2, 0, 1]
    plain = both([60, 70, 30], [20, 20, 20], hidden, [0, 2, 3])[1]
    renamed = both([60, 70, 30], [20, 20, 20], [hidden[j] for j in order], [0, 2, 3])[1]
    np.testing.assert_allclose(renamed.classes, plain.classes[:, order], rtol=1e-9)
    np.testing.assert_array_equal(renamed.novel_rows, plain.novel_rows)


def test_only_rows_of_the_last_batch_are_its_own(monkeypatch):
    """The first batch has none before it; of the second only its rows count, not those that are still at hand."""
    seen = []

    def spied(counts, shares, now, generator, tuning):
        seen.append((now.sum(), counts.unlabelled.sum()))
        return with_latest(counts, shares, now, generator, tuning)

    monkeypatch.setattr(check, "with_latest", spied)
    rng = np.random.default_rng(0)
    detector = VBrand(random_state=0).fit(rng.normal(size=(40, 2)), ["oat"] * 40)
    detector.update(rng.normal(size=(60, 2)))
    assert not seen
    detector.update(rng.normal(size=(30, 2)))
    [(now, everything)] = seen
    assert now == pytest.approx(30.0)
    assert everything == pytest.approx(90.0, abs=5.0)  # cells are rounded, and those without a row count as one
