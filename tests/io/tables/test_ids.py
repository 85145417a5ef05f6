"""Columns of numbers that name or count the rows, or are dates, are told from measurements."""

import numpy as np
import pandas as pd
import pytest
from calls import discover, found_teff, labels_of, refused
from tables import COLUMNS, grain_rows

import vbrand
from vbrand.io.tables.ids import Reason, _words, columns_like_ids, holds_dates, id_columns
from vbrand.io.tables.separated import Origin, separated

rng = np.random.default_rng(0)
N = np.arange(60)


def read(**columns):
    return separated(Origin("t.csv", None, pd.DataFrame(columns).to_csv(index=False).encode()), ())


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("i", N + 7, Reason.COUNTS),
        ("x", rng.permutation(60), Reason.COUNTS),  # shuffled
        ("x", np.delete(rng.permutation(64), [3, 9]), Reason.COUNTS),  # with gaps
        ("id", N % 7, Reason.NAMES),  # of patients, with several rows each
        ("plot_id", rng.integers(0, 9, 60), Reason.NAMES),
        ("treeID", rng.permutation(60) * 101, Reason.NAMES),
        ("rownames", N * 3, Reason.NAMES),
        ("Sample Number", rng.permutation(60) * 17, Reason.NAMES),
        ("sample", np.repeat(rng.permutation(30) * 17, 2), Reason.NAMES),  # rows that are there twice
        ("No.", N**2, Reason.NAMES),
        ("day", 20240501 + N % 28, Reason.DATES),
        ("date", 45_000 + N % 3, Reason.DATES),
        ("cells", rng.permutation(60) * 1_013, None),  # large counts seldom repeat
        ("1100", rng.permutation(60) * 1_013, None),  # a wavelength
        ("cell number", rng.permutation(60) * 1_013, None),
        ("body mass index", rng.integers(18, 40, 60), None),
        ("number", rng.integers(0, 9, 60), None),
        ("wide", N * 1.5, None),
        ("squares", N**2, None),  # in one table a note says so
        ("legs", N % 2 + 4, None),
    ],
)
def test_what_a_column_is(name, values, reason):
    assert id_columns([read(**{name: values})], [name]).get(name) == reason


def test_a_numbering_that_was_split_into_two_tables_is_one():
    first = np.sort(rng.choice(4_000, 90, replace=False))
    known, other = first[::2], first[1::2]
    assert id_columns([read(a=known), read(a=other)], ["a"]) == {"a": Reason.NAMES}
    assert id_columns([read(a=known[::-1]), read(a=other[::-1])], ["a"]) == {"a": Reason.NAMES}
    assert id_columns([read(a=known), read(a=other + 10_000)], ["a"]) == {}  # one after the other: a note says so
    assert id_columns([read(a=known), read(a=rng.permutation(other))], ["a"]) == {}
    assert id_columns([read(a=known), read(b=other)], ["a"]) == {}


def test_a_counter_that_was_split_and_shuffled_is_one():
    order = rng.permutation(100)
    assert id_columns([read(a=order[:60]), read(a=order[60:])], ["a"]) == {"a": Reason.COUNTS}


def test_two_rows_count_nothing():
    assert id_columns([read(a=[0, 1])], ["a"]) == {}
    assert id_columns([read(a=[0, 1, 2])], []) == {}


@pytest.mark.parametrize(
    ("cells", "dates"),
    [
        (["2024-05-03", None, "2024-05-04 12:30"], True),
        (["3.5.2024", "13.12.24"], True),
        (["5/3/2024", "12/30/2024"], True),
        (["oat", "2024-05-03"], False),
        (["1-2", "3-4"], False),
    ],
)
def test_dates_are_told_from_text(cells, dates):
    assert holds_dates(read(a=cells, b=1.5), "a") == dates


def test_names_have_words():
    assert _words("sampleNo") == ["sample", "no"]
    assert _words("ACID") == ["acid"]
    assert _words("x1") == ["x"]


@pytest.fixture
def numbered(tmp_path):
    """Return two tables that were one, with numbers of rows that tell known from unknown rows if they are measured."""
    known, labels, new, _ = grain_rows()
    place = np.sort(np.random.default_rng(1).choice(900, 140, replace=False)) + 5_000
    pick = np.sort(np.random.default_rng(2).choice(140, 80, replace=False))
    rest = np.setdiff1d(np.arange(140), pick)
    pd.DataFrame(known, columns=COLUMNS).assign(tag=place[pick], variety=labels, seen="2024-05-03").to_csv(
        tmp_path / "train.csv", index=False
    )
    pd.DataFrame(new, columns=COLUMNS).assign(tag=place[rest], seen="2024-05-04").to_csv(
        tmp_path / "test.csv", index=False
    )
    return tmp_path / "train.csv", tmp_path / "test.csv", place[rest]


def test_names_of_rows_are_left_out_and_carried_through(tmp_path, numbered):
    train, test, tags = numbered
    done = discover(tmp_path, train, test, "--label", "variety")
    assert "because they look like names of rows: 'tag' (--measure 'tag' measures it all the same)." in done.stdout
    assert "not measured, because dates: 'seen'." in done.stdout
    assert vbrand.load(tmp_path / "out" / "model.vbrand").feature_names_in_.tolist() == list(COLUMNS)
    lines = labels_of(tmp_path)
    assert found_teff(lines)
    assert [line["tag"] for line in lines] == [str(tag) for tag in tags]


def test_what_looks_like_a_name_can_be_measured_after_all(tmp_path, numbered):
    train, test, _ = numbered
    discover(tmp_path, train, test, "--label", "variety", "--measure", "tag", "-q")
    assert vbrand.load(tmp_path / "out" / "model.vbrand").feature_names_in_.tolist() == [*COLUMNS, "tag"]


def test_what_can_not_be_measured_is_refused(tmp_path, numbered):
    train, test, _ = numbered
    asked = [train, test, "--label", "variety", "--measure"]
    assert "has no column 'tagg' (--measure). Did you mean 'tag'?" in refused(tmp_path, *asked, "tagg")
    assert "can't be measured (--measure) and mean something else" in refused(tmp_path, *asked, "tag", "--id", "tag")
    assert "column 'seen' of train.csv holds no numbers" in refused(tmp_path, *asked, "seen")


def test_columns_in_memory_that_may_be_ids_are_seen():
    rng = np.random.default_rng(0)
    table = np.column_stack(
        [
            rng.permutation(60) + 1.0,
            np.full(60, 20240503.0) + np.arange(60) % 20,
            rng.normal(size=60),
            np.arange(60.0) % 7,
        ]
    )
    names = ["sample_id", "date", "ash", "leaves"]
    assert columns_like_ids(names, table).tolist() == [0, 1]
    assert columns_like_ids(names[2:], table[:, 2:]).tolist() == []
    assert columns_like_ids(["sample_id"], np.full((5, 1), np.nan)).tolist() == []
