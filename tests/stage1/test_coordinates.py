"""Working coordinates: median 0 and robust scale 1 in every column, whatever the units."""

import numpy as np
import pytest

from vbrand.stage1.coordinates import Coordinates
from vbrand.stage1.elicit import Beliefs


def test_units_and_shifts_do_not_meet_the_numerics():
    rows = np.random.default_rng(0).normal(size=(51, 3))
    units, shift = np.array([1e-9, 1.0, 1e12]), np.array([5.0, -3.0, 1e13])
    plain = Coordinates.of(rows).inward(rows)
    np.testing.assert_allclose(Coordinates.of(rows * units + shift).inward(rows * units + shift), plain, atol=1e-3)
    np.testing.assert_allclose(np.median(plain, axis=0), 0.0, atol=1e-12)


def test_rows_are_never_so_far_out_that_they_have_no_square():
    """A model file whose units are a hundred orders smaller than its rows."""
    inward = Coordinates(np.zeros(2), np.array([1e-200, 1.0])).inward(np.array([[1e200, 3.0], [-1e250, np.nan]]))
    assert np.isfinite(np.square(inward[:, 0])).all()
    assert inward[0, 1] == 3.0
    assert np.isnan(inward[1, 1])


def test_values_that_are_too_small_to_square_are_refused():
    with pytest.raises(ValueError, match="too small or too large"):
        Coordinates.of(np.random.default_rng(0).normal(size=(20, 1)) * 1e-310)


def test_beliefs_about_novel_classes_follow_the_units():
    rows = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 100.0] + [0.0, 7.0]
    coordinates = Coordinates.of(rows)
    scale = np.array([[2.0, 30.0], [30.0, 9_000.0]])
    inward = coordinates.beliefs_inward(Beliefs(novel_mean=rows[0], novel_scale=scale))
    np.testing.assert_allclose(coordinates.outward(inward.novel_mean[None])[0], rows[0])
    np.testing.assert_allclose(inward.novel_scale * np.outer(coordinates.unit, coordinates.unit), scale)
    # the correlation has no units
    assert inward.novel_scale[0, 1] / np.sqrt(np.diag(inward.novel_scale).prod()) == pytest.approx(
        scale[0, 1] / np.sqrt(np.diag(scale).prod())
    )


def test_coordinates_end_where_squares_would_swallow_the_thinnest_class():
    """(3.1): of a million of its scales, at least a thousand of those of all rows."""
    coordinates = Coordinates.of(np.random.default_rng(0).normal(size=(40, 2)))
    for least, wanted in ((1e-4, 1e4), (4.0, 1e6), (1e-30, 300.0), (-1e-18, 300.0)):
        scatters = np.array([np.eye(2), np.diag([least, 1.0])])
        assert coordinates.reaching(scatters).farthest == pytest.approx(wanted)
    rows = coordinates.reaching(1e-4 * np.eye(2)[None]).view(np.array([[1e9, 0.0], [0.0, -1e9]]))
    np.testing.assert_allclose(np.abs(rows.working(slice(None))).max(axis=1), 1e4)
