"""Tables with columns of categories, from fit to answers, files and words."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vbrand
from vbrand import BrandSampler, VBrand

MIXED = ["a", "b", "colour", "ripe"]


def plants(rows, centre, chances, rng):
    return pd.DataFrame(
        {
            "a": rng.normal(centre, 1.0, rows),
            "b": rng.normal(-centre, 1.0, rows),
            "colour": rng.choice(["red", "green", "blue"], rows, p=chances),
            "ripe": rng.random(rows) < chances[0],
        }
    )


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    usual, other = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05)
    known = pd.concat([plants(60, 0.0, usual, rng), plants(60, 4.0, other, rng)], ignore_index=True)
    parts = [plants(50, 0.0, usual, rng), plants(50, 4.0, other, rng), plants(40, 0.0, (0.02, 0.03, 0.95), rng)]
    return known, np.repeat(["oat", "rye"], 60), pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def fitted(case):
    known, labels, unknown = case
    detector = VBrand(random_state=0).fit(known, labels)
    return detector, detector.discover(unknown)


def test_a_class_that_differs_in_levels_only_is_found(case, fitted):
    known, labels, unknown = case
    detector, found = fitted
    novel = np.arange(140) >= 100
    assert (found.labels[novel] == "novel").mean() > 0.85
    assert (found.labels[~novel] == "novel").mean() < 0.05
    assert (np.diff(found.traces[0]) >= -1e-9).all()
    without = VBrand(random_state=0).fit(known[["a", "b"]], labels).discover(unknown[["a", "b"]])
    assert (without.labels[novel] == "novel").mean() < 0.2
    assert [one.column for one in detector.categories_] == [2, 3]


def test_predictions_agree_with_the_discovery_and_files_keep_them(case, fitted, tmp_path):
    detector, found = fitted
    unknown = case[2]
    assert (detector.predict(unknown) == found.labels).all()
    detector.save(tmp_path / "m.vbrand")
    loaded = vbrand.load(tmp_path / "m.vbrand")
    np.testing.assert_array_equal(loaded.predict_proba(unknown), detector.predict_proba(unknown))
    assert (loaded.discover(unknown).labels == found.labels).all()
    assert (detector.predict(pl.from_pandas(unknown)) == found.labels).all()


def test_words_tell_levels_that_stand_out(fitted):
    _, found = fitted
    said = str(found.summary())
    assert "colour: blue in 9" in said
    assert "in its nearest class" in said
    assert "colour: blue, " in str(found.explain(130))
    assert found.facts().groups[-1].explanation.levels[0].share > 0.9


def test_a_table_of_categories_only_works(case, tmp_path):
    known, labels, unknown = case
    columns = ["colour", "ripe"]
    detector = VBrand(random_state=0).fit(known[columns], labels)
    found = detector.discover(unknown[columns])
    assert (found.labels[:50] == "oat").mean() > 0.8
    assert (found.labels[50:100] == "rye").mean() > 0.8
    np.testing.assert_allclose(
        np.exp(
            detector.score_samples(
                pd.DataFrame(
                    [(c, r) for c in ("red", "green", "blue", "x") for r in (True, False, 0.5)],
                    columns=columns,
                    dtype=object,
                )
            )
        ).sum(),
        1.0,
    )  # they are probabilities: over all levels they sum to one
    detector.save(tmp_path / "m.vbrand")
    assert (vbrand.load(tmp_path / "m.vbrand").predict(unknown[columns]) == found.labels).all()
    assert found.report(tmp_path / "r.html").stat().st_size > 10_000
    assert "standard deviations" not in str(found.explain(0))


def test_levels_that_nobody_has_labelled_are_allowed_and_novel(case, fitted):
    detector = VBrand(random_state=0, check=3).fit(case[0], case[1])
    unknown = case[2].copy()
    unknown.loc[100:, "colour"] = [f"hue {i}" for i in range(40)]
    found = detector.discover(unknown)
    assert (found.labels[100:] == "novel").mean() > 0.85
    assert "colour: another level, 0% in its nearest class" in str(found.summary())


def test_missing_levels_and_rows_without_numbers_take_part(case):
    known, labels, unknown = case
    gappy = unknown.astype({"ripe": object})
    gappy.loc[::5, "colour"] = None
    gappy.loc[::7, ["a", "b"]] = np.nan
    gappy.loc[3] = [np.nan, np.nan, None, None]
    detector = VBrand(random_state=0, check=3).fit(known, labels)
    found = detector.discover(gappy)
    assert np.isfinite(found.probabilities).all()
    assert (found.labels[100:] == "novel").mean() > 0.7
    assert (np.diff(found.traces[0]) >= -1e-9).all()
    assert "1 row has no value at all" in str(found.summary())


def test_the_order_of_rows_columns_and_levels_does_not_matter(case, fitted):
    known, labels, unknown = case
    _, found = fitted
    rows = np.random.default_rng(1).permutation(len(unknown))
    other = {"red": "z", "green": "y", "blue": "x"}
    turned = ["ripe", "b", "colour", "a"]
    detector = VBrand(random_state=0, check=3).fit(known.assign(colour=known.colour.map(other))[turned], labels)
    again = detector.discover(unknown.assign(colour=unknown.colour.map(other))[turned].iloc[rows])
    assert (again.labels == found.labels[rows]).all()
    np.testing.assert_allclose(again.elbo, found.elbo, rtol=1e-6)


def test_batches_go_on_with_levels(case, tmp_path):
    known, labels, unknown = case
    detector = VBrand(random_state=0, check=3).fit(known, labels)
    detector.update(unknown[::2])
    detector.save(tmp_path / "m.vbrand")
    found = vbrand.load(tmp_path / "m.vbrand").update(unknown[1::2])
    assert (found.labels[50:] == "novel").mean() > 0.7
    later = detector.update(unknown[1::2])
    assert (later.labels == found.labels).all()


@pytest.mark.parametrize("scatter", ["mrcd", "empirical"])
def test_other_stage_ones_and_fixed_classes_take_levels_too(case, scatter):
    known, labels, unknown = case
    free = VBrand(random_state=0, check=3, scatter=scatter).fit(known, labels).discover(unknown)
    fixed = VBrand(random_state=0, scatter=scatter, update_known=False).fit(known, labels).discover(unknown)
    for found in (free, fixed):
        assert (found.labels[:50] == "oat").mean() > 0.9


def test_text_is_refused_where_it_can_not_be_a_category(case):
    known, labels, _ = case
    with pytest.raises(ValueError, match="column 'colour' holds text"):
        VBrand(categories=None).fit(known, labels)
    for detector in (VBrand(), BrandSampler()):
        with pytest.raises(ValueError, match=r"column 'name' holds text"):
            detector.fit(known.assign(name=[f"plant {i}" for i in range(120)]), labels)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_mixed_tables_with_missing_cells_have_a_bound_that_never_falls(seed):
    rng = np.random.default_rng(seed)
    numbers, categories = int(rng.integers(0, 4)), int(rng.integers(1, 4))
    n = int(rng.integers(20, 60))
    table = pd.DataFrame({f"x{j}": rng.normal(size=2 * n) for j in range(numbers)})
    for j in range(categories):
        table[f"c{j}"] = rng.choice([f"level {k}" for k in range(int(rng.integers(2, 5)))], 2 * n)
    table = table.mask(rng.random(table.shape) < rng.choice([0.0, 0.2]))
    labels = np.arange(n) % 2
    with warnings.catch_warnings(action="ignore"):
        found = VBrand(random_state=0, check=0).fit(table[:n], labels).discover(table[n:])
    assert np.isfinite(found.probabilities).all()
    assert np.isfinite(found.elbo)
    assert (np.diff(found.traces[0]) >= -1e-9 * abs(found.elbo)).all()
