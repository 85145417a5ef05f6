"""What labelled rows teach about categories."""

import numpy as np
import pytest

from vbrand.model.kernels import Gaussian, Student
from vbrand.stage1.levels import base_levels, classes_without_numbers, known_levels, learn_levels, levels_without
from vbrand.stage1.modes import known_without, learn_modes, recall

SIZES = (3, 4)


def table(rows=60, seed=0, chances=((0.9, 0.1), (0.1, 0.9))):
    """Return rows of two classes: two numbers, and two categories, of which only the first differs between them."""
    rng = np.random.default_rng(seed)
    parts = []
    for centre, chance in zip((0.0, 5.0), chances, strict=True):
        first = rng.choice(2, rows, p=chance)
        parts.append(np.column_stack([rng.normal(centre, 1.0, (rows, 2)), first, rng.integers(0, 3, rows)]))
    return np.vstack(parts), np.repeat([0, 1], rows)


def learned(rows, member):
    known = learn_modes(rows[:, :2], member, kernel=Student(15.0))
    return learn_levels(known, rows, member, SIZES, Student(15.0))


def test_known_classes_begin_with_the_levels_of_their_rows():
    rows, member = table()
    known = learned(rows, member)
    counted = np.array([(rows[member == j, 2] == level).sum() for j in range(2) for level in range(3)]).reshape(2, 3)
    np.testing.assert_allclose(known.levels[:, :3], counted, atol=1.0)
    base = base_levels(known)
    np.testing.assert_allclose(known_levels(known, base, fixed=False).counts, base.counts + known.levels)
    exact = known_levels(known, base, fixed=True)
    assert exact.fixed.all()
    np.testing.assert_allclose(exact.by_column(exact.counts), 1.0)


def test_a_wrong_label_hardly_moves_a_class():
    rows, member = table(chances=((1.0, 0.0), (0.0, 1.0)))
    wrong = member.copy()
    wrong[60:64] = 0  # rows of the second class
    known = learned(rows, wrong)
    assert known.levels[0, 1] < 0.1
    only = learn_levels(
        classes_without_numbers(wrong, Gaussian()),
        np.column_stack([np.zeros(120), rows[:, 2:]]),
        wrong,
        SIZES,
        Gaussian(),
    )
    assert only.levels[0, 1] < 3.0  # of the four: levels alone tell less


def test_a_column_in_which_classes_are_alike_is_expected_to_be_the_same_in_a_novel_one():
    base = base_levels(learned(*table()))
    differs, alike = base.by_column(base.counts)[0]
    assert differs < 5.0
    assert alike > 20.0


def test_forgetting_rows_is_learning_without_them():
    rows, member = table()
    known = learned(rows, member)
    hidden = np.arange(120) % 10 == 0
    fewer, kept = known_without(known, rows, recall(known, rows), hidden)
    gone = np.array([(rows[hidden & (member == j), 2] == level).sum() for j in range(2) for level in range(3)])
    np.testing.assert_allclose((known.levels - fewer.levels)[:, :3].ravel(), gone, atol=0.5)
    assert kept.tolist() == [0, 1]
    assert levels_without(learn_modes(rows[:, :2], member, kernel=Gaussian()), rows, hidden, kept) is None


@pytest.mark.parametrize("kernel", [Gaussian(), Student(15.0)])
def test_without_numbers_a_number_that_is_always_0_has_density_1(kernel):
    known = classes_without_numbers(np.repeat([0, 1], 5), kernel)
    density = kernel.log_density(np.zeros(1), 1) - 0.5 * np.log(known.scatters[0, 0, 0])
    np.testing.assert_allclose(density, 0.0, atol=1e-12)
    assert not known.numbers
