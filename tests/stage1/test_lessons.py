"""What rows taught can be forgotten again."""

from dataclasses import replace

import numpy as np
import pytest

from vbrand.model.kernels import Gaussian, Student
from vbrand.model.roots import symmetric_roots
from vbrand.stage1.lessons import forgotten, not_too_extreme, recalled
from vbrand.stage1.modes import _vague, known_without, learn_modes, recall
from vbrand.stage1.tuning import TUNED


def learned(kernel, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(0, 1, (60, 3)), rng.normal(9, 2, (50, 3))])
    return rows, learn_modes(rows, np.repeat([0, 1], [60, 50]), kernel=kernel)


def without(rows, known, hidden, **settings):
    mask = np.zeros(len(rows), dtype=bool)
    mask[hidden] = True
    return known_without(known, rows, recall(known, rows, **settings), mask, **settings)


def test_without_rows_that_were_forgotten_statistics_are_those_of_the_others():
    """Gaussian rows weigh one each: what is left is a plain sum."""
    rows, known = learned(Gaussian())
    hidden = np.isin(np.arange(110), np.arange(0, 110, 7))
    lessons = known.lessons
    vague = _vague(np.zeros(3), Gaussian(), None, TUNED, np.eye(3))
    left = forgotten(lessons, recalled(lessons, rows, vague), hidden)
    white = rows @ lessons.inverse.T
    for k in range(left.counts.size):
        own = white[~hidden][lessons.mode_of[~hidden] == k] - left.origin[k]
        assert left.counts[k] == pytest.approx(len(own))
        np.testing.assert_allclose(left.sums[k], own.sum(axis=0), atol=1e-8)
        np.testing.assert_allclose(left.squares[k], own.T @ own, atol=1e-7)


def test_rows_that_are_not_at_hand_stay_learned():
    """Of a class with many rows only some are kept."""
    rows, known = learned(Student(15.0))
    kept = np.flatnonzero(np.arange(110) % 2 == 0)
    some = replace(known, lessons=known.lessons.of_rows(kept))
    fewer, _ = without(rows[kept], some, np.arange(5))
    assert fewer.rows.sum() == 105
    np.testing.assert_allclose(fewer.centres, known.centres, atol=0.2)


def test_what_rows_at_hand_do_not_explain_is_nothing():
    """Heavy tails: ascents end before weights are those of the scatter. For mail of 57 columns the rest had no root."""
    rng = np.random.default_rng(1)
    rows = np.exp(rng.normal(0.0, 2.0, (300, 5))) * (rng.random((300, 5)) < 0.5)
    known = learn_modes(rows, np.repeat([0, 1], 150), kernel=Student(3.0))
    for mode in recall(known, rows).modes:
        assert not mode.absent.squares.any()
        assert not mode.absent.sums.any()


def test_forgetting_no_row_changes_nothing():
    rows, known = learned(Student(15.0))
    same, kept = without(rows, known, np.zeros(0, dtype=int))
    np.testing.assert_allclose(same.centres, known.centres, atol=1e-12)
    np.testing.assert_allclose(same.scatters, known.scatters, atol=1e-9)
    assert kept.tolist() == list(range(known.rows.size))


