from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from deep import amount
from scipy import stats
from scipy.special import gammaln, softmax

from vbrand.inference import cells, sampler, split_merge
from vbrand.inference.kernel import Slices, draw, statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.inference.sampler import Schedule, Target, run_chains, state_of, step
from vbrand.inference.tuning import SamplerTuning
from vbrand.model.components import Components, evidence
from vbrand.model.conditionals import Drawn, slice_scores
from vbrand.model.kernels import Gaussian
from vbrand.model.levels import Levels
from vbrand.model.prior import Prior, with_novelties
from vbrand.model.weights import prior_weights

ROWS = 6


def small_target(p, known, update_known, sizes=(), seed=0, concentration=(2.0, 2.0), kappa=0.4):
    rng = np.random.default_rng(seed)
    count = known + 1
    scale = np.stack([np.atleast_2d(stats.wishart(p + 6, np.eye(p)).rvs(random_state=rng)) for _ in range(count)])
    components = Components(
        mean=2.0 * rng.normal(size=(count, p)),
        precision=np.append(np.full(known, 2.0 if update_known else np.inf), 0.5),
        dof=np.full(count, p + 5.0),
        scale=scale if update_known else scale / 5.0,
        kernels=(Gaussian(),) * count,
    )
    if sizes:
        counts = rng.uniform(0.3, 2.0, (count, sum(sizes)))
        fixed = np.append(np.full(known, not update_known), False)
        levels = Levels(counts, sizes, fixed)
        counts[fixed] /= levels.totals[fixed]
        components = replace(components, levels=levels)
    dirichlet = np.append(rng.uniform(0.5, 2.0, known), 1.5)
    return Target(Prior(components, prior_weights(dirichlet, concentration, 1), np.arange(known)), concentration, kappa)


def from_the_prior(target, rng):
    """Draw labels, concentration, weights, components and rows by scipy and the Chinese restaurant."""
    prior, known = target.prior, target.prior.known
    shape, rate = target.concentration
    gamma = rng.gamma(shape, 1.0 / rate)
    weights = rng.dirichlet(prior.weights.dirichlet)
    labels, sizes = np.empty(ROWS, dtype=int), []
    for i in range(ROWS):
        label = rng.choice(known + 1, p=weights)
        if label == known:
            odds = np.array([*sizes, gamma])
            cluster = rng.choice(odds.size, p=odds / odds.sum())
            sizes = [*sizes, 0] if cluster == len(sizes) else sizes
            sizes[cluster] += 1
            label += cluster
        labels[i] = label
    means, roots = [], []
    for k in range(known + len(sizes)):
        c = prior.components.reordered(np.array([min(k, known)]))
        if c.fixed[0]:
            mean, covariance = c.mean[0], c.scale[0]
        else:
            covariance = np.atleast_2d(stats.invwishart.rvs(c.dof[0], c.scale[0], random_state=rng))
            mean = normal(c.mean[0], covariance / c.precision[0], rng)
        means.append(mean)
        roots.append(np.linalg.cholesky(covariance))
    rows = np.stack([means[k] + roots[k] @ rng.normal(size=means[k].size) for k in labels])
    if prior.components.levels is not None:
        believed = prior.components.levels.reordered(np.minimum(np.arange(len(means)), known))
        shares = [
            [own if fixed else rng.dirichlet(own) for own in _parts(a, believed.sizes)]
            for a, fixed in zip(believed.counts, believed.fixed, strict=True)
        ]
        rows = np.column_stack([rows, _levels_of(labels, shares, rng)])
    return labels, gamma, weights, rows


def _parts(values, sizes):
    """Return numbers of levels by column."""
    return np.split(values, np.cumsum(sizes)[:-1])


def _levels_of(labels, shares, rng):
    """Draw the levels of rows, given shares by component and column; the first row has none in the second column."""
    codes = np.array([[rng.choice(own.size, p=own) for own in shares[k]] for k in labels], dtype=float)
    codes[0, 1] = -1.0
    return codes


