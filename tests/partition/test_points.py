"""Point partitions of posterior draws: losses, the search, similarity and votes."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from vbrand.partition.points import best_partition, expected_loss, point_partition, similarity, similarity_blocks, vote

LOSSES = ["vi", "binder"]


def vi(a: np.ndarray, b: np.ndarray) -> float:
    """The variation of information, by entropies."""
    return float(entropy(np.bincount(a)) + entropy(np.bincount(b)) - 2.0 * mutual_info_score(a, b))


def binder(a: np.ndarray, b: np.ndarray) -> float:
    """The share of pairs that one partition joins and the other parts, pair by pair."""
    pairs = list(combinations(range(len(a)), 2))
    return sum((a[i] == a[j]) != (b[i] == b[j]) for i, j in pairs) / max(len(pairs), 1)


SLOW = {"vi": vi, "binder": binder}


@cache
def all_partitions(n: int) -> np.ndarray:
    """Restricted growth strings: a label exceeds those before it by one at most."""
    strings = [[0]]
    for _ in range(n - 1):
        strings = [[*string, label] for string in strings for label in range(max(string) + 2)]
    return np.array(strings)


def together(labels: np.ndarray) -> np.ndarray:
    return labels[..., :, None] == labels[..., None, :]


def all_losses(draws: np.ndarray, loss: str) -> np.ndarray:
    """The expected loss of all partitions, from who lies with whom."""
    n = draws.shape[1]
    mine = together(all_partitions(n))  # (partitions, n, n)
    total = np.zeros(len(mine))
    for theirs in together(draws):
        if loss == "binder":
            total += (mine != theirs).sum(axis=(1, 2)) / (n * (n - 1))
        else:
            # a row's information about its own group that the other partition lacks, both ways
            common = np.log((mine & theirs).sum(axis=2))
            total += (np.log(mine.sum(axis=2)) + np.log(theirs.sum(axis=1)) - 2.0 * common).mean(axis=1)
    return total / len(draws)


def random_draws(rng: np.random.Generator, n: int) -> np.ndarray:
    clusters = rng.integers(2, n + 1)
    draws = rng.integers(clusters, size=(rng.integers(1, 12), n))
    common = rng.integers(clusters, size=n)
    return np.where(rng.random(draws.shape) < rng.choice([0.3, 1.0]), draws, common)


def noisy_draws(truth: np.ndarray, count: int, share: float) -> np.ndarray:
    """Draws that put a share of the rows anywhere, with the clusters renamed in each."""
    rng = np.random.default_rng(0)
    draws = np.tile(truth, (count, 1))
    astray = rng.random(draws.shape) < share
    draws[astray] = rng.integers(truth.max() + 3, size=astray.sum())
    return np.stack([rng.permutation(100)[draw] for draw in draws])


some_draws = st.tuples(st.integers(1, 5), st.integers(1, 9)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 6))
)
losses = st.sampled_from(LOSSES)
seeds = st.integers(0, 2**32)
quick = settings(deadline=None, max_examples=60)  # the first example compiles


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "tables"), [(2, 40), (3, 40), (4, 40), (5, 40), (6, 40), (7, 20), (8, 5)])
def test_search_finds_the_best_of_all_partitions(n, tables, loss):
    rng = np.random.default_rng(n)
    for seed in range(tables):
        draws = random_draws(rng, n)
        found = best_partition(draws, loss, random_state=seed)
        assert found.expected_loss == pytest.approx(all_losses(draws, loss).min(), abs=1e-12)
        assert found.expected_loss == pytest.approx(expected_loss(found.labels, draws, loss), abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_search_finds_the_best_partition_with_few_groups(most, loss):
    rng = np.random.default_rng(most)
    few = all_partitions(6).max(axis=1) < most
    for seed in range(10):
        draws = random_draws(rng, 6)
        found = best_partition(draws, loss, max_groups=most, random_state=seed)
        assert found.labels.max() < most
        assert found.expected_loss == pytest.approx(all_losses(draws, loss)[few].min(), abs=1e-12)


@quick
@given(draws=some_draws, loss=losses, data=st.data())
def test_expected_loss_is_the_mean_of_the_textbook_losses(draws, loss, data):
    labels = data.draw(arrays(np.int64, draws.shape[1], elements=st.integers(0, 6)))
    textbook = np.mean([SLOW[loss](labels, draw) for draw in draws])
    assert expected_loss(labels, draws, loss) == pytest.approx(textbook, abs=1e-12)


@quick
@given(draws=some_draws, loss=losses, seed=seeds)
def test_relabelling_clusters_changes_no_loss(draws, loss, seed):
    rng = np.random.default_rng(seed)
    renamed = np.stack([rng.permutation(300)[draw] for draw in draws])
    before = expected_loss(draws[0], draws, loss)
    assert expected_loss(draws[0], renamed, loss) == pytest.approx(before, abs=1e-12)
    assert expected_loss(renamed[0] - 50, draws, loss) == pytest.approx(before, abs=1e-12)


@quick
@given(draws=some_draws, loss=losses, seed=seeds)
def test_permuting_rows_changes_no_loss(draws, loss, seed):
    order = np.random.default_rng(seed).permutation(draws.shape[1])
    permuted = expected_loss(draws[0][order], draws[:, order], loss)
    assert permuted == pytest.approx(expected_loss(draws[0], draws, loss), abs=1e-12)


@quick
@given(draws=some_draws, loss=losses)
def test_repeating_all_draws_changes_no_loss(draws, loss):
    repeated = expected_loss(draws[0], np.repeat(draws, 3, axis=0), loss)
    assert repeated == pytest.approx(expected_loss(draws[0], draws, loss), abs=1e-12)


@quick
@given(draws=some_draws, loss=losses)
def test_loss_is_a_symmetric_distance(draws, loss):
    first, last = draws[0], draws[-1]
    assert expected_loss(first, draws[:1], loss) == pytest.approx(0.0, abs=1e-12)
    back = expected_loss(last, draws[:1], loss)
    assert expected_loss(first, draws[-1:], loss) == pytest.approx(back, abs=1e-12)
    assert (back > 1e-12) == (not np.array_equal(together(first), together(last)))


@quick
@given(draws=some_draws)
def test_expected_binder_loss_follows_from_the_similarity(draws):
    n = draws.shape[1]
    share = similarity(draws)
    expected = np.where(together(draws[0]), 1.0 - share, share).sum() / max(n * (n - 1), 1)
    assert expected_loss(draws[0], draws, "binder") == pytest.approx(expected, abs=1e-12)


@quick
@given(draws=some_draws)
def test_similarity_is_the_share_of_draws_with_both_rows_together(draws):
    np.testing.assert_allclose(similarity(draws), together(draws).mean(axis=0), rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64])
def test_similarity_holds_for_all_integers_and_block_borders(dtype):
    rng = np.random.default_rng(0)
    draws = rng.integers(np.iinfo(dtype).max, size=(7, 20), dtype=dtype)[:, rng.integers(20, size=150)]
    np.testing.assert_allclose(similarity(draws), together(draws).mean(axis=0), rtol=1e-15)


def test_more_than_256_clusters_in_a_draw_are_kept_apart():
    draws = np.stack([np.arange(600) // 2, np.arange(600)])
    np.testing.assert_array_equal(similarity(draws), together(draws).mean(axis=0))
    assert expected_loss(draws[0], draws) == pytest.approx(vi(draws[0], draws[1]) / 2)


@pytest.mark.parametrize("block", [1, 64, 1_024])
def test_blocks_make_up_the_similarity(block):
    draws = np.random.default_rng(0).integers(5, size=(30, 100))
    whole = np.full((100, 100), np.nan)
    for rows, shares in similarity_blocks(draws, block):
        whole[rows] = shares
    np.testing.assert_array_equal(whole, similarity(draws))


def test_similarity_of_some_rows_is_a_submatrix():
    draws = np.random.default_rng(0).integers(5, size=(30, 100))
    rows = np.array([70, 3, 99])
    np.testing.assert_array_equal(similarity(draws, rows), similarity(draws)[np.ix_(rows, rows)])


@pytest.mark.parametrize("loss", LOSSES)
def test_separated_groups_are_recovered_from_noisy_draws(loss):
    truth = np.repeat(np.arange(5), [120, 100, 80, 60, 40])
    found = best_partition(noisy_draws(truth, 300, 0.1), loss, random_state=0)
    np.testing.assert_array_equal(found.labels, truth)


def test_variation_of_information_joins_what_is_uncertain_and_binder_parts_it():
    truth = np.repeat(np.arange(3), 30)
    moderate, strong = (noisy_draws(truth, 200, share) for share in (0.25, 0.4))
    np.testing.assert_array_equal(best_partition(moderate, random_state=0).labels, truth)
    np.testing.assert_array_equal(best_partition(strong, random_state=0).labels, 0 * truth)
    parted = best_partition(strong, "binder", random_state=0)
    assert parted.labels.max() > truth.max()
    assert parted.expected_loss < expected_loss(truth, strong, "binder")


def test_no_draw_beats_the_best_partition():
    draws = noisy_draws(np.repeat(np.arange(4), 20), 50, 0.3)
    for loss in LOSSES:
        found = best_partition(draws, loss, random_state=0)
        assert found.expected_loss <= min(expected_loss(draw, draws, loss) for draw in draws)
        assert found.expected_loss == found.runs.min()
        assert found.loss == loss


def test_answer_depends_on_the_seed_only():
    draws = random_draws(np.random.default_rng(3), 60)
    one, two = (best_partition(draws, "binder", n_runs=6, n_jobs=jobs, random_state=0) for jobs in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(one.runs, two.runs)
    generator = best_partition(draws, "binder", n_runs=6, random_state=np.random.default_rng(0))
    np.testing.assert_array_equal(one.runs, generator.runs)


def test_groups_are_numbered_by_size_then_by_first_row():
    draws = np.array([[7, 5, 5, 3, 3, 9, 9, 9]])
    np.testing.assert_array_equal(best_partition(draws, random_state=0).labels, [3, 1, 1, 2, 2, 0, 0, 0])


def test_many_draws_are_thinned_for_the_search_but_not_for_the_loss():
    truth = np.repeat(np.arange(3), 10)
    draws = noisy_draws(truth, 2_500, 0.2)
    found = best_partition(draws, random_state=0, n_runs=4)
    np.testing.assert_array_equal(found.labels, truth)
    assert found.expected_loss == pytest.approx(expected_loss(truth, draws), abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_one_draw_is_its_own_best_partition(loss):
    draws = np.array([[4, 4, 2, 0, 2, 2]])
    found = best_partition(draws, loss, random_state=0)
    np.testing.assert_array_equal(found.labels, [1, 1, 0, 2, 0, 0])
    assert found.expected_loss == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [0, 1])
def test_no_row_or_one_row_is_no_error(n, loss):
    draws = np.zeros((3, n), dtype=np.uint8)
    found = best_partition(draws, loss, random_state=0)
    np.testing.assert_array_equal(found.labels, np.zeros(n))
    assert found.labels.dtype == np.int64
    assert found.expected_loss == 0.0
    assert similarity(draws).shape == (n, n)
    assert len(list(similarity_blocks(draws))) == n
    assert vote(draws, 2).shape == (n,)
    assert point_partition(draws, 0, random_state=0).shape == (n,)


def test_majority_of_draws_decides_on_novelty_then_votes_on_the_class():
    draws = np.array([[0, 2, 0, 2, 1], [0, 3, 1, 0, 1], [1, 0, 1, 5, 0], [0, 9, 5, 0, 0]])
    # the last row has a tie of classes 0 and 1, the fourth is novel in exactly half of the draws
    np.testing.assert_array_equal(vote(draws, 2), [0, 2, 1, 0, 0])
    np.testing.assert_array_equal(vote(draws, 2, threshold=0.4), [0, 2, 1, 2, 0])
    np.testing.assert_array_equal(vote(draws, 2, threshold=0.75), [0, 0, 1, 0, 0])
    np.testing.assert_array_equal(vote(draws, 0), np.zeros(5))


def test_novel_groups_are_numbered_after_the_known_classes_largest_first():
    truth = np.repeat([0, 1, 2, 3, 4], [10, 8, 5, 15, 9])
    rng = np.random.default_rng(0)
    names = np.stack([np.append([0, 1], 2 + rng.permutation(3)) for _ in range(50)])  # (50, 5), novel ones renamed
    draws = np.take_along_axis(names, np.tile(truth, (50, 1)), axis=1).astype(np.uint8)
    draws[:10] = np.where(rng.random((10, truth.size)) < 0.3, 0, draws[:10])
    np.testing.assert_array_equal(
        point_partition(draws, 2, random_state=0), np.repeat([0, 1, 4, 2, 3], [10, 8, 5, 15, 9])
    )


def test_without_novel_rows_the_point_partition_is_the_vote():
    draws = np.array([[0, 1, 1], [0, 1, 2], [0, 0, 1]])
    np.testing.assert_array_equal(point_partition(draws, 2, random_state=0), [0, 1, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: similarity(np.zeros(3, dtype=int)), r"shape \(3,\).*label_draws"),
        (lambda: similarity_blocks(np.zeros((0, 3), dtype=int)), "at least one draw"),
        (lambda: vote(np.zeros((2, 3)), 1), r"float64.*label_draws"),
        (lambda: best_partition(np.array([[0, -1]])), "contains -1.*start at 0"),
        (lambda: best_partition(np.array([[0, 1]]), "rand"), "'rand'; expected 'vi' or 'binder'"),
        (lambda: best_partition(np.array([[0, 1]]), n_runs=0), "n_runs is 0"),
        (lambda: best_partition(np.array([[0, 1]]), max_groups=0), "max_groups is 0"),
        (lambda: expected_loss(np.array([0]), np.array([[0, 1]])), "one label for each row"),
        (lambda: similarity(np.zeros((1, 10_001), dtype=int)), "rows=.*similarity_blocks"),
        (lambda: similarity_blocks(np.array([[0, 1]]), 0), "block is 0"),
        (lambda: vote(np.array([[0, 1]]), -1), "known is -1"),
        (lambda: vote(np.array([[0, 1]]), 1, 1.0), "threshold is 1.0"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
