import os
import re
import shutil
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from attack.jobs import kill, start
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from vbrand import BrandSampler, Discovery, VBrand, compare
from vbrand.metrics import evaluate
from vbrand.model.predictive import log_urn_weights

# short chains may well disagree
pytestmark = pytest.mark.filterwarnings("ignore:the (chains|two halves of the chain) disagree:UserWarning")

SHORT = {"n_draws": 60, "n_burn": 40, "n_chains": 2}


@parametrize_with_checks([BrandSampler(n_draws=8, n_burn=4, n_chains=1)])
def test_scikit_learn_has_no_complaint(estimator, check):
    check(estimator)


def table(seed=0, novel=40, p=2, spread=8.0, rows=300):
    """Return labelled rows of two classes, their labels, unlabelled rows with a third one, and the truth."""
    rng = np.random.default_rng(seed)
    far = np.zeros(p)
    far[0] = spread
    known = np.vstack([rng.normal(size=(rows, p)), far + rng.normal(size=(rows, p))])
    truth = np.repeat(["oat", "rye", "weed"], [50, 30, novel])
    centres = {"oat": 0.0 * far, "rye": far, "weed": -far}
    unknown = np.stack([centres[name] for name in truth]) + rng.normal(size=(80 + novel, p))
    return known, np.repeat(["oat", "rye"], rows), unknown, truth


@pytest.fixture(scope="module")
def found():
    known, labels, unknown, _ = table()
    return BrandSampler(n_draws=400, n_burn=100, n_chains=2, random_state=0).fit(known, labels).discover(unknown)


def test_a_novel_class_is_found(found):
    truth = table()[3]
    assert isinstance(found, Discovery)
    assert evaluate(truth, found).ari > 0.97
    assert repr(found) == "80 rows belong to the 2 known classes, 40 to 1 novel group."
    assert (found.labels[truth == "weed"] == "novel").all()
    assert found.n_groups.low == 1
    assert 1.0 <= found.n_groups.mean < 1.3


def test_probabilities_sum_to_one_and_agree(found):
    assert found.probabilities.shape == (120, 3)
    assert np.allclose(found.probabilities.sum(axis=1), 1.0)
    assert np.allclose(found.class_probabilities.sum(axis=1), 1.0)
    assert np.allclose(found.probabilities[:, 2:].sum(axis=1), found.novelty_probability)
    assert np.array_equal(found.novelty_score > 0.0, found.labels == "novel")
    assert np.isfinite(found.novelty_score).all()


def test_everything_that_a_variational_discovery_tells_of_rows_is_there(found):
    known, labels, unknown, _ = table()
    fitted = VBrand().fit(known, labels).discover(unknown)
    for name in ("labels", "clusters", "novelty_probability", "novelty_score", "probabilities", "class_probabilities"):
        assert getattr(found, name).shape == getattr(fitted, name).shape
    assert found.label_draws(10).shape == fitted.label_draws(10).shape
    assert found.explain(119).nearest == fitted.explain(119).nearest == "oat"
    assert "R-hat" in str(found.summary())


def test_the_fit_and_the_sampler_agree_where_groups_are_apart(found):
    known, labels, unknown, _ = table()
    fitted = VBrand(kernel="gaussian", scatter="mrcd").fit(known, labels).discover(unknown)
    both = compare(fitted, found)
    assert both.differing.size == 0
    assert np.abs(both.differences).mean() < 0.02
    assert both.ari == 1.0
    assert "0 of 120 rows have different labels" in str(both)


def test_compare_shows_the_rows_that_differ(found):
    known, labels, unknown, _ = table()
    strict = VBrand(kernel="gaussian", scatter="mrcd", threshold=1e-12).fit(known, labels).discover(unknown)
    both = compare(strict, found)
    assert both.differing.size > 0
    assert f"row {both.differing[0]}: novel or" in str(both)
    detector = VBrand().fit(known, labels)
    with pytest.raises(ValueError, match="50 rows"):
        compare(detector.discover(unknown[:50]), found)
    with pytest.raises(ValueError, match="in another order"):
        compare(detector.discover(unknown[::-1]), found)
    with pytest.raises(TypeError, match="what `discover` returned"):
        compare(detector, found)