def normal(mean, covariance, rng):
    """Draw a row; numpy's multivariate_normal takes ten times as long, for it checks the covariance."""
    return mean + np.linalg.cholesky(covariance) @ rng.normal(size=mean.size)


def features(labels, gamma, weights, rows, known, p):
    """Return bounded functions of parameters and rows: their means tell whether two distributions differ."""
    rows, codes = rows[:, :p], rows[:, p:]
    of_levels = [0.0] * 4
    if codes.size:
        first, together = codes[:, 0] == 0.0, labels[:, None] == labels
        of_levels = [first.mean(), first[labels >= known].sum(), (codes[1:, 1] == 1.0).mean()]
        of_levels += [((codes[:, :1] == codes[:, 0]) & together).mean()]
    clusters, sizes = np.unique(labels[labels >= known], return_counts=True)
    squares = np.square(rows).sum(axis=1)
    return np.array(
        [
            np.log(gamma),
            gamma,
            clusters.size,
            (sizes.astype(float) ** 2).sum(),
            np.log(gamma) * clusters.size,
            weights[-1],
            (labels >= known).sum(),
            np.tanh(rows[:, 0] / 3.0).mean(),
            np.log(squares).mean(),
            np.tanh(squares / 10.0).mean(),
            np.tanh(rows[:, 0] / 3.0)[labels >= known].sum(),
            *of_levels,
        ]
    )


@cache
def straight_from_the_prior(setting, count):
    """Return features of so many draws from the prior; the tests of broken conditionals share them."""
    target, rng = small_target(*setting), np.random.default_rng([0, 0])
    return np.stack([features(*from_the_prior(target, rng), target.prior.known, setting[0]) for _ in range(count)])


def rows_given(rows, held, means, roots, rng):
    """Draw the cells of rows that are not held, given those that are; roots are those of precisions, R' R."""
    if not held.any():
        return means + np.linalg.solve(roots, rng.normal(size=rows.shape)[:, :, None])[:, :, 0]
    covariances = np.linalg.inv(np.swapaxes(roots, 1, 2) @ roots)
    return np.stack([given_some(*each, rng) for each in zip(rows, held, means, covariances, strict=True)])


def given_some(row, held, mean, covariance, rng):
    """Draw the cells of a row that are not held, given those that are."""
    if not held.any():
        return normal(mean, covariance, rng)
    inside, across = covariance[np.ix_(held, held)], covariance[np.ix_(~held, held)]
    row, slope = row.copy(), np.linalg.solve(inside, across.T).T
    left = covariance[np.ix_(~held, ~held)] - slope @ across.T
    row[~held] = normal(mean[~held] + slope @ (row[held] - mean[held]), left, rng)
    return row


def largest_difference(setting, sweeps, absent=None):
    """Return the largest z-score between draws from the prior and draws with rows given parameters in turn (Geweke).

    Cells that are `absent` are parameters, too: others are drawn given them.
    """
    target, rng = small_target(*setting), np.random.default_rng([0, 1])
    p, sizes = setting[0], setting[3] if len(setting) > 3 else ()
    direct, known = straight_from_the_prior(setting, 1_500), target.prior.known
    labels, gamma, _, rows = from_the_prior(target, rng)
    absent = np.zeros((ROWS, p), dtype=bool) if absent is None else absent
    chain = np.empty((sweeps, direct.shape[1]))
    for i in range(sweeps):
        seen = Rows.plain(np.column_stack([np.where(absent, np.nan, rows[:, :p]), rows[:, p:]]), sizes)
        cells = rows[:, :p][absent] if absent.any() else None
        state, sample = step(seen, target, state_of(seen, known, labels, gamma, cells), rng)
        labels, gamma = state.labels, state.concentration
        if absent.any():
            rows[:, :p][absent] = state.cells
        drawn = sample.components
        rows = rows_given(rows[:, :p], absent, drawn.mean[sample.places], drawn.root[sample.places], rng)
        if sizes:
            shares = [_parts(np.exp(logs), sizes) for logs in drawn.levels]
            rows = np.column_stack([rows, _levels_of(sample.places, shares, rng)])
        chain[i] = features(labels, gamma, sample.weights, rows, known, p)
    batches = chain.reshape(50, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 50 + direct.var(axis=0, ddof=1) / direct.shape[0])
    difference = chain.mean(axis=0) - direct.mean(axis=0)
    same = np.abs(difference) < 1e-12  # no known classes: weights are one
    return np.abs(np.where(same, 0.0, difference / np.where(same, 1.0, error))).max()


