"""k-means finds clouds that lie apart, and cuts the widest piece each time."""

import numpy as np
import pytest

from vbrand.inference.blobs import blobs


def clouds(centres, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(centre, 1.0, size=(n, 2)) for centre in centres])


def test_clouds_apart_are_found():
    rows = clouds([(0, 0), (30, 0), (0, 50), (40, 40)])
    found = blobs(rows, 4, 10)[2].reshape(4, 40)
    assert all(len(set(piece)) == 1 for piece in found.tolist())
    assert len(set(found[:, 0].tolist())) == 4


def test_every_row_is_at_its_nearest_centre_in_the_end():
    rows = clouds([(0, 0), (4, 1), (1, 5)])
    for pieces, labels in enumerate(blobs(rows, 5, 100), start=2):
        centres = np.array([rows[labels == k].mean(axis=0) for k in range(pieces)])
        distance = np.square(rows[:, None] - centres).sum(axis=2)
        np.testing.assert_array_equal(distance.argmin(axis=1), labels)


def test_the_longest_axis_is_cut():
    rows = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 9.0, 2.0]
    labels = blobs(rows, 2, 0)[0]
    assert np.abs(rows[labels == 0, 1].mean() - rows[labels == 1, 1].mean()) > 10.0


@pytest.mark.parametrize("n", [2, 7])
def test_rows_that_are_all_equal_stay_together(n):
    assert not blobs(np.ones((n, 3)), 2, 10).any()