def test_a_sampled_count_of_groups_is_wider_than_a_fitted_one():
    """Two novel classes that half overlap: draws split and join them, a fit holds them fixed."""
    rng = np.random.default_rng(3)
    known = rng.normal(size=(80, 2))
    unknown = np.vstack([rng.normal(size=(60, 2)), rng.normal(9.0, 1.0, (40, 2)), rng.normal(11.5, 1.0, (40, 2))])
    sampler = BrandSampler(n_draws=600, n_burn=200, n_chains=2, random_state=0, min_group=5)
    found = sampler.fit(known, np.zeros(80, int)).discover(unknown)
    counts = found.chains.novel_groups(5)
    assert found.n_groups.low < found.n_groups.high
    assert np.mean(counts) == pytest.approx(found.n_groups.mean)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**31 - 1), st.sampled_from([0.25, 8.0, 2.0**20]))
def test_rescaling_a_column_by_a_power_of_two_changes_no_draw(seed, factor):
    known, labels, unknown, _ = table()
    unit = np.array([1.0, factor])
    drawn = []
    for scale in (np.ones(2), unit):
        sampler = BrandSampler(n_draws=10, n_burn=5, n_chains=1, random_state=seed, init="known")
        drawn.append(sampler.fit(known * scale, labels).discover(unknown * scale))
    first, second = drawn
    assert np.array_equal(first.label_draws(), second.label_draws())
    assert np.allclose(first.known_means * unit, second.known_means, rtol=1e-9)


def test_inductive_learning_keeps_the_known_classes():
    known, labels, unknown, _ = table()
    sampler = BrandSampler(**SHORT, random_state=0, update_known=False).fit(known, labels)
    found = sampler.discover(unknown)
    assert np.allclose(found.known_means, sampler.known_classes_.centres)
    moving = BrandSampler(**SHORT, random_state=0).fit(known, labels).discover(unknown)
    assert moving.known_means.std(axis=1).min() > 0.0


@pytest.mark.parametrize("init", ["known", "random", "variational", "labels"])
def test_all_starts_lead_to_the_same_answer(init):
    known, labels, unknown, truth = table()
    start = truth if init == "labels" else init
    sampler = BrandSampler(n_draws=300, n_burn=300, n_chains=1, init=start, random_state=1).fit(known, labels)
    assert evaluate(truth, sampler.discover(unknown)).ari > 0.97


def test_no_novelty_is_an_answer_too():
    known, labels, unknown, _ = table(novel=0)
    found = BrandSampler(**SHORT, random_state=0).fit(known, labels).discover(unknown)
    assert (found.labels != "novel").mean() > 0.95
    sure = BrandSampler(**SHORT, random_state=0, threshold=0.99).fit(known, labels).discover(unknown)
    assert (sure.labels != "novel").all()
    found = sure
    assert found.probabilities.shape == (80, 2)
    assert np.allclose(found.probabilities.sum(axis=1), 1.0)


def test_predictions_of_new_rows_follow_the_draws():
    known, labels, unknown, _ = table()
    sampler = BrandSampler(**SHORT, random_state=0).fit(known, labels)
    far = np.array([[-8.0, 0.0], [0.0, 0.0], [1e5, 1e5]])
    assert sampler.predict(far).tolist() == ["novel", "oat", "novel"]  # before: there may be other classes
    sampler.discover(unknown)
    assert sampler.predict(far).tolist() == ["novel", "oat", "novel"]
    new = table(seed=5)
    assert (sampler.predict(new[2]) == np.where(new[3] == "weed", "novel", new[3])).mean() > 0.97
    proba = sampler.predict_proba(unknown)
    assert proba.shape == (120, 3)
    assert np.allclose(proba.sum(axis=1), 1.0)
    assert np.array_equal(sampler.decision_function(unknown) < 0.0, sampler.predict(unknown) == "novel")


