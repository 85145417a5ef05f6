"""Sums and squares of labelled rows are those of numpy."""

import numpy as np

from vbrand.inference.kernel import statistics_of_labelings, statistics_of_labels
from vbrand.inference.rows import Rows


def test_pieces_have_the_moments_of_their_rows():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(50.0, 2.0, size=(90, 4)), rng.integers(0, 3, size=90)
    found = statistics_of_labels(Rows.plain(rows), labels, 4)
    assert found.counts.tolist() == np.bincount(labels, minlength=4).tolist()
    for k in range(3):
        own = rows[labels == k]
        np.testing.assert_allclose(found.origin[k], own.mean(axis=0), rtol=1e-13)
        np.testing.assert_allclose(found.sums[k], 0.0, atol=1e-10)
        np.testing.assert_allclose(found.squares[k], np.cov(own.T, bias=True) * own.shape[0], rtol=1e-10)
    assert not found.squares[3].any()


def test_several_labelings_are_as_each_alone():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 3))
    labelings = np.stack([rng.integers(0, pieces, size=60) for pieces in (2, 4, 3)])
    ends = np.array([0, 2, 6, 9])
    together = statistics_of_labelings(Rows.plain(rows), labelings, ends)
    for labels, first, last in zip(labelings, ends, ends[1:], strict=False):
        alone = statistics_of_labels(Rows.plain(rows), labels, last - first)
        here = together.reordered(np.arange(first, last))
        np.testing.assert_array_equal(here.counts, alone.counts)
        np.testing.assert_array_equal(here.origin, alone.origin)
        np.testing.assert_array_equal(here.squares, alone.squares)
