"""Which columns are measured, and what is said of the others."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from calls import call, discover, edited, found_teff, labels_of, refused
from tables import COLUMNS, grain_rows, write_grain

import vbrand
from vbrand.io.tables.columns import choice_of, measured, want_columns
from vbrand.io.tables.frames import TableError
from vbrand.io.tables.separated import Origin, separated


def read(text):
    return separated(Origin("t.csv", None, text.encode()), ())


class Name(str):
    """A name that counts how often it is compared with another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)


def test_no_list_of_columns_is_searched_for_each_of_them():
    names = tuple(Name(f"c{j}") for j in range(1_000))
    values = np.random.default_rng(0).normal(size=(3, 1_000))
    frame = read("\n".join([",".join(names), *(",".join(map(str, row)) for row in values)]))
    frame = replace(frame, columns=names)
    Name.compared = 0
    assert choice_of(frame, set(), frame, wanted=[names[3]]).columns == list(names)
    assert Name.compared < 50 * len(names)


def test_numbers_that_are_no_roles_are_measured_in_their_order():
    columns, notes = measured(read("b,label,a\n1.5,x,3\n2.5,y,2\n0.5,x,4\n"), {"label"})
    assert columns == ["b", "a"]
    assert notes == []


def test_what_is_left_out_is_said_with_its_reason():
    columns, notes = measured(read("i,a,word,none,up\n1,2.5,x,,3\n2,1.5,y,,5\n3,0.5,z,,9\n"), set())
    assert columns == ["a", "up"]
    assert notes == [
        "columns that were not measured, because text: 'word'.",
        "columns that were not measured, because empty: 'none'.",
        "columns that were not measured, because they only count the rows: 'i'.",
        "'up': whole numbers that only grow from row to row. If they are names of rows, say so: --id 'up'.",
    ]


def test_a_column_that_counts_is_measured_if_there_is_no_other():
    assert measured(read("i,word\n1,x\n2,y\n3,z\n"), set())[0] == ["i"]


def test_a_column_with_some_text_is_measured_so_that_it_can_be_refused_by_name():
    columns, notes = measured(read("a,b\n1,1.5\n<2,0.5\n"), set())
    assert columns == ["a", "b"]
    assert notes == []


def test_a_table_without_numbers_is_refused():
    with pytest.raises(TableError, match=r"t\.csv has no column of numbers beside the label and what is left out"):
        measured(read("word,label\nx,1\n"), {"label"})


def test_columns_that_are_missing_are_named():
    want_columns(read("a,b\n1,2\n"), ["b"], "which train.csv has")
    with pytest.raises(
        TableError, match=r"t\.csv has no column 'c', 'd', which train\.csv has\. .* Its columns are: 'a'"
    ):
        want_columns(read("a,b\n1,2\n"), ["a", "c", "d"], "which train.csv has")


def test_a_title_in_the_place_of_the_header_is_told():
    with pytest.raises(TableError, match=r"Its columns are: 'a', 'b'\.$"):
        want_columns(read("a,b\n1,2\n"), ["c"], "which train.csv has")
    with pytest.raises(TableError, match=r"Its columns are: 'Survey', 'unnamed column 2'.* Delete what stands above"):
        want_columns(read("Survey,,\nFe,Zn,Cu\n1,2,3\n"), ["Fe"], "which train.csv has")


def test_columns_are_matched_by_name(tmp_path):
    train, test = write_grain(tmp_path)
    table = pd.read_csv(test)
    table[["truth", "ash", "protein", "moisture"]].assign(extra=1.5).to_csv(tmp_path / "turned.csv", index=False)
    discover(tmp_path, train, test, "--label", "variety", "-q", out="straight")
    discover(tmp_path, train, tmp_path / "turned.csv", "--label", "variety", "-q")
    assert labels_of(tmp_path) == labels_of(tmp_path, "straight")


def test_a_column_that_counts_the_rows_is_no_measurement(tmp_path):
    train, test = write_grain(tmp_path)
    for path, first in ((train, 0), (test, 80)):
        table = pd.read_csv(path)
        table.index += first
        table.to_csv(path)  # pandas writes its index, without a name
    done = discover(tmp_path, train, test, "--label", "variety")
    assert "not measured, because they only count the rows: 'unnamed column 1'." in done.stdout
    assert found_teff(labels_of(tmp_path))