def test_predictive_densities_integrate_to_one():
    rng = np.random.default_rng(0)
    known, unknown = rng.normal(size=(40, 1)), np.append(rng.normal(size=30), rng.normal(6.0, 1.0, 20))[:, None]
    sampler = BrandSampler(**SHORT, random_state=0, novel_mean_strength=0.5).fit(known, np.zeros(40, int))
    sampler.discover(unknown)
    grid = np.linspace(-60.0, 60.0, 40_001)
    assert np.exp(sampler.score_samples(grid[:, None])).sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=1e-3)


def test_urn_weights_sum_to_one_and_a_new_cluster_takes_all_where_there_is_none():
    weights = np.exp(log_urn_weights(np.array([1.0, 2.0, 0.5]), np.array([3.0, 4.0, 5.0, 6.0]), 0.7))
    assert weights.sum() == pytest.approx(1.0)
    assert weights[4] / weights[2] == pytest.approx(0.7 / 5.0)
    none = np.exp(log_urn_weights(np.array([1.0, 0.5]), np.array([3.0]), 0.7))
    assert none[1] == pytest.approx(0.5 / 4.5)


def test_forty_columns_run_to_the_end_and_too_few_degrees_of_freedom_are_refused():
    known, labels, unknown, truth = table(p=40, spread=12.0, rows=400)
    found = BrandSampler(**SHORT, random_state=0).fit(known, labels).discover(unknown)
    assert evaluate(truth, found).novelty_f1 > 0.8
    for dof in (20.0, 39.5):
        with pytest.raises(ValueError, match=r"a number above 39|at least 40 degrees of freedom"):
            BrandSampler(novel_dof=dof).fit(known, labels)
    found = BrandSampler(**SHORT, random_state=0, novel_dof=40.0).fit(known, labels).discover(unknown)
    assert np.isfinite(found.known_means).all()


def test_chains_that_disagree_are_named():
    """Two far and equal blobs that a known class can take or leave: chains started apart stay apart."""
    rng = np.random.default_rng(0)
    known = rng.normal(size=(60, 10))
    unknown = np.vstack([rng.normal(size=(60, 10)), rng.normal(size=(60, 10)) + 6.0])
    sampler = BrandSampler(n_draws=4, n_burn=0, n_chains=4, init="random", random_state=0)
    sampler.fit(known, np.zeros(60, int))
    with pytest.warns(UserWarning, match=r"the chains disagree about: .* \(R-hat"):
        found = sampler.discover(unknown)
    assert max(each.rhat for each in found.diagnostics) > 1.05
    assert "! the chains disagree" in str(found.summary())


def test_arviz_takes_the_label_invariant_quantities(found):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = found.to_arviz()
    posterior = held.posterior
    assert posterior["weights"].shape == (2, 400, 3)
    assert list(posterior["weights"].coords["component"].values) == ["oat", "rye", "novelty"]
    assert posterior["known_means"].shape == (2, 400, 2, 2)
    counts = {"novel_clusters", "novel_groups", "novel_rows"}
    assert set(posterior.data_vars) == {"weights", "concentration", "known_means", *counts}
    assert float(posterior["novel_clusters"].min()) >= 1.0