# eleven features in ten settings: by chance one is beyond this in about 1,300 runs of these tests
UNLIKELY = 4.5


@pytest.mark.parametrize(
    ("p", "known", "update_known"),
    [(p, known, update) for p in (1, 2) for known in (0, 1, 2) for update in (True, False) if known or update],
)
def test_draws_of_parameters_given_rows_and_of_rows_given_parameters_are_of_one_distribution(p, known, update_known):
    # two columns tell whether components are drawn as they should be, which few sweeps show; one tells all the rest
    assert largest_difference((p, known, update_known), 3_000 if p == 1 else 1_500) < UNLIKELY


# one cell, both cells or none of a row
GONE = np.array([[True, False], [False, True], [True, True], [False, False], [True, False], [False, True]])


@pytest.mark.parametrize("update_known", [True, False])
def test_missing_cells_are_drawn_as_one_more_conditional(update_known):
    """(10.14), (10.15), by Geweke's test."""
    assert largest_difference((2, 1, update_known), 1_500, GONE) < UNLIKELY


@pytest.mark.parametrize(("known", "update_known", "absent"), [(1, True, None), (2, False, None), (1, True, GONE)])
def test_levels_are_drawn_as_one_more_conditional(known, update_known, absent):
    """(10.16) to (10.18), by Geweke's test."""
    assert largest_difference((2, known, update_known, (2, 3)), 1_500, absent) < UNLIKELY


def test_levels_that_count_tenfold_are_noticed(monkeypatch):
    right = cells.added_up
    monkeypatch.setattr(cells, "added_up", lambda table, codes: 10.0 * right(table, codes))
    assert largest_difference((1, 1, True, (2, 3)), 1_500) > UNLIKELY


def test_cells_without_what_is_not_known_of_them_are_noticed(monkeypatch):
    right = cells.draw_all
    monkeypatch.setattr(cells, "draw_all", lambda rows, *given: right(rows, *given[:-2], 0.0 * given[-2], given[-1]))
    assert largest_difference((2, 1, True), 2_000, GONE) > UNLIKELY


@pytest.mark.parametrize(
    ("module", "name", "sweeps", "broken"),
    [
        # clusters keep their order on the stick, whatever the concentration
        (sampler, "draw_places", 3_000, lambda right: lambda counts, gamma, rng: np.arange(counts.size)),
        # one cluster too many
        (
            sampler,
            "draw_concentration",
            1_000,
            lambda right: lambda prior, now, k, n, rng: right(prior, now, k + 1, n, rng),
        ),
        # known rows may always go to the first novel component
        (
            sampler,
            "draw_depths",
            1_500,
            lambda right: lambda places, kappa, rng: right(np.maximum(places, 0), kappa, rng),
        ),
        # weights not divided by the slice sequence
        (sampler, "slice_scores", 1_000, lambda right: lambda drawn, w, known, kappa: right(drawn, w, known, 1e-9)),
        # splits and merges that do not know how many clusters are expected
        (split_merge, "log_split_odds", 1_000, lambda right: lambda *given: right(*given) + 1.0),
    ],
)
def test_a_broken_conditional_is_noticed(monkeypatch, module, name, sweeps, broken):
    monkeypatch.setattr(module, name, broken(getattr(module, name)))
    assert largest_difference((1, 1, True), sweeps) > UNLIKELY


def partitions(n, known):
    """Return all ways to put rows in known components and novel clusters, these numbered as they appear."""
    if n == 0:
        return [()]
    return [
        (*before, label)
        for before in partitions(n - 1, known)
        for label in range(max([known, *(label + 1 for label in before)]) + 1)
    ]


