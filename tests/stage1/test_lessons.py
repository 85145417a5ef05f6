"""What rows taught can be forgotten again."""

import numpy as np
import pytest

from vbrand.model.kernels import Gaussian, Student
from vbrand.stage1.lessons import forgotten
from vbrand.stage1.modes import known_without, learn_modes


def learned(kernel, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(0, 1, (60, 3)), rng.normal(9, 2, (50, 3))])
    return rows, learn_modes(rows, np.repeat([0, 1], [60, 50]), kernel=kernel)


def test_without_rows_that_were_forgotten_statistics_are_those_of_the_others():
    """Gaussian rows weigh one each: what is left is a plain sum."""
    rows, known = learned(Gaussian())
    hidden = np.arange(0, 110, 7)
    lessons = known.lessons
    left = forgotten(lessons, rows[hidden], lessons.mode_of[hidden])
    white = rows @ lessons.inverse.T
    others = np.setdiff1d(np.arange(110), hidden)
    for k in range(left.counts.size):
        own = white[others][lessons.mode_of[others] == k] - left.origin[k]
        assert left.counts[k] == pytest.approx(len(own))
        np.testing.assert_allclose(left.sums[k], own.sum(axis=0), atol=1e-8)
        np.testing.assert_allclose(left.squares[k], own.T @ own, atol=1e-7)


def test_forgetting_no_row_changes_nothing():
    rows, known = learned(Student(15.0))
    none = np.zeros(0, dtype=int)
    same, kept = known_without(known, rows[none], none)
    np.testing.assert_allclose(same.centres, known.centres, atol=1e-12)
    np.testing.assert_allclose(same.scatters, known.scatters, atol=1e-12)
    assert kept.tolist() == list(range(known.rows.size))


def test_forgetting_is_nearly_learning_without():
    rows, known = learned(Student(15.0))
    hidden = np.arange(0, 110, 10)
    fewer, _ = known_without(known, rows[hidden], known.lessons.mode_of[hidden])
    anew = learn_modes(
        np.delete(rows, hidden, axis=0), np.delete(np.repeat([0, 1], [60, 50]), hidden), kernel=Student(15.0)
    )
    np.testing.assert_allclose(fewer.centres, anew.centres, atol=0.1)
    assert fewer.rows.sum() == anew.rows.sum()


def test_a_class_keeps_its_last_component():
    rows, known = learned(Student(15.0))
    own = np.flatnonzero(known.lessons.mode_of == 0)
    fewer, kept = known_without(known, rows[own], known.lessons.mode_of[own])
    assert set(fewer.class_of.tolist()) == {0, 1}
    assert 0 in kept