@pytest.mark.parametrize("kernel", [Gaussian(), Student(15.0)])
def test_forgetting_is_nearly_learning_without(kernel):
    """(3.26): also where a few rows make the scatter of many columns; hidden rows leave nothing behind."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(0, 1, (60, 12)) + np.repeat([0, 9], 30)[:, None], np.repeat([0, 1], 30)
    known = learn_modes(rows, labels, kernel=kernel)
    hidden = np.arange(0, 60, 6)
    fewer, _ = without(rows, known, hidden)
    anew = learn_modes(np.delete(rows, hidden, axis=0), np.delete(labels, hidden), kernel=kernel)
    assert fewer.rows.sum() == anew.rows.sum()
    for j in range(2):
        own = rows[hidden][labels[hidden] == j]
        distances = [
            np.einsum("ni,ij,nj->n", own - part.centres[j], np.linalg.inv(part.scatters[j]), own - part.centres[j])
            for part in (known, fewer, anew)
        ]
        before, left, wanted = (each.mean() for each in distances)
        assert abs(left - wanted) < 0.25 * (wanted - before)


def test_a_class_keeps_its_last_component():
    rows, known = learned(Student(15.0))
    fewer, kept = without(rows, known, np.flatnonzero(known.lessons.mode_of == 0))
    assert set(fewer.class_of.tolist()) == {0, 1}
    assert 0 in kept


def test_a_class_keeps_its_last_numbers():
    """Seed 700208 of the attack on mixed tables: of rows with nothing but categories some are left, of numbers none."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 1, (12, 2)), rng.normal(9, 1, (12, 2))])
    rows[4:12] = np.nan
    known = learn_modes(rows, np.repeat([0, 1], 12), kernel=Student(15.0))
    fewer, kept = without(rows, known, np.arange(4))
    assert set(fewer.class_of.tolist()) == {0, 1}
    assert np.isfinite(fewer.centres).all()
    assert np.isfinite(fewer.scatters).all()
    assert kept.tolist() == list(range(known.rows.size))


def test_what_leaves_no_scatter_is_told_with_what_to_do():
    with pytest.raises(ValueError, match="do not fit what was learned from them"), not_too_extreme():
        symmetric_roots(-np.eye(2))


def in_two_modes(seed):
    """Return rows of a class whose modes hardly lie apart, and of another one."""
    rng = np.random.default_rng(seed)
    small = rng.normal([3.7, 0, 0], 0.5, (9, 3))
    rows = np.vstack([rng.normal(0, 1, (51, 3)), small, rng.normal(12, 1, (60, 3))])
    return rows, learn_modes(rows, np.repeat([0, 1], [60, 60]), kernel=Student(15.0))


def test_a_mode_that_the_other_rows_would_not_have_made_is_gone():
    """(3.40), by learning anew: where the other rows alone make no such mode there is none, but for close calls."""
    tables = [in_two_modes(seed) for seed in range(16)]
    several = [(rows, known) for rows, known in tables if (known.class_of == 0).sum() > 1]
    modes = list[tuple[int, int, int]]()
    for rows, known in several:
        hidden = np.flatnonzero(known.lessons.mode_of == 1)[:3]
        fewer, kept = without(rows, known, hidden)
        assert fewer.class_of.tolist() == known.class_of[kept].tolist()
        anew = learn_modes(np.delete(rows, hidden, axis=0), np.repeat([0, 1], [60 - 3, 60]), kernel=Student(15.0))
        modes.append(tuple(int((each.class_of == 0).sum()) for each in (known, fewer, anew)))
    before, left, wanted = np.array(modes).T
    assert (left == wanted).mean() > 0.7
    assert (left < before).any()


def test_a_mode_that_stands_without_the_hidden_rows_stays():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 1, (60, 3)), rng.normal(9, 1, (30, 3)), rng.normal(-12, 1, (60, 3))])
    known = learn_modes(rows, np.repeat([0, 1], [90, 60]), kernel=Student(15.0))
    assert known.class_of.tolist() == [0, 0, 1]
    assert without(rows, known, [0, 61, 62])[1].tolist() == [0, 1, 2]


def test_a_class_of_which_rows_are_not_at_hand_keeps_its_modes():
    rows, known = next(each for each in map(in_two_modes, range(16)) if (each[1].class_of == 0).sum() > 1)
    kept = np.flatnonzero(np.arange(120) % 2 == 0)
    some = replace(known, lessons=known.lessons.of_rows(kept))
    hidden = np.flatnonzero(some.lessons.mode_of == 1)[:1]
    assert without(rows[kept], some, hidden)[1].tolist() == list(range(known.rows.size))