def log_posterior(labels, rows, target):
    """Return the log probability of a partition up to a constant, weights and components integrated out."""
    prior, known, gamma = target.prior, target.prior.known, target.concentration
    labels = np.array(labels)
    counts = np.bincount(labels, minlength=known)
    own = with_novelties(prior, counts.size - known)
    marginal = evidence(own.components, statistics_of_labels(Rows.plain(rows), labels, counts.size)).sum()
    novel = counts[known:]
    dirichlet = gammaln(prior.weights.dirichlet + np.append(counts[:known], novel.sum())).sum()
    restaurant = novel.size * np.log(gamma) + gammaln(novel).sum() + gammaln(gamma) - gammaln(gamma + novel.sum())
    return marginal + dirichlet + restaurant


@pytest.mark.parametrize("moves", [0, 2])
@pytest.mark.parametrize(("known", "update_known"), [(0, True), (1, True), (1, False)])
def test_partitions_come_as_often_as_their_posterior_says(moves, known, update_known):
    """All partitions of five rows, by enumeration; with and without splits and merges."""
    target = small_target(1, known, update_known, seed=2, concentration=1.2)
    rng = np.random.default_rng(1)
    rows = 2.0 * rng.normal(size=(5, 1))
    all_of_them = partitions(5, known)
    exact = dict(zip(all_of_them, softmax([log_posterior(each, rows, target) for each in all_of_them]), strict=True))
    state = state_of(Rows.plain(rows), known, np.full(5, known), 1.2)
    seen, sweeps = dict.fromkeys(all_of_them, 0), amount(2_500, 6_000)
    for _ in range(sweeps):
        state, _ = step(Rows.plain(rows), target, state, rng, tuning=SamplerTuning(most_moves=moves))
        number = {}
        seen[tuple(k if k < known else number.setdefault(k, known + len(number)) for k in state.labels.tolist())] += 1
    apart = 0.5 * sum(abs(seen[each] / sweeps - exact[each]) for each in all_of_them)
    # E|share - p| of independent draws is about sqrt(2 p (1 - p) / (pi sweeps))
    chance = np.array(list(exact.values()))
    assert apart < 2.0 * 0.5 * np.sqrt(2.0 * chance * (1.0 - chance) / (np.pi * sweeps)).sum()


def random_draw(p, known, places, n=3_000, seed=0, spread=1.0):
    """Return rows, means and covariances of components, scores, and a component and a slice for each row."""
    rng = np.random.default_rng(seed)
    count = known + places
    root = np.tril(0.3 * rng.normal(size=(count, p, p)), -1) + np.eye(p)
    drawn = Drawn(spread * rng.normal(size=(count, p)), root)
    scores = slice_scores(drawn, np.log(rng.dirichlet(np.ones(count))), known, 0.4)
    labels = rng.integers(0, count, n).astype(np.int32)
    depths = np.minimum(np.maximum(labels - known + 1, 0) + rng.integers(0, 3, n), places)
    rows = drawn.mean[labels] + rng.normal(size=(n, p))
    return Rows.plain(rows), scores, labels, Slices(known, depths, rng.random(n))


@pytest.mark.parametrize(("p", "known", "places"), [(2, 2, 5), (2, 0, 3), (5, 3, 0), (20, 2, 4), (40, 1, 9)])
def test_rows_go_where_their_slice_allows_and_statistics_are_those_of_their_labels(p, known, places):
    rows, scores, labels, slices = random_draw(p, known, places)
    swept = draw(rows, scores, labels, slices)
    assert (swept.winners < known + slices.depths).all()
    expected = statistics_of_labels(rows, swept.winners, known + places).about(scores.centre)
    assert np.array_equal(swept.statistics.counts, expected.counts)
    assert np.allclose(swept.statistics.sums, expected.sums, atol=1e-9)
    assert np.allclose(swept.statistics.squares, expected.squares, atol=1e-8)