def test_labels_on_disk_are_those_in_memory_and_another_run_is_refused(tmp_path):
    known, labels, unknown, _ = table()
    folder = tmp_path / "draws"
    memory = BrandSampler(**SHORT, random_state=0).fit(known, labels).discover(unknown)
    stored = BrandSampler(**SHORT, random_state=0, store=folder).fit(known, labels)
    disk = stored.discover(unknown)
    assert np.array_equal(memory.label_draws(), disk.label_draws())
    assert np.array_equal(memory.novelty_probability, disk.novelty_probability)
    before = sorted(path.stat().st_mtime_ns for path in folder.iterdir())
    again = stored.discover(unknown)  # all legs are there
    assert np.array_equal(again.chains.weights, disk.chains.weights)
    assert sorted(path.stat().st_mtime_ns for path in folder.iterdir()) == before
    for other in ({"random_state": 1}, {"random_state": 0, "kappa": 0.9}, {"random_state": 0, "novel_weight": 2.0}):
        with pytest.raises(ValueError, match="holds the draws of another run"):
            BrandSampler(**SHORT, store=folder, **other).fit(known, labels).discover(unknown)
    with pytest.raises(ValueError, match="holds the draws of another run"):
        stored.discover(unknown[::-1])


@pytest.fixture(scope="module")
def stored_draws(tmp_path_factory):
    """Return a folder with the draws of a short run, and its labels."""
    known, labels, unknown, _ = table()
    folder = tmp_path_factory.mktemp("stored") / "draws"
    return folder, BrandSampler(**SHORT, random_state=0, store=folder).fit(known, labels).discover(
        unknown
    ).label_draws()


@pytest.mark.parametrize("damage", ["cut npz", "empty npz", "cut labels", "no labels", "garbage npz"])
def test_a_leg_that_is_damaged_on_disk_is_run_again(stored_draws, tmp_path, damage):
    known, labels, unknown, _ = table()
    folder = shutil.copytree(stored_draws[0], tmp_path / "draws")
    sampler = BrandSampler(**SHORT, random_state=0, store=folder).fit(known, labels)
    path = sorted(folder.glob("*.labels.npy" if "labels" in damage else "*.npz"))[-3]
    content = {"cut": path.read_bytes()[:-40], "empty": b"", "garbage": b"xx"}.get(damage.split()[0])
    path.unlink() if content is None else path.write_bytes(content)
    assert np.array_equal(sampler.discover(unknown).label_draws(), stored_draws[1])


def test_a_folder_whose_run_is_unknown_is_refused(stored_draws, tmp_path):
    known, labels, unknown, _ = table()
    folder, first = shutil.copytree(stored_draws[0], tmp_path / "draws"), stored_draws[1]
    sampler = BrandSampler(**SHORT, random_state=0, store=folder).fit(known, labels)
    for text in ("{garb", "[]", "{}"):
        (folder / "run.json").write_text(text)
        with pytest.raises(ValueError, match="damaged, or was written by another version"):
            sampler.discover(unknown)
    (folder / "run.json").write_text("")  # a run that was killed before it had said what it is
    np.testing.assert_array_equal(sampler.discover(unknown).label_draws(), first)
    (folder / "run.json").unlink()  # legs of another run are no legs of this one
    other = BrandSampler(**SHORT, random_state=1, store=folder).fit(known, labels).discover(unknown)
    assert not np.array_equal(other.label_draws(), first)


def test_draws_are_found_from_another_folder_and_missed_with_a_sentence(tmp_path, monkeypatch):
    known, labels, unknown, _ = table()
    monkeypatch.chdir(tmp_path)
    found = BrandSampler(**SHORT, random_state=0, store="draws").fit(known, labels).discover(unknown)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert found.label_draws().shape == (120, 120)
    shutil.rmtree(tmp_path / "draws")
    with pytest.raises(FileNotFoundError, match="no longer holds the draws"):
        found.label_draws()


def test_vague_concentrations_and_numpy_numbers_are_fine(tmp_path):
    known, labels, unknown, _ = table()
    for concentration in ((1e-3, 1e-3), (np.float32(1.0), np.float32(1.0)), np.int64(1)):
        store = tmp_path / f"{concentration}"
        sampler = BrandSampler(n_draws=np.int64(60), n_burn=0, n_chains=1, concentration=concentration, store=store)
        assert np.isfinite(sampler.fit(known, labels).discover(unknown).chains.weights).all()