def test_the_index_of_a_data_frame_is_no_measurement(tmp_path):
    """Known and unknown rows come out of one table: their numbers have gaps, and tell them apart."""
    known, labels, new, _ = grain_rows()
    table = pd.DataFrame(np.vstack([known, new]), columns=COLUMNS).assign(variety=[*labels, *[None] * 60])
    table = table.sample(frac=1.0, random_state=0).sort_values("variety", na_position="last")
    first, second = table[table.variety.notna()].sort_index(), table[table.variety.isna()].drop(columns="variety")
    straight = second.sort_index()
    first.to_csv(tmp_path / "train.tsv", sep="\t")
    straight.to_csv(tmp_path / "test.tsv", sep="\t")
    first.to_parquet(tmp_path / "train.parquet")
    straight.to_parquet(tmp_path / "test.parquet")
    first[::2].to_csv(tmp_path / "gaps.csv")
    first.sample(frac=1.0, random_state=0).to_csv(tmp_path / "shuffled.csv")
    for known_name, unknown_name in (
        ("train.tsv", "test.tsv"),
        ("train.parquet", "test.parquet"),
        ("gaps.csv", "test.tsv"),
        ("shuffled.csv", "test.tsv"),
    ):
        discover(tmp_path, tmp_path / known_name, tmp_path / unknown_name, "--label", "variety", "-q")
        model = vbrand.load(tmp_path / "out" / "model.vbrand")
        assert model.feature_names_in_.tolist() == list(COLUMNS)
        assert found_teff(labels_of(tmp_path))


def test_what_is_not_measured_is_said(tmp_path):
    train, test = write_grain(tmp_path)
    pd.read_csv(train).assign(lab="A1", fat="5.6 mg", nothing="", up=np.arange(80) * 3 + 10_001).to_csv(
        train, index=False
    )
    pd.read_csv(test).assign(ph=7.0, up=np.arange(60) * 3 + 20_001).to_csv(test, index=False)
    edited(train, ",oat,", ",Rye,")
    edited(train, ",oat,", ",Rye,")
    edited(train, ",oat,", ",Rye,")
    done = discover(tmp_path, train, test, "--label", "variety")
    for note in (
        "not measured, because text: 'lab', 'fat'.",
        "not measured, because empty: 'nothing'.",
        "not measured, because train.csv does not have them: 'ph'.",
        "'up': whole numbers that only grow from row to row. If they are names of rows, say so: --id 'up'.",
        "labels 'Rye' and 'rye' differ by case only, and count as two classes.",
    ):
        assert note in done.stdout


def test_a_category_is_measured_by_its_levels_once_it_is_named(tmp_path):
    train, test = write_grain(tmp_path)
    for path, label in ((train, "variety"), (test, "truth")):
        table = pd.read_csv(path)
        place = table[label].map({"oat": "north", "rye": "south"}).fillna("west")
        table.assign(place=place, grade=np.arange(len(table)) % 3).to_csv(path, index=False)
    done = discover(tmp_path, train, test, "--label", "variety", "--ignore", "grade")
    assert "not measured, because text: 'place' (--category 'place' measures it by its levels)." in done.stdout
    done = discover(tmp_path, train, test, "--label", "variety", "--truth", "truth", "--category", "place")
    assert "columns of categories: 'place'." in done.stdout
    assert (
        "'grade': few whole numbers, measured as numbers. If they are codes, say so: --category 'grade'." in done.stdout
    )
    assert "place: another level, 0% in its nearest class" in done.stdout
    lines = labels_of(tmp_path)
    assert found_teff(lines)
    assert lines[0]["place"] in ("north", "south")
    assert found_teff(labels_of(tmp_path))

    model, new = tmp_path / "out" / "model.vbrand", tmp_path / "new.csv"
    call("predict", model, test, "-o", new)
    predicted = pd.read_csv(new)
    assert predicted.label.tolist() == [line["label"] for line in lines]
    assert sorted(vbrand.load(model).categories_[0].levels) == ["north", "south"]
    refused_sentence = refused(tmp_path / "none", train, test, "--label", "variety", "--category", "plaice")
    assert "has no column 'plaice' (--category). Did you mean 'place'?" in refused_sentence
