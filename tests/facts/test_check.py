"""How far to trust an answer, in words."""

import numpy as np
import pytest

from vbrand.facts.check import GroupCheck, check_of


def check(false_share, sizes=(50,), missed=0.0, earlier=0):
    """Return the check of groups of one cell each, of which this share of rows is known in every draw."""
    cells = np.diag(np.array(sizes, dtype=float))
    draws = np.full((100, len(sizes)), 1.0 - np.asarray(false_share))
    return check_of(
        tuple(f"novel {k + 1}" for k in range(len(sizes))),
        np.array(sizes),
        cells,
        np.full(len(sizes), missed),
        draws,
        agreement=0.9,
        hidden_novelty=np.full(40, 0.01),
        unchecked=(),
        earlier=(np.array([earlier]), np.diag([float(earlier)])) if earlier else None,
    )


def test_the_headline_says_how_many_are_likely_known():
    found = check(0.12)
    assert str(found) == "50 rows are called novel; about 6 of them (6 to 6) are likely known."
    assert found.false_share == 0.12 or abs(found.false_share - 0.12) < 1e-12
    assert found.share_interval == (found.interval[0] / 50, found.interval[1] / 50)


def test_a_group_that_may_be_mostly_known_is_doubtful():
    found = check([0.7, 0.1], sizes=(40, 40))
    assert found.doubtful == ("novel 1",)
    assert "Doubtful: novel 1." in str(found)
    assert [group.doubtful for group in found.by_group] == [True, False]


@pytest.mark.parametrize(
    ("now", "before", "share", "doubtful"),
    [(1, 30, 0.02, False), (0, 7, 0.6, True), (1, 0, 0.02, True), (1, 0, 0.0, False), (3, 9, 0.7, True)],
)
def test_doubt_is_a_matter_of_all_batches(now, before, share, doubtful):
    """One row may always be known, as far as whole rows go; one of thirty more says little."""
    found = check(share, sizes=(now,), earlier=before).by_group[0]
    assert found.rows == now
    assert found.doubtful == doubtful


def test_the_doubt_of_older_files_is_that_of_their_interval():
    assert GroupCheck("novel 1", 10, 4.0, (2.0, 6.0)).doubtful
    assert not GroupCheck("novel 1", 10, 4.0, (2.0, 5.0)).doubtful


def test_nothing_novel_is_said_plainly():
    found = check_of(
        (),
        np.zeros(0, dtype=int),
        np.zeros((0, 1)),
        np.zeros(1),
        np.zeros((10, 1)),
        agreement=1.0,
        hidden_novelty=np.full(9, 0.99),
        unchecked=("rye",),
    )
    assert str(found) == "no row is called novel. Too few labelled rows to check: rye."
    assert found.false_share == 0.0


def test_rows_that_were_surely_missed_are_said():
    found = check(0.5, missed=100.0)
    assert found.missed_rows == 50.0
    assert "about 50 novel rows are likely missed" in str(found)


def test_hidden_rows_are_counted_by_their_probability_of_novelty():
    found = check(0.1)
    assert (found.hidden_rows, sum(found.hidden_counts), len(found.hidden_counts)) == (40, 40, 50)
    assert found.hidden_counts[0] == 40