def test_a_start_without_any_known_class_is_doubted():
    known, labels, unknown, _ = table()
    sampler = BrandSampler(**SHORT, random_state=0, init=["Oat"] * 120).fit(known, labels)
    with pytest.warns(UserWarning, match="no label in init is a known class"):
        sampler.discover(unknown)


def test_without_a_random_state_a_stored_run_keeps_its_seed(tmp_path):
    known, labels, unknown, _ = table()
    first = BrandSampler(**SHORT, store=tmp_path / "draws").fit(known, labels).discover(unknown)
    second = BrandSampler(**SHORT, store=tmp_path / "draws").fit(known, labels).discover(unknown)
    assert np.array_equal(first.label_draws(), second.label_draws())


def long_run(folder):
    """Return what tells one run from another, of a run that takes a while and keeps its draws in a folder."""
    rng = np.random.default_rng(0)
    known, unknown = rng.normal(size=(50, 3)), rng.normal(size=(400, 3)) + 7.0 * (np.arange(400) < 100)[:, None]
    sampler = BrandSampler(n_draws=400, n_burn=200, n_chains=2, random_state=5, store=folder)
    found = sampler.fit(known, np.zeros(50, int)).discover(unknown)
    draws = found.label_draws(10_000)
    return draws.shape, int((draws * np.arange(1, 401)).sum()), found.chains.weights.sum()


def test_a_run_that_was_killed_goes_on_and_gives_the_same_draws(tmp_path):
    def done(folder="killed"):
        return len(list((tmp_path / folder).glob("*chain*.npz")))

    unbroken = long_run(tmp_path / "unbroken")
    child, ended = start(lambda: long_run(tmp_path / "killed")), 0
    while done() < 30 and not ended:
        time.sleep(0.005)
        ended, _ = os.waitpid(child, os.WNOHANG)
    assert not ended
    kill(child)
    assert 30 <= done() < done("unbroken")
    assert long_run(tmp_path / "killed") == unbroken


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"n_draws": 0}, "n_draws is 0; it must be a whole number, 1 or more."),
        ({"n_draws": 10**9}, "n_draws is 1000000000; it must be a whole number, at most 10,000,000."),
        ({"n_burn": -1}, "n_burn is -1"),
        ({"kappa": 1.0}, "kappa is 1.0; it must be a number above 0 and up to 0.99."),
        ({"kappa": 0.0}, "kappa is 0.0; it must be a number above 0 and up to 0.99."),
        (
            {"init": "middle"},
            "init is 'middle'; it must be 'variational', 'known', 'random' or one label for each row.",
        ),
        ({"concentration": [1.0, 1.0]}, "it must be a number from 1e-12 to 1e+12, or a tuple of two: shape and rate."),
        ({"concentration": (1.0,)}, "it must be a number from 1e-12 to 1e+12, or a tuple of two: shape and rate."),
        ({"update_known": "no"}, "update_known is 'no'; it must be True or False."),
        ({"store": 5}, "store is 5; it must be the name of a folder."),
        ({"store": __file__}, "which is a file; give the name of a folder."),
        (
            {"concentration": 1e9, "init": "known", "n_draws": 5, "n_burn": 0, "random_state": 0},
            "A smaller concentration or a smaller kappa",
        ),
        ({"scatter": "modes"}, "scatter is 'modes'"),
        ({"init": [1, 2, 3]}, "init has 3 labels"),
    ],
)
def test_settings_that_are_off_get_a_sentence(setting, sentence):
    known, labels, unknown, _ = table()
    with pytest.raises(ValueError, match=re.escape(sentence)):
        BrandSampler(**setting).fit(known, labels).discover(unknown)


def with_gaps(rows, share, seed=0):
    return np.where(np.random.default_rng(seed).random(rows.shape) < share, np.nan, rows)


