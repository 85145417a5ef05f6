"""Separated text: the same table whatever the separator, the encoding, the line ends and the decimal sign."""

import csv
import io
import json

import pandas as pd
import pytest
from calls import discover, found_teff, labels_of, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import write_grain

from vbrand.io.tables.frames import OddCells, TableError
from vbrand.io.tables.separated import Origin, separated

numbers = st.floats(allow_nan=False, allow_infinity=False)
# letters whose bytes in cp1252 are no UTF-8; quotes, line ends and what separates elsewhere
texts = st.text(alphabet='abcéüß",;|\t\n .', max_size=8).map(lambda text: f"x{text}y")


def read(text, as_text=(), encoding="utf-8"):
    return separated(Origin("t.csv", None, text.encode(encoding)), as_text)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(numbers, texts), min_size=1, max_size=6),
    st.sampled_from(",;\t|"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_cells_come_back_as_they_were_written(rows, separator, encoding, newline, quoted):
    written = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(written, delimiter=separator, lineterminator=newline, quoting=quoting)
    writer.writerow(["numéro", "texte"])
    writer.writerows(rows)
    frame = read(written.getvalue(), encoding=encoding)
    assert frame.columns == ("numéro", "texte")
    assert frame.numeric == {"numéro"}
    assert frame.numbers(["numéro"])[:, 0].tolist() == [number for number, _ in rows]
    assert frame.texts("texte") == [text for _, text in rows]


@settings(max_examples=60, deadline=None)
@given(st.lists(numbers, max_size=6), st.sampled_from(";\t|"))
def test_decimal_commas_are_the_same_numbers(values, separator):
    values = [0.5, *values]  # no thousand
    lines = [f"{value!r}{separator}x".replace(".", ",") for value in values]
    frame = read("\n".join([f"a{separator}b", *lines]))
    assert frame.numbers(["a"])[:, 0].tolist() == values


@pytest.mark.parametrize("cell", ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?"])
def test_words_for_nothing_are_empty_cells(cell):
    frame = read(f"a,b,c\n1,{cell},{cell}\n2,x,{cell}\n")
    assert frame.texts("b") == [None, "x"]
    assert frame.empty == {"c"}
    assert frame.mixed == {}


def test_columns_that_are_to_be_text_stay_as_they_are():
    frame = read("id,x\n007,1\n1.50,2\n", as_text={"id"})
    assert frame.texts("id") == ["007", "1.50"]
    assert frame.numeric == {"x"}


def test_cells_that_are_no_numbers_are_remembered():
    frame = read("a,b\n1,x\n2,y\n< 3,z\n4?,u\n")
    assert frame.mixed == {"a": OddCells(3, ("< 3", "4?"), 2, 2)}
    assert frame.numeric == set()


def test_columns_without_a_name_are_numbered_and_left_out_if_empty():
    frame = read(",a,\n1,2,\n3,4,\n")
    assert frame.columns == ("unnamed column 1", "a")
    assert frame.rows == 2


def test_a_separator_within_quotes_separates_nothing():
    frame = read('"a;b;c;d",e\n"1",2\n')
    assert frame.columns == ("a;b;c;d", "e")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\na,b\n1,2\n", "t.csv has an empty first line"),
        (
            "a,b\n1,2\n3\n",
            r"row 2 of t.csv has 1 cells where the header has 2 names \('3' below 'a', 'b'\)\. Correct it;",
        ),
        (
            "Survey\na,b\n1,2\n",
            r"row 1 of t.csv has 2 cells .* 1 name \('a,b' below 'Survey'\)\. If the first line is a",
        ),
        ("a,b,a\n1,2,3\n", "two columns of t.csv are called 'a'"),
    ],
)
def test_what_is_wrong_is_said(text, sentence):
    with pytest.raises(TableError, match=sentence):
        read(text)


def test_an_origin_is_a_file_or_bytes(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"abcdefghij")
    for origin in (Origin("t", tmp_path / "t.csv"), Origin("t", None, b"abcdefghij")):
        assert origin.head == b"abcdefgh"
        with origin.open() as file:
            assert file.read() == b"abcdefghij"


def test_spaces_accents_and_quoted_separators_in_names(tmp_path):
    names = ["teneur en protéines", 'a, "b"', "水分; %"]
    train, test = write_grain(tmp_path, header=names, label="variété")
    discover(tmp_path, train, test, "--label", "variété", "--truth", "truth")
    assert found_teff(labels_of(tmp_path))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    explained = summary["groups"][2]["explanation"]["contributions"]
    assert {part["column"] for part in explained} == set(names)


def test_a_byte_order_mark_and_carriage_returns(tmp_path):
    train, test = write_grain(tmp_path, newline="\r\n")
    for path in (train, test):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    discover(tmp_path, train, test, "--label", "variety", "--ignore", "truth")
    assert found_teff(labels_of(tmp_path))


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_other_encodings(tmp_path, encoding):
    train, test = write_grain(tmp_path, header=["été", "protein", "ash"])
    for path in (train, test):
        path.write_bytes(path.read_text(encoding="utf-8").encode(encoding))
    discover(tmp_path, train, test, "--label", "variety")
    assert found_teff(labels_of(tmp_path))


def test_semicolons_and_decimal_commas(tmp_path):
    train, test = write_grain(tmp_path, separator=";")
    for path in (train, test):
        path.write_text(path.read_text().replace(".", ","))
    discover(tmp_path, train, test, "--label", "variety")
    assert found_teff(labels_of(tmp_path))


def test_empty_rows_at_the_end_are_no_rows(tmp_path):
    train, test = write_grain(tmp_path)
    for path in (train, test):
        path.write_text(path.read_text() + ",,,\n" * 5)
    discover(tmp_path, train, test, "--label", "variety")
    assert len(labels_of(tmp_path)) == 60


def test_quoted_decimal_commas_are_not_passed_over(tmp_path):
    train, test = write_grain(tmp_path)
    for path in (train, test):
        table = pd.read_csv(path).astype(str)
        table["ash"] = table["ash"].str.replace(".", ",")
        table.to_csv(path, index=False)
    assert "Is it a decimal comma, or a thousand? Write a point, or nothing." in refused(
        tmp_path, train, test, "--label", "variety"
    )


def test_thousands_are_not_taken_for_decimals(tmp_path):
    train, test = write_grain(tmp_path, separator="\t")
    for path in (train, test):
        table = pd.read_csv(path, sep="\t")
        table["protein"] = [f"{1 + i % 9},{i:03}" for i in range(len(table))]
        table.to_csv(path, sep="\t", index=False)
    assert "decimal comma, or a thousand?" in refused(tmp_path, train, test, "--label", "variety")


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_cell_of_very_many_digits_takes_no_longer_than_its_length(separator):
    """Patterns that can split a run of digits in many ways took 14 s for 20,000 of them."""
    frame = read(f"a{separator}b\n{'1' * 100_000}x{separator}2\n3{separator}4\n")
    assert frame.mixed["a"].row == 1
