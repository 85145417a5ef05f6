"""Whatever says where rows are gives the same rows, and the same answers as rows in memory, bit for bit."""

import os
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from vbrand import BrandSampler, VBrand
from vbrand.io.sources.flat import Flat
from vbrand.io.sources.opened import is_source, open_labelled, open_rows
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.validated import Columns

COLUMNS = ["ash", "fat", "salt"]
PAIR = Columns(3, tuple(COLUMNS))


def problem(n=12_000):
    rng = np.random.default_rng(0)
    member = rng.integers(0, 3, n)
    rows = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 9.0]])[member] + rng.normal(size=(n, 3))
    given = (np.arange(n) % 40 == 0) & (member < 2)
    return rows, np.where(given, np.array(["oat", "rye", ""])[member], ""), given


def write_parts(folder, rows, labels):
    folder.mkdir()
    frame = pd.DataFrame(rows, columns=COLUMNS).assign(kind=[name or None for name in labels])
    cuts = [0, 1, 1, 5_000, len(frame)]
    for number, (first, last) in enumerate(pairwise(cuts)):
        frame[first:last].to_parquet(folder / f"{number}.parquet")


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Return a folder with rows in many forms, and what is found of them in memory."""
    folder = tmp_path_factory.mktemp("sources")
    rows, labels, given = problem()
    write_parts(folder / "big", rows, labels)
    np.save(folder / "rest.npy", rows[~given])
    pd.DataFrame(rows[~given][:6_000], columns=COLUMNS).to_csv(folder / "rest-1.csv", index=False)
    pd.DataFrame(rows[~given][6_000:], columns=COLUMNS).to_feather(folder / "rest-2.feather")
    detector = VBrand(random_state=0).fit(pd.DataFrame(rows[given], columns=COLUMNS), labels[given])
    return folder, detector, detector.discover(pd.DataFrame(rows[~given], columns=COLUMNS))


def same(found, other, *, names=True):
    for name in ("labels", "clusters", "novelty_probability", "novelty_score", "probabilities"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))
    assert (found.elbo, str(found), found.n_groups) == (other.elbo, str(other), other.n_groups)
    if names:
        assert str(found.summary()) == str(other.summary())


def test_a_folder_with_labelled_rows_in_it_is_fitted_as_in_memory(answered, tmp_path):
    folder, _, found = answered
    detector = VBrand(random_state=0).fit(folder / "big", "kind", store=tmp_path / "store")
    same(detector.discovery_, found)
    assert isinstance(detector.discovery_.labels, np.memmap)
    np.testing.assert_array_equal(np.load(tmp_path / "store" / "labels.npy"), found.labels)
    assert detector.feature_names_in_.tolist() == COLUMNS


@pytest.mark.parametrize("name", ["rest.npy", "rest-*"])
def test_files_and_patterns_are_discovered_as_in_memory(answered, name):
    folder, detector, found = answered
    other = detector.discover(str(folder / name))
    same(other, found)
    assert other.has_rows_of(found)
    np.testing.assert_array_equal(other.select(0.1), found.select(0.1))
    assert str(other.explain(-1)) == str(found.explain(-1))
    np.testing.assert_array_equal(detector.predict(folder / "rest.npy"), found.labels)


def test_a_memory_map_has_answers_that_are_mapped(answered, tmp_path, quick_maps):
    folder, detector, found = answered
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's: no names
        other = detector.discover(np.load(folder / "rest.npy", mmap_mode="r"))
    same(other, found)
    assert isinstance(other.clusters, np.memmap)
    assert other.report(tmp_path / "report.html").stat().st_size > 10_000


def gapped(n=9_000):
    """Return a table in which cells are missing, the labels beside the numbers; no row misses all."""
    rows, labels, _ = problem(n)
    rng = np.random.default_rng(1)
    gone = rng.random(rows.shape) < 0.15
    gone[np.arange(n), rng.integers(3, size=n)] = False
    table = pd.DataFrame(np.where(gone, np.nan, rows), columns=COLUMNS)
    return table.assign(kind=[name or None for name in labels])


def write_table(table, form, folder):
    """Write a table in one of the forms that sources have, and return what `fit` takes."""
    if form == "map":
        np.save(folder / "rows.npy", table[COLUMNS])
        return np.load(folder / "rows.npy", mmap_mode="r"), table.kind
    (folder / form).mkdir()
    for number, part in enumerate((table[:4_000], table[4_000:])):
        path = folder / form / f"{number}.{form}"
        part.reset_index(drop=True).to_csv(path, index=False) if form == "csv" else getattr(part, f"to_{form}")(path)
    return folder / form, "kind"


@pytest.fixture(scope="module")
def gapped_found():
    table = gapped()
    return VBrand(random_state=0, check=3).fit(table[COLUMNS], table.kind).discovery_


@pytest.mark.parametrize("form", ["map", "parquet", "csv", "feather"])
def test_missing_cells_have_the_answers_of_memory(gapped_found, tmp_path, form):
    table, labels = write_table(gapped(), form, tmp_path)
    detector = VBrand(random_state=0, check=3).fit(table, labels)
    same(detector.discovery_, gapped_found, names=form != "map")
    own = gapped()[COLUMNS]
    own = own.to_numpy() if form == "map" else own
    np.testing.assert_array_equal(detector.score_samples(table), detector.score_samples(own))


def test_rows_without_any_cell_are_told_and_get_the_prior(tmp_path):
    table = gapped(3_000)
    table.loc[[7, 40], COLUMNS] = np.nan  # the second one is labelled: it teaches nothing
    assert table.kind[[7, 40]].isna().tolist() == [True, False]
    table.to_parquet(tmp_path / "rows.parquet")
    found = VBrand(random_state=0, check=0).fit(tmp_path / "rows.parquet", "kind").discovery_
    assert "1 row has no value at all" in str(found.summary())
    assert 0.0 < found.novelty_probability[7] < 1.0
    table.loc[~table.kind.isna(), COLUMNS] = np.nan
    table.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="no labelled row has any value"):
        VBrand(random_state=0).fit(tmp_path / "rows.parquet", "kind")


def test_rows_without_any_cell_change_no_answer(tmp_path):
    rows, labels, given = problem(4_000)
    rest = rows[~given][:80]
    rest[::10] = np.nan
    np.save(tmp_path / "rest.npy", rest)
    detector = VBrand(random_state=0, check=3).fit(rows[given], labels[given])
    found, other = detector.discover(rest), detector.discover(tmp_path / "rest.npy")
    # to what an ascent leaves open: in memory they are taken out, so that sums have other orders
    np.testing.assert_allclose(other.probabilities, found.probabilities, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(other.elbo, found.elbo, rtol=1e-8)
    assert other.check.agreement == found.check.agreement


def test_a_wide_table_is_reduced_as_in_memory(tmp_path):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6_000, 60)) + np.repeat([[0.0], [6.0], [-6.0]], 2_000, axis=0) * rng.normal(size=60)
    rows[:, 3] = 1.0
    known, labels = np.r_[rows[:40], rows[2_000:2_040]], np.repeat([1, 2], 40)
    rows = np.delete(rows, np.r_[:40, 2_000:2_040], axis=0)
    np.save(tmp_path / "rows.npy", rows)
    with pytest.warns(UserWarning, match="dropped column 3"):
        detector = VBrand(random_state=0, check=0).fit(known, labels)
    same(detector.discover(tmp_path / "rows.npy"), detector.discover(rows))


def test_labels_of_rows_without_names_are_given_one_by_one(tmp_path):
    rows, labels, given = problem(2_000)
    np.save(tmp_path / "rows.npy", rows)
    opened = open_labelled(tmp_path / "rows.npy", np.where(given, labels, None), Scratch())
    np.testing.assert_array_equal(opened.rows, rows[given])
    np.testing.assert_array_equal(opened.rest[:], rows[~given])
    assert opened.columns == Columns(3, None)
    with pytest.raises(ValueError, match="has no names of columns"):
        open_labelled(tmp_path / "rows.npy", "kind", Scratch())
    with pytest.raises(ValueError, match="y has 3 labels for 2,000 rows"):
        open_labelled(tmp_path / "rows.npy", [1, 2, -1], Scratch())


def broken(name, folder):
    """Write a file that can't be used."""
    rows = np.ones((20, 3))
    if name == "far.npy":
        rows[7, 1] = np.inf
    if name == "column.npy":
        rows = np.asfortranarray(rows)
    np.save(folder / name, rows[:, :2] if name == "few.npy" else rows[0] if name == "flat.npy" else rows)
    if name == "cut.npy":
        (folder / name).write_bytes((folder / name).read_bytes()[:-10])
    if name == "head.npy":
        (folder / name).write_bytes((folder / name).read_bytes().replace(b"descr", b"dscer"))
    if name == "open.npy":
        (folder / name).write_bytes((folder / name).read_bytes().replace(b"), }", b"(, }"))
    return folder / name


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("far.npy", "column 'fat' has an infinite value in row 7"),
        ("column.npy", "one column behind the other"),
        ("few.npy", "X has 2 columns of numbers; the detector was fitted with 3"),
        ("flat.npy", "rows by columns of numbers are expected"),
        ("cut.npy", "is cut off: it should hold 20 rows"),
        ("head.npy", "its header is damaged"),
        ("open.npy", "its header is damaged"),
    ],
)
def test_files_that_can_not_be_used_get_one_sentence(tmp_path, name, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        open_rows(broken(name, tmp_path), PAIR, Scratch())
    assert "\n" not in str(error.value)


def test_names_of_nothing_and_of_other_columns_are_told(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        open_rows(tmp_path / "no.parquet", PAIR, Scratch())
    pd.DataFrame({"ash": [1.0], "fat": [2.0]}).to_parquet(tmp_path / "two.parquet")
    with pytest.raises(ValueError, match="has no column 'salt', which the detector was fitted with"):
        open_rows(tmp_path / "two.parquet", PAIR, Scratch())
    pd.DataFrame({"ash": [1.0]})[:0].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="has no rows"):
        open_rows(tmp_path / "none.parquet", Columns(1, ("ash",)), Scratch())


def test_a_pipe_is_no_source(tmp_path):
    """A source is read more than once."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a pipe and can be read only once"):
        open_rows(tmp_path / "pipe", PAIR, Scratch())


def test_what_lies_in_memory_is_no_source(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((20, 3)))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert is_source(mapped)
    assert not any(map(is_source, (mapped[3:], mapped.T, np.ones((3, 2)), [[1.0]], pd.DataFrame())))
    assert not is_source(np.load(tmp_path / "rows.npy", mmap_mode="c"))


def test_the_sampler_takes_tables_in_memory_only():
    with pytest.raises(ValueError, match="a table is expected, not its name"):
        BrandSampler().fit("known.parquet", ["a"])


def mixed(n=9_000):
    """Return a table with missing cells, a column of each kind of category, and levels that no labelled row has."""
    table, rng = gapped(n), np.random.default_rng(3)
    far = np.nan_to_num(table.fat) > 4.0
    colour = np.where(rng.random(n) < np.where(far, 0.9, 0.2), "red", rng.choice(["blue", "green"], n)).astype(object)
    colour[rng.random(n) < 0.1] = None
    colour[far & (rng.random(n) < 0.1)] = "gold"
    table.insert(1, "colour", colour)
    table.insert(3, "shape", pd.Categorical(rng.choice(["round", "square"], n)))
    return table.assign(wet=rng.random(n) < 0.5)


@pytest.mark.parametrize("form", ["parquet", "csv", "feather"])
def test_columns_of_categories_have_the_answers_of_memory(mixed_found, tmp_path, form):
    detector, found = mixed_found
    table = mixed()
    folder, labels = write_table(table, form, tmp_path)
    other = VBrand(random_state=0, check=3).fit(folder, labels)
    assert other.categories_ == detector.categories_
    assert other.feature_names_in_.tolist() == ["ash", "colour", "fat", "shape", "salt", "wet"]
    same(other.discovery_, found)
    assert str(other.discovery_.explain(-1)) == str(found.explain(-1))
    own = table.drop(columns="kind")
    np.testing.assert_array_equal(other.predict_proba(folder), detector.predict_proba(own))


@pytest.fixture(scope="module")
def mixed_found():
    table = mixed()
    detector = VBrand(random_state=0, check=3).fit(table.drop(columns="kind"), table.kind)
    return detector, detector.discovery_


def test_the_user_says_which_columns_of_files_are_categories(tmp_path):
    table = mixed(2_400).assign(code=np.arange(2_400) % 3 + 1)
    table.to_parquet(tmp_path / "rows.parquet")
    with pytest.warns(UserWarning, match="columns that were not measured, because text: 'colour', 'shape', 'wet'"):
        detector = VBrand(random_state=0, check=0, categories=["code"]).fit(tmp_path / "rows.parquet", "kind")
    own = table[[*COLUMNS, "code"]]
    found = VBrand(random_state=0, check=0, categories=["code"]).fit(own, table.kind).discovery_
    assert [one.levels for one in detector.categories_] == [
        one.levels for one in found.context.yardstick.passage.categories
    ]
    same(detector.discovery_, found)
    with pytest.raises(ValueError, match="categories names 'hue'; the table has no such column"):
        VBrand(categories=["hue"]).fit(tmp_path / "rows.parquet", "kind")
    table.assign(name=[f"row {i}" for i in range(2_400)]).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"column 'name' of rows.parquet has .* levels in 2,400 rows: an id"):
        VBrand(categories=["name"]).fit(tmp_path / "rows.parquet", "kind")


def test_numbers_of_a_memory_map_may_be_categories(tmp_path):
    table = gapped()
    rows = np.ascontiguousarray(np.column_stack([table[COLUMNS], np.where(table.fat > 4.0, 7, np.arange(9_000) % 3)]))
    np.save(tmp_path / "rows.npy", rows)
    quick = {"random_state": 0, "check": 0, "categories": [3]}
    detector = VBrand(**quick).fit(tmp_path / "rows.npy", table.kind)
    found = VBrand(**quick).fit(rows, table.kind)
    same(detector.discovery_, found.discovery_)
    np.testing.assert_array_equal(detector.predict(np.load(tmp_path / "rows.npy", mmap_mode="r")), found.predict(rows))


def test_a_folder_of_categories_only_is_fitted(tmp_path):
    rng = np.random.default_rng(0)
    member = rng.integers(0, 3, 600)
    table = pd.DataFrame({name: np.array(list("abc"))[(member + (rng.random(600) < 0.1)) % 3] for name in "uvwx"})
    table["kind"] = np.where((member < 2) & (np.arange(600) % 4 == 0), np.array(["oat", "rye", ""])[member], None)
    table.to_parquet(tmp_path / "rows.parquet")
    found = VBrand(random_state=0, check=0).fit(tmp_path / "rows.parquet", "kind").discovery_
    assert (found.labels == "novel").sum() > 150


@pytest.mark.parametrize(
    ("fate", "sentence"),
    [
        ("changed", r"2\.parquet was changed while it was read"),
        ("vanished", r"2\.parquet has vanished while it was read"),
        ("other columns", r"2\.parquet was changed while it was read"),
        ("infinite cell", "column 'fat' of big has an infinite number in row 304"),
    ],
)
def test_what_goes_wrong_half_way_gets_one_sentence_and_leaves_nothing(tmp_path, monkeypatch, fate, sentence):
    """The first file is read by then; answers of an earlier run stay as they are."""
    rows, labels, _ = problem(600)
    table = pd.DataFrame(rows, columns=COLUMNS).assign(kind=[name or None for name in labels])
    if fate == "infinite cell":
        table.loc[303, "fat"] = np.inf
    (tmp_path / "big").mkdir()
    for number, part in ((1, table[:300]), (2, table[300:])):
        part.to_parquet(tmp_path / "big" / f"{number}.parquet")
    (tmp_path / "store").mkdir()
    np.save(tmp_path / "store" / "labels.npy", ["oat"])
    last, add = tmp_path / "big" / "2.parquet", Flat.add

    def adding(flat, block):
        if fate == "vanished":
            last.unlink(missing_ok=True)
        elif fate != "infinite cell":
            table[300:599].drop(columns="salt" if fate == "other columns" else []).to_parquet(last)
        add(flat, block)

    monkeypatch.setattr(Flat, "add", adding)
    with pytest.raises(ValueError, match=sentence) as error:
        VBrand(random_state=0).fit(tmp_path / "big", "kind", store=tmp_path / "store")
    assert "\n" not in str(error.value)
    assert [file.name for file in (tmp_path / "store").iterdir()] == ["labels.npy"]
    assert np.load(tmp_path / "store" / "labels.npy").tolist() == ["oat"]