def test_missing_cells_are_taken_in_labelled_and_unlabelled_rows():
    known, labels, unknown, truth = table(p=3)
    known, unknown = with_gaps(known, 0.1), with_gaps(unknown, 0.2, seed=1)
    unknown[:2] = np.nan  # of no cell nothing is known
    sampler = BrandSampler(**SHORT, random_state=0).fit(known, labels)
    found = sampler.discover(unknown)
    assert np.isfinite(found.probabilities).all()
    assert ((found.labels == "novel") == (truth == "weed"))[2:].mean() > 0.9
    assert 0.05 < found.novelty_probability[0] < 0.95
    assert np.isfinite(sampler.predict_proba(unknown)).all()
    assert (sampler.predict(unknown) == found.labels).mean() > 0.9


def test_a_run_with_missing_cells_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path):
    known, labels, unknown, _ = table(rows=60)
    unknown = with_gaps(unknown, 0.3)
    sampler = BrandSampler(n_draws=20, n_burn=10, n_chains=1, random_state=0, store=tmp_path / "draws")
    first = sampler.fit(known, labels).discover(unknown).label_draws()
    legs = sorted((tmp_path / "draws").glob("*.npz"))
    for leg in legs[len(legs) // 2 :]:
        leg.unlink()
    again = sampler.discover(unknown).label_draws()
    np.testing.assert_array_equal(first, again)


def test_columns_of_text_that_are_no_categories_get_a_sentence():
    frame = pd.DataFrame({"size": np.arange(20.0), "colour": ["red", "blue"] * 10})
    with pytest.raises(ValueError, match="colour"):
        BrandSampler(**SHORT, categories=None).fit(frame, ["oat"] * 10 + ["rye"] * 10)


def mixed_rows(seed=0):
    """Return labelled and unlabelled rows of three classes that numbers tell apart badly and colours well."""
    rng = np.random.default_rng(seed)
    member = np.append(np.repeat([0, 1], 40), np.repeat([0, 1, 2], 20))
    colour = np.array(["red", "green", "blue"])[np.where(rng.random(member.size) < 0.05, 0, member)]
    table = pd.DataFrame({"ash": 2.0 * member + rng.normal(size=member.size), "colour": colour, "fat": 1.0})
    table["fat"] = rng.normal(size=member.size)
    table.loc[rng.random(member.size) < 0.1, "ash"] = np.nan
    table.loc[rng.random(member.size) < 0.1, "colour"] = None
    return table, member


def test_categories_are_drawn_with_all_else():
    table, member = mixed_rows()
    quick = {"n_draws": 200, "n_burn": 50, "n_chains": 1, "random_state": 0}
    with warnings.catch_warnings(action="ignore"):
        sampler = BrandSampler(**quick).fit(table[:80], member[:80])
        found = sampler.discover(table[80:])
        blind = BrandSampler(**quick).fit(table[["ash", "fat"]][:80], member[:80]).discover(table[["ash", "fat"]][80:])
    truth = np.where(member[80:] == 2, -1, member[80:])
    assert (found.labels == truth).mean() > max(0.8, (blind.labels == truth).mean() + 0.1)
    assert (sampler.predict(table[80:]) == found.labels).mean() > 0.9
    assert "colour" in str(found.summary())


def test_a_table_of_categories_only_is_sampled():
    rng = np.random.default_rng(0)
    member = np.append(np.repeat([0, 1], 40), np.repeat([0, 1, 2], 20))
    table = pd.DataFrame({name: np.array(list("abc"))[(member + (rng.random(140) < 0.1)) % 3] for name in "uvwx"})
    with warnings.catch_warnings(action="ignore"):
        sampler = BrandSampler(n_draws=200, n_burn=50, n_chains=1, random_state=0).fit(table[:80], member[:80])
        found = sampler.discover(table[80:])
    assert (found.labels == np.where(member[80:] == 2, -1, member[80:])).mean() > 0.9