@pytest.mark.parametrize(("p", "spread"), [(2, 1.0), (20, 0.3), (20, 2.0)])
def test_rows_choose_by_their_probabilities(p, spread):
    """One row many times over: shares of its components are those of a dense calculation."""
    rows, scores, labels, slices = random_draw(p, 2, 4, spread=spread)
    times, rng = 4_000, np.random.default_rng(1)
    for row in range(5):
        same = Rows.plain(np.repeat(rows.table[[row]], times, axis=0))
        allowed = 2 + slices.depths[row]
        score = np.array(
            [
                scores.constant[k] - 0.5 * np.square(scores.root[k] @ (rows.table[row] - scores.centre[k])).sum()
                for k in range(allowed)
            ]
        )
        repeated = Slices(2, np.full(times, slices.depths[row]), rng.random(times))
        drawn = draw(same, scores, np.full(times, labels[row], np.int32), repeated).winners
        shares = np.bincount(drawn, minlength=6) / times
        assert np.allclose(shares[:allowed], softmax(score), atol=0.035)
        assert not shares[allowed:].any()


def test_draws_do_not_depend_on_threads_or_on_the_table_layout():
    rows, scores, labels, slices = random_draw(3, 2, 4, n=40_000)
    one = draw(rows, scores, labels, slices)
    for other in (
        draw(rows, scores, labels, slices, threads=2),
        draw(Rows.plain(np.asfortranarray(rows.table)), scores, labels, slices),
    ):
        assert np.array_equal(one.winners, other.winners)
        assert np.array_equal(one.statistics.squares, other.statistics.squares)


def chains_of(jobs=1, chains=2, schedule=None, **given):
    target = small_target(2, 2, True)
    rng = np.random.default_rng(0)
    rows = Rows.plain(np.vstack([rng.normal(size=(40, 2)), rng.normal(5.0, 1.0, size=(30, 2))]))
    starts = [rng.integers(0, 5, 70) for _ in range(chains)]
    schedule = Schedule(draws=50, burn=20, thin=3) if schedule is None else schedule
    return run_chains(rows, target, starts, schedule, 7, jobs=jobs, **given)


def test_draws_do_not_depend_on_the_number_of_workers():
    for ours, theirs in zip(chains_of(jobs=1), chains_of(jobs=2), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert np.array_equal(one.labels, other.labels)
            assert np.array_equal(one.weights, other.weights)


def test_a_schedule_keeps_every_third_sweep_after_the_burn_in():
    schedule = Schedule(draws=50, burn=20, thin=3)
    assert schedule.sweeps == 170
    assert [leg for leg in schedule.legs if not leg] == []
    assert sum(len(leg) for leg in schedule.legs) == 170
    assert [sweep for sweep in range(30) if schedule.keeps(sweep)] == [22, 25, 28]
    assert sum(leg.draws for leg in chains_of()[0]) == 50


def test_chains_differ_and_labels_take_one_byte():
    first, second = chains_of()
    assert not np.array_equal(first[-1].labels, second[-1].labels)
    assert first[-1].labels.dtype == np.uint8


def test_a_chain_that_goes_on_from_a_leg_gives_the_same_draws():
    kept = {}

    def keep(chain, number, leg):
        kept[chain, number] = leg
        return leg

    whole = chains_of(keep=keep)
    half = {key: leg for key, leg in kept.items() if key[1] < 30 + 10 * key[0]}
    again = chains_of(recall=lambda chain, number: half.get((chain, number)))
    for ours, theirs in zip(whole, again, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert np.array_equal(one.labels, other.labels)
            assert np.array_equal(one.known_means, other.known_means)


def test_more_than_255_clusters_are_kept_in_more_bytes():
    target = small_target(1, 1, True, concentration=400.0)
    rows = Rows.plain(np.random.default_rng(0).normal(0.0, 50.0, size=(900, 1)))
    (legs,) = run_chains(rows, target, [np.arange(900)], Schedule(3, 0, 1), 0)
    assert legs[0].labels.max() == np.unique(legs[0].labels).size - 1 > 255


def test_states_number_their_clusters_without_gaps():
    rows = Rows.plain(np.random.default_rng(0).normal(size=(5, 2)))
    state = state_of(rows, 2, np.array([0, 7, 3, 7, 1]), 1.0)
    assert state.labels.tolist() == [0, 3, 2, 3, 1]
    assert state.statistics.counts.tolist() == [1, 1, 1, 2]
