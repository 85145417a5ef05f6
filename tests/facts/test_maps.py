"""Maps of rows: which are drawn, and where."""

import numpy as np
import pandas as pd
from calls import discover
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import write_grain

from vbrand.facts.maps import principal_places, principal_scores, rows_to_draw, steady_range, tsne_points, with_telling


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=300), st.integers(20, 400))
def test_the_sample_on_a_map_has_every_group_and_no_row_twice(clusters, most):
    clusters = np.array(clusters)
    drawn = rows_to_draw(clusters, most)
    assert set(clusters[drawn].tolist()) == set(clusters.tolist())
    assert np.unique(drawn).size == drawn.size <= max(most, 6)
    if clusters.size <= most:
        assert drawn.size == clusters.size


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=300), st.integers(20, 400))
def test_small_groups_are_drawn_whole(clusters, most):
    clusters = np.array(clusters)
    present, sizes = np.unique(clusters, return_counts=True)
    drawn = np.bincount(clusters[rows_to_draw(clusters, most)], minlength=6)[present]
    small = sizes <= most // (2 * present.size)
    assert (drawn[small] == sizes[small]).all()


def test_the_map_does_not_turn_with_the_order_of_rows():
    rows = np.random.default_rng(0).normal(size=(50, 4)) * [4.0, 3.0, 2.0, 1.0]
    order = np.random.default_rng(1).permutation(50)
    np.testing.assert_allclose(principal_scores(rows)[order], principal_scores(rows[order]), atol=1e-9)


def test_principal_components_are_uncorrelated_and_the_longest_come_first():
    rows = np.random.default_rng(0).normal(size=(200, 40)) @ np.random.default_rng(1).normal(size=(40, 40))
    scores = principal_scores(rows)
    assert scores.shape == (200, 30)
    covariance = np.cov(scores.T)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-8 * covariance[0, 0])
    assert (np.diff(np.diag(covariance)) <= 0.0).all()


def test_rows_beside_others_lie_where_they_would_and_move_nothing():
    rows = np.random.default_rng(0).normal(size=(50, 4)) * [4.0, 3.0, 2.0, 1.0]
    scores, beside = principal_places(rows, np.vstack([rows[:7], np.full((1, 4), 1e9)]))
    np.testing.assert_array_equal(scores, principal_scores(rows))
    np.testing.assert_allclose(beside[:7], scores[:7], atol=1e-9)
    assert np.isfinite(beside).all()
    scores, beside = principal_places(np.arange(5.0)[:, None], np.arange(3.0)[:, None])
    assert (scores.shape, beside.shape) == ((5, 2), (3, 2))


def test_there_are_always_two_principal_components():
    assert principal_scores(np.arange(5.0)[:, None]).shape == (5, 2)
    assert principal_scores(np.ones((1, 7))).shape == (1, 2)


def test_one_far_row_does_not_choose_the_axes():
    rows = np.random.default_rng(0).normal(size=(400, 3)) * [1.0, 10.0, 0.1]
    far = np.vstack([rows, [0.0, 0.0, 1e9]])
    moved = principal_scores(far)[:-1, 0]
    assert abs(np.corrcoef(moved, rows[:, 1])[0, 1]) > 0.99


def test_neighbours_stay_neighbours_and_the_same_rows_have_the_same_places():
    rows = np.vstack([np.random.default_rng(k).normal(20.0 * k, 1.0, (15, 4)) for k in range(2)])
    places = tsne_points(principal_scores(rows))
    assert places.shape == (30, 2)
    centres = places[:15].mean(axis=0), places[15:].mean(axis=0)
    near = np.linalg.norm(places - np.repeat(centres, 15, axis=0), axis=1)
    far = np.linalg.norm(places - np.repeat(centres[::-1], 15, axis=0), axis=1)
    assert (near < far).all()
    np.testing.assert_array_equal(places, tsne_points(principal_scores(rows)))


def test_too_few_rows_or_rows_in_one_place_have_no_map_of_neighbours():
    rows = np.random.default_rng(0).normal(size=(9, 3))
    assert tsne_points(rows) is None
    assert tsne_points(np.repeat(rows[:1], 30, axis=0)) is None
    assert tsne_points(1e-12 * np.random.default_rng(0).normal(size=(30, 3))) is None


def test_rows_that_are_all_the_same_have_no_map_of_neighbours(tmp_path):
    """t-SNE of rounding errors ended the process."""
    train, test = write_grain(tmp_path)
    table = pd.read_csv(test)
    table.iloc[[0] * 30].to_csv(test, index=False)
    discover(tmp_path, train, test, "--label", "variety", "-q")
    assert '"tsne":[[' not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_more_rows_than_a_map_ever_holds_have_no_map_of_neighbours():
    """A file made by hand kept `report` at it for hours."""
    assert tsne_points(np.random.default_rng(0).normal(size=(60_000, 3))) is None


def test_the_most_novel_and_the_most_doubtful_rows_are_on_every_map():
    score = np.random.default_rng(0).normal(size=5_000)
    drawn = with_telling(np.arange(0, 5_000, 10), 1.0 / (1.0 + np.exp(-score)), score, 0.5)
    assert {*np.argsort(-score)[:50].tolist(), *np.argsort(np.abs(score))[:50].tolist()} <= set(drawn.tolist())
    assert (np.diff(drawn) > 0).all()
    assert drawn.size <= 600


def test_strays_and_outlier_groups_do_not_squash_the_map():
    rng = np.random.default_rng(0)
    places = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(8, 2)) + 30.0, [[500.0, 0.0], [0.0, -400.0]]])
    clusters = np.repeat([0, 1, 0, 2], [100, 8, 1, 1])
    shown = steady_range(places, clusters, np.array([True, True, False]))
    inside = ((places >= shown[:, 0]) & (places <= shown[:, 1])).all(axis=1)
    assert inside.tolist() == [True] * 108 + [False, False]
    assert (shown[:, 1] - shown[:, 0] < 40.0).all()


def test_without_strays_the_range_is_that_of_the_rows():
    places = np.random.default_rng(0).uniform(size=(50, 2))
    shown = steady_range(places, np.zeros(50, dtype=int), np.array([True]))
    np.testing.assert_array_equal(shown, np.stack([places.min(axis=0), places.max(axis=0)], axis=1))
    np.testing.assert_array_equal(steady_range(places, np.zeros(50, dtype=int), np.array([False])), shown)
