"""VBrand: the public contract."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from deep import amount
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import needs_shared, statlog
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.utils.estimator_checks import check_estimator

from vbrand import VBrand
from vbrand.metrics import evaluate


def three_known_two_novel(seed=0, p=3, n=60):
    """Return labelled rows, labels, unlabelled rows, truth; classes 3 and 4 are never labelled."""
    rng = np.random.default_rng(seed)
    centres = 12.0 * rng.normal(size=(5, p))
    shapes = [rng.normal(size=(p, p)) * 0.5 + np.eye(p) for _ in range(5)]
    make = [lambda k=k: centres[k] + rng.normal(size=(n, p)) @ shapes[k] for k in range(5)]
    labelled = np.vstack([make[k]() for k in range(3)])
    unlabelled = np.vstack([make[k]() for k in range(5)])
    return labelled, np.repeat(np.arange(3), n), unlabelled, np.repeat(np.arange(5), n)


@pytest.fixture(scope="module")
def problem():
    return three_known_two_novel()


@pytest.fixture(scope="module")
def fitted(problem):
    labelled, labels, unlabelled, _ = problem
    detector = VBrand(random_state=0).fit(labelled, labels)
    return detector, detector.discover(unlabelled)


def test_scikit_learn_accepts_it():
    check_estimator(VBrand())


def test_known_classes_and_novel_groups_are_found(problem, fitted):
    _, found = fitted
    scores = evaluate(problem[3], found)
    assert scores.ari > 0.95
    assert scores.novelty_f1 > 0.95
    assert [group.kind for group in found.groups].count("novel group") == 2
    assert (found.n_groups.low, found.n_groups.high) == (2, 2)


def test_the_answer_keeps_its_contract(problem, fitted):
    _, found = fitted
    n, groups = len(problem[2]), found.probabilities.shape[1] - 3
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0, atol=1e-12)
    assert set(found.labels) <= {-1, 0, 1, 2}
    assert (found.labels == np.where(found.clusters < 3, found.clusters, -1)).all()
    assert ((found.novelty_probability > 0.5) == (found.labels == -1)).all()
    sizes = np.bincount(found.clusters, minlength=3 + groups)[3:]
    assert (sizes > 0).all()
    assert (np.diff(sizes) <= 0).all()
    assert len(found.summary().groups) == 3 + groups
    assert sum(group.rows for group in found.groups) == n
    assert found.elbo == max(trace[-1] for trace in found.traces)
    assert len(found.traces) == 1
    assert any(move.kept for move in found.history)
    np.testing.assert_allclose(found.novelty_probability, found.probabilities[:, 3:].sum(axis=1), atol=1e-12)


def test_predicting_the_discovered_rows_repeats_the_labels(problem, fitted):
    detector, found = fitted
    rows = problem[2]
    np.testing.assert_array_equal(detector.predict(rows), found.labels)
    np.testing.assert_array_equal(detector.novelty_score(rows), found.novelty_score)
    np.testing.assert_array_equal(detector.decision_function(rows), -found.novelty_score)
    probabilities = detector.predict_proba(rows)
    assert probabilities.shape == (len(rows), 4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(probabilities[:, 3], found.novelty_probability)
    assert ((detector.decision_function(rows) >= 0) == (found.labels != -1)).all()


def test_the_novelty_score_does_not_saturate(problem, fitted):
    detector, _ = fitted
    far = problem[2].mean(axis=0) + np.outer([1e2, 1e3, 1e4], np.ones(3))
    assert len(np.unique(detector.novelty_score(far))) == 3
    assert np.isfinite(detector.novelty_score(far)).all()


@pytest.mark.parametrize("threshold", [0.01, 0.5, 0.999])
def test_the_threshold_decides(problem, threshold):
    labelled, labels, unlabelled, _ = problem
    detector = VBrand(random_state=0, threshold=threshold, search="none").fit(labelled, labels)
    found = detector.discover(unlabelled)
    assert ((found.labels == -1) == (found.novelty_probability > threshold)).all()
    np.testing.assert_array_equal(detector.predict(unlabelled), found.labels)


def test_score_samples_is_a_log_density():
    rng = np.random.default_rng(0)
    train = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(5, 1, (50, 2))]) * [1.0, 100.0]
    test = rng.normal(-5, 1, (30, 2)) * [1.0, 100.0]
    detector = VBrand(random_state=0).fit(train, np.repeat([0, 1], 50))
    detector.discover(test)
    u = (np.arange(500) + 0.5) / 250 - 1.0
    x, stretch = 10.0 * np.tan(0.5 * np.pi * u), 10.0 * 0.5 * np.pi / np.cos(0.5 * np.pi * u) ** 2 / 250
    grid = np.stack(np.meshgrid(x, 100.0 * x), axis=-1).reshape(-1, 2)
    density = np.exp(detector.score_samples(grid)).reshape(500, 500)
    assert (100.0 * stretch) @ density @ stretch == pytest.approx(1.0, abs=5e-3)


def test_before_discover_predictions_use_the_prior(problem):
    labelled, labels, _, _ = problem
    detector = VBrand(random_state=0).fit(labelled, labels)
    assert (detector.predict(labelled) == labels).mean() > 0.9
    assert (detector.predict(labelled + 1e3) == -1).all()


def test_unlabelled_rows_in_the_same_table_are_discovered(problem):
    labelled, labels, unlabelled, _ = problem
    names = np.array(["oat", "rye", "wheat"])[labels]
    table = pd.DataFrame(np.vstack([labelled, unlabelled]), columns=["a", "b", "c"])
    mixed = pd.Series([*names, *[None] * len(unlabelled)])
    detector = VBrand(random_state=0).fit(table, mixed)
    found = VBrand(random_state=0).fit(table[: len(labelled)], names).discover(table[len(labelled) :])
    np.testing.assert_array_equal(detector.discovery_.labels, found.labels)
    assert set(found.labels) == {"oat", "rye", "wheat", "novel"}
    assert found.columns == ("a", "b", "c")
    assert [group.name for group in found.groups[:3]] == ["oat", "rye", "wheat"]
    numbers = VBrand(random_state=0).fit(np.asarray(table), np.r_[labels, np.full(len(unlabelled), -1)])
    assert set(numbers.discovery_.labels) == {-1, 0, 1, 2}


def test_polars_pandas_and_numpy_give_the_same(problem):
    labelled, labels, unlabelled, _ = problem
    plain = VBrand(random_state=0, search="none").fit(labelled, labels).discover(unlabelled)
    for frame, series in ((pd.DataFrame, pd.Series), (pl.DataFrame, pl.Series)):
        names = {name: labelled[:, j] for j, name in enumerate("abc")}
        test = {name: unlabelled[:, j] for j, name in enumerate("abc")}
        found = VBrand(random_state=0, search="none").fit(frame(names), series(labels)).discover(frame(test))
        np.testing.assert_array_equal(found.probabilities, plain.probabilities)


def test_the_same_seed_gives_the_same_answer_for_any_number_of_workers(problem):
    labelled, labels, unlabelled, _ = problem
    answers = [VBrand(random_state=7, n_jobs=n).fit(labelled, labels).discover(unlabelled) for n in (1, 2, 3)]
    for other in answers[1:]:
        np.testing.assert_array_equal(other.probabilities, answers[0].probabilities)
        assert other.elbo == answers[0].elbo
        assert all((a == b).all() for a, b in zip(other.traces, answers[0].traces, strict=True))


@pytest.mark.parametrize("search", ["moves", "restarts", "none"])
def test_every_search_finds_the_bound_of_its_best_start(problem, search):
    labelled, labels, unlabelled, _ = problem
    found = VBrand(random_state=0, search=search, n_starts=4).fit(labelled, labels).discover(unlabelled)
    assert len(found.traces) == (4 if search == "restarts" else 1)
    for trace in found.traces:
        assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()


def test_inductive_learning_leaves_known_classes_alone(problem):
    labelled, labels, unlabelled, _ = problem
    detector = VBrand(random_state=0, update_known=False, search="none").fit(labelled, labels)
    known = detector._state.learned.views[0][1]
    detector.discover(unlabelled + 0.3)
    components = detector._state.finding.posterior.components
    np.testing.assert_array_equal(components.mean[:3], known.centres)
    np.testing.assert_array_equal(components.scale[:3], known.scatters)


def test_small_groups_are_outliers():
    rng = np.random.default_rng(0)
    train = rng.normal(size=(100, 2))
    test = np.vstack([rng.normal(size=(300, 2)), [[40.0, 40.0], [40.5, 40.0]]])
    found = VBrand(random_state=0).fit(train, np.zeros(100, int)).discover(test)
    assert found.labels[-1] == found.labels[-2] == -1
    assert found.groups[-1].kind == "outlier group"
    assert "2 look like outliers" in repr(found)


def test_a_test_set_without_novelty_and_one_of_novelty_only():
    labelled, labels, unlabelled, truth = three_known_two_novel(seed=3, n=300)
    detector = VBrand(random_state=0).fit(labelled, labels)
    known_only = detector.discover(unlabelled[truth < 3])
    assert (known_only.labels == -1).mean() < 0.02
    np.testing.assert_allclose(known_only.probabilities.sum(axis=1), 1.0)
    assert (detector.discover(unlabelled[truth >= 3]).labels == -1).all()


@pytest.mark.parametrize(("p", "max_novel"), [(1, 5), (1, 1), (3, 1)])
@pytest.mark.filterwarnings("ignore:all 1 places for novel groups are in use")
def test_one_column_one_novel_component_and_one_class_work(p, max_novel):
    rng = np.random.default_rng(0)
    test = np.vstack([rng.normal(size=(50, p)), rng.normal(20, 1, size=(50, p))])
    found = VBrand(random_state=0, max_novel=max_novel).fit(rng.normal(size=(50, p)), ["one"] * 50).discover(test)
    assert (found.labels[:50] == "one").mean() > 0.9
    assert (found.labels[50:] == "novel").all()


def answer(labelled, labels, unlabelled, init, **settings):
    detector = VBrand(random_state=0, init=init, max_iter=8, tol=0.0, check=3, **settings).fit(labelled, labels)
    return detector.discover(unlabelled)


@settings(deadline=None, max_examples=amount(8, 40))
@given(
    st.integers(0, 1000),
    st.lists(st.floats(-6, 6), min_size=3, max_size=3),
    st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3),
)
def test_rescaling_and_shifting_columns_changes_no_probability(seed, exponents, shifts):
    labelled, labels, unlabelled, truth = three_known_two_novel(seed)
    factor = 10.0 ** np.array(exponents)
    shift = np.array(shifts) * labelled.std(axis=0) * factor
    plain = answer(labelled, labels, unlabelled, truth)
    moved = answer(labelled * factor + shift, labels, unlabelled * factor + shift, truth)
    np.testing.assert_allclose(moved.probabilities, plain.probabilities, atol=1e-8)
    assert moved.elbo == pytest.approx(plain.elbo - len(unlabelled) * np.log(factor).sum(), rel=1e-8)


def test_permuting_columns_or_rows_changes_no_probability(problem):
    labelled, labels, unlabelled, truth = problem
    plain = answer(labelled, labels, unlabelled, truth)
    columns = answer(labelled[:, [2, 0, 1]], labels, unlabelled[:, [2, 0, 1]], truth)
    np.testing.assert_allclose(columns.probabilities, plain.probabilities, atol=1e-8)
    order = np.random.default_rng(1).permutation(len(unlabelled))
    rows = answer(labelled, labels, unlabelled[order], truth[order])
    np.testing.assert_allclose(rows.probabilities, plain.probabilities[order], atol=1e-8)


def small_table(seed):
    """Few rows, rounded, of classes that overlap: full of ties."""
    rng = np.random.default_rng(seed)
    p, sizes = int(rng.integers(2, 8)), rng.integers(5, 40, 3)
    centres = rng.normal(0.0, 3.0, (4, p))
    known = np.round(rng.normal(size=(sizes.sum(), p)) + np.repeat(centres[:3], sizes, axis=0), 1)
    return known, np.repeat([0, 1, 2], sizes), np.round(rng.normal(size=(40, p)) + centres[rng.integers(4, size=40)], 1)


@pytest.mark.parametrize("how", [{}, {"search": "none", "kernel": "auto"}], ids=["defaults", "plain"])
@pytest.mark.parametrize("seed", range(6))
def test_neither_the_order_of_rows_nor_names_of_classes_change_a_label(seed, how):
    known, member, unknown = small_table(seed)

    def clusters(known, names, unknown):
        found = VBrand(random_state=0, **how).fit(known, names).discover(unknown)
        return found.clusters, found.elbo

    plain, elbo = clusters(known, member, unknown)
    rng = np.random.default_rng(seed)
    of_known, of_unknown = rng.permutation(len(known)), rng.permutation(len(unknown))
    moved, moved_elbo = clusters(known[of_known], member[of_known], unknown[of_unknown])
    np.testing.assert_array_equal(moved, plain[of_unknown])
    assert moved_elbo == elbo  # to the last bit

    renamed, renamed_elbo = clusters(known, (member + 1) % 3, unknown)
    np.testing.assert_array_equal(np.where(renamed < 3, (renamed + 2) % 3, renamed), plain)
    assert renamed_elbo == pytest.approx(elbo, rel=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_rescaling_and_shifting_columns_changes_no_label_end_to_end(load):
    rows, classes = load(return_X_y=True)
    rng = np.random.default_rng(0)
    known = (classes != 2) & (rng.random(len(rows)) < 0.6)
    factor = 10.0 ** rng.uniform(-6, 6, size=rows.shape[1])
    shift = rng.uniform(-1e3, 1e3, size=rows.shape[1]) * rows.std(axis=0) * factor
    order = rng.permutation(rows.shape[1])
    plain = VBrand(random_state=0).fit(rows[known], classes[known]).discover(rows[~known])
    for table in (rows * factor + shift, rows[:, order]):
        moved = VBrand(random_state=0).fit(table[known], classes[known]).discover(table[~known])
        np.testing.assert_array_equal(moved.labels, plain.labels)
        np.testing.assert_array_equal(moved.clusters, plain.clusters)


def test_init_starts_where_it_says(problem):
    labelled, labels, unlabelled, truth = problem
    found = VBrand(random_state=0, init=truth).fit(labelled, labels).discover(unlabelled)
    assert len(found.traces) == 1
    assert evaluate(truth, found).ari > 0.95
    with pytest.raises(ValueError, match="init has 5 labels"):
        VBrand(init=truth[:5]).fit(labelled, labels).discover(unlabelled)


@needs_shared
def test_statlog_with_the_paper_settings_runs_on_raw_values():
    rows, codes = statlog()
    test, truth = statlog("tst")
    known = ~np.isin(codes, [2, 5])
    rows, codes = rows[known], codes[known]
    found = VBrand.paper(rows, n_starts=2, tol=1e-6, random_state=0).fit(rows, codes).discover(test)
    # the reference range of 120 starts, for data divided by 4.5
    assert -92_500 < found.elbo + 2000 * 36 * np.log(4.5) < -89_900
    assert evaluate(truth, found).ari > 0.4


@needs_shared
def test_the_search_climbs_as_high_as_from_partitions_of_the_sampler():
    """The best of 27 bounds, each reached from where a chain of the sampler was every 250 sweeps."""
    rows, codes = statlog()
    known = ~np.isin(codes, [2, 5])
    rows, codes = rows[known], codes[known]
    found = VBrand.paper(rows, search="moves").fit(rows, codes).discover(statlog("tst")[0])
    assert found.elbo > -197_792.9


BAD_TABLES = [
    (lambda x, y, z: (x.assign(b=np.where(x.index < 3, -np.inf, x.b)), y, z), "column 'b' has 3 infinite"),
    (lambda x, y, z: (x.assign(a=np.where(x.index < 1, np.inf, x.a)), y, z), r"column 'a' has 1 infinite"),
    (lambda x, y, z: (x, y, z.assign(c=np.where(z.index < 2, np.inf, z.c))), "column 'c' has 2 infinite"),
    (lambda x, y, z: (x, y, z * np.nan), "no row has any value"),
    (lambda x, y, z: (x * np.nan, y, z), "all rows are unlabelled|no labelled row has any value"),
    (lambda x, y, z: (x.assign(b=[f"sack {i}" for i in x.index]), y, z), "column 'b' holds text .'sack 0' in row 0."),
    (lambda x, y, z: (x, np.r_[y[:-2], [7, 7]], z), "class 7 has 2 rows; a robust scatter needs at least 3"),
    (lambda x, y, z: (x, np.full(len(y), -1), z), "all rows are unlabelled"),
    (lambda x, y, z: (x, np.where(y == 0, np.inf, y), z), "whole numbers or text"),
    (lambda x, y, z: (x.assign(b=pd.Timestamp("2026-01-01")), y, z), "column 'b' holds dates or times"),
    (lambda x, y, z: (x, y[:-1], z), "inconsistent numbers of samples"),
    (lambda x, y, z: (x, y, z.rename(columns={"a": "A"})), "feature names should match"),
    (lambda x, y, z: (x, y, z[["a", "b"]]), "feature names should match"),
    (lambda x, y, z: (x, y, z.iloc[:0]), "0 sample"),
    (lambda x, y, z: (x, np.where(y == 0, "novel", "rye"), z), "a class is called 'novel'"),
    (lambda x, y, z: (x, y + 0.5, z), "whole numbers or text"),
    (lambda x, y, z: (x * 0.0, y, z), "every column has the same value"),
]


@pytest.mark.parametrize(("change", "sentence"), BAD_TABLES)
def test_bad_input_gets_one_sentence(problem, change, sentence):
    labelled, labels, unlabelled, _ = problem
    table, classes, test = change(
        pd.DataFrame(labelled, columns=list("abc")), labels, pd.DataFrame(unlabelled, columns=list("abc"))
    )
    with pytest.raises(ValueError, match=sentence) as caught:
        VBrand(search="none").fit(table, classes).discover(test)
    assert "\n" not in str(caught.value).split("The feature names")[0].strip()


def test_a_failed_discovery_leaves_the_last_one_alone(problem, fitted):
    detector, found = fitted
    bad = problem[2].copy()
    bad[0, 0] = np.inf
    with pytest.raises(ValueError, match="column 0"):
        detector.discover(bad)
    np.testing.assert_array_equal(detector.predict(problem[2]), found.labels)


def test_constant_columns_are_dropped_with_a_warning_that_names_them(problem):
    labelled, labels, unlabelled, _ = problem
    plain = VBrand(random_state=0, search="none").fit(labelled, labels).discover(unlabelled)
    table = pd.DataFrame(labelled, columns=list("abc")).assign(site=4.0)
    test = pd.DataFrame(unlabelled, columns=list("abc")).assign(site=9.0)
    detector = VBrand(random_state=0, search="none")
    with pytest.warns(UserWarning, match="dropped column 'site'"):
        detector.fit(table, labels)
    np.testing.assert_array_equal(detector.discover(test).probabilities, plain.probabilities)


@pytest.mark.parametrize(
    "parameters",
    [
        {"scatter": "best"},
        {"support_fraction": 0.2},
        {"max_novel": 0},
        {"max_novel": 10**9},
        {"max_iter": 2**70},
        {"n_starts": 10**9},
        {"search": "all"},
        {"n_starts": 1.5},
        {"tol": -1.0},
        {"threshold": 1.0},
        {"min_group": 0},
        {"known_mean_strength": 0.0},
        {"concentration": "five"},
        {"novel_dof": 1.0},
        {"novel_mean": [1.0]},
        {"novel_scale": [[1.0]]},
        {"novel_scale": -np.eye(3)},
        {"concentration": np.inf},
        {"concentration": (1.0, 1e308)},
        {"known_mean_strength": 1e308},
        {"known_scatter_factor": 1e-308},
        {"known_weight": 1e308},
        {"novel_mean_strength": 1e-308},
        {"novel_dof": 1e308},
        {"novel_mean": "x"},
        {"novel_mean": {}},
        {"novel_scale": ["a", "b"]},
        {"n_jobs": 0},
        {"random_state": "x"},
        {"verbose": np.array([1, 2])},
        {"kernel": np.array(["student"])},
    ],
)
def test_bad_settings_get_one_sentence(problem, parameters):
    labelled, labels, _, _ = problem
    with pytest.raises(ValueError, match=next(iter(parameters))):
        VBrand(**parameters).fit(labelled, labels)


def two_known(rng, n=200):
    return np.vstack([rng.normal(0, 1, (n, 2)), rng.normal(8, 1, (n, 2))]), np.repeat([0, 1], n)


@pytest.mark.parametrize("rows", [8, 20, 200])
def test_a_row_far_from_everything_is_novel_before_and_after_a_discovery(rows):
    rng = np.random.default_rng(0)
    detector = VBrand(random_state=0).fit(*two_known(rng, rows))
    far = np.array([[20.0, -20.0], [100.0, -100.0], [1e6, -1e6], [1e300, 0.0]])
    assert (detector.predict(far) == -1).all()
    detector.discover(two_known(rng)[0])  # all known
    assert (detector.predict(far) == -1).all()
    assert (np.diff(detector.novelty_score(far[:3])) > 0).all()


@pytest.mark.parametrize("wild", [-9999.0, 50.0, 1e9, 1e200])
def test_one_wild_cell_does_not_hide_a_novel_class(wild):
    rows, classes = load_iris(return_X_y=True)
    known = (classes != 2) & (np.arange(150) % 2 == 0)
    test = rows[~known].copy()
    test[0, 0] = wild
    found = VBrand(random_state=0).fit(rows[known], classes[known]).discover(test)
    assert (found.labels[classes[~known] == 2] == -1).mean() > 0.9
    assert np.isfinite(found.probabilities).all()


def test_gross_outliers_do_not_hide_a_novel_class():
    rng = np.random.default_rng(0)
    train = rng.normal(size=(100, 10))
    novel = rng.normal(size=(100, 10)) + 12.0 / np.sqrt(10)
    test = np.vstack([rng.normal(size=(100, 10)), novel, 1e6 * rng.normal(size=(5, 10))])
    found = VBrand(random_state=0).fit(train, np.zeros(100, int)).discover(test)
    assert (found.labels[100:] == -1).mean() > 0.95


def test_labels_in_plain_lists_keep_their_meaning(problem):
    labelled, labels, unlabelled, _ = problem
    table = np.vstack([labelled, unlabelled])
    names = [f"kind {label}" for label in labels]
    for missing in (float("nan"), -1, None):
        detector = VBrand(random_state=0, search="none").fit(table, names + [missing] * len(unlabelled))
        assert list(detector.classes_) == ["kind 0", "kind 1", "kind 2"]
        assert detector.discovery_.labels.size == len(unlabelled)
    large = [2**60 + int(label) for label in labels]
    assert list(VBrand().fit(labelled, large).classes_) == [2**60, 2**60 + 1, 2**60 + 2]


def test_a_failed_fit_leaves_the_last_one_alone(problem):
    labelled, labels, unlabelled, _ = problem
    detector = VBrand(random_state=0, search="none").fit(labelled, labels)
    found = detector.discover(unlabelled)
    with pytest.raises(ValueError, match="class 9 has 1 row;"):
        detector.fit(labelled, np.r_[labels[:-1], 9])
    np.testing.assert_array_equal(detector.predict(unlabelled), found.labels)


def test_init_may_hold_missing_values(problem):
    labelled, labels, unlabelled, truth = problem
    init = np.where(truth < 3, truth, np.nan)  # one novel group
    found = VBrand(init=init).fit(labelled, labels).discover(unlabelled)
    assert (found.labels[truth >= 3] == -1).all()


def test_changing_the_table_afterwards_changes_no_answer(problem):
    labelled, labels, unlabelled, _ = problem
    table = unlabelled.copy()
    found = VBrand(random_state=0, search="none").fit(labelled, labels).discover(table)
    table += 1e3
    np.testing.assert_allclose(found.novelty_probability, found.probabilities[:, 3:].sum(axis=1), atol=1e-9)


def test_a_new_fit_forgets_the_old_discovery(problem):
    labelled, labels, unlabelled, _ = problem
    detector = VBrand(random_state=0, search="none").fit(labelled, labels)
    detector.discover(unlabelled)
    detector.fit(labelled, labels)
    assert not hasattr(detector, "discovery_")


def test_float32_tables_are_discovered_as_they_are(problem):
    labelled, labels, unlabelled, _ = problem
    plain = VBrand(random_state=0, search="none").fit(labelled, labels).discover(unlabelled)
    single = VBrand(random_state=0, search="none").fit(labelled, labels).discover(unlabelled.astype(np.float32))
    np.testing.assert_array_equal(single.labels, plain.labels)
    np.testing.assert_allclose(single.probabilities, plain.probabilities, atol=1e-3)


def test_settings_survive_cloning():
    detector = VBrand(novel_dof=9.0, novel_mean=[0.0, 1.0])
    assert clone(detector).get_params() == detector.get_params()


@pytest.mark.parametrize("init", [3, 1.5, object(), np.eye(2), [{}, {}]])
def test_an_init_that_is_no_labels_is_refused_by_name(problem, init):
    labelled, labels, unlabelled, _ = problem
    with pytest.raises(ValueError, match=r"^init "):
        VBrand(init=init).fit(labelled, labels).discover(unlabelled)


@pytest.mark.parametrize("columns", [3, 60])  # 60: reduced to principal components
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300, 1e307])
def test_units_whose_squares_are_no_numbers_are_refused(columns, unit):
    """The search for axes failed, or scatters were infinite or 0."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 1, (40, columns)), rng.normal(6, 1, (40, columns))])
    with pytest.raises(ValueError, match=r"too small or too large to calculate with\. Use other units for it"):
        VBrand(random_state=0).fit(rows * unit, np.repeat([0, 1], 40))
