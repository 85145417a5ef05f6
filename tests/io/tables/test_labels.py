"""Labels in: whole numbers or text, and which rows nobody has labelled."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand.io.tables.labels import names_alike, read_labels, read_samples

names = st.text(min_size=1, max_size=8).filter(
    lambda name: name.strip() and not name.startswith("novel") and "\0" not in name
)
missing = st.sampled_from([None, float("nan"), -1, pd.NA, pd.NaT, np.float64("nan")])


@given(st.lists(names | missing, min_size=1, max_size=20).filter(lambda cells: any(isinstance(c, str) for c in cells)))
def test_text_comes_back_and_all_else_is_missing(cells):
    labels, given_rows = read_labels(cells)
    assert given_rows.tolist() == [isinstance(cell, str) for cell in cells]
    assert labels[given_rows].tolist() == [cell for cell in cells if isinstance(cell, str)]
    assert labels.dtype.kind == "U"


@given(st.lists(st.integers(-(2**53), 2**53).filter(lambda n: n != -1) | missing, min_size=1, max_size=20))
def test_whole_numbers_come_back_as_such(cells):
    whole = [isinstance(cell, int) and cell != -1 for cell in cells]
    if not any(whole):
        with pytest.raises(ValueError, match="all rows are unlabelled"):
            read_labels(cells)
        return
    labels, given_rows = read_labels(cells)
    assert given_rows.tolist() == whole
    assert labels.dtype == np.int64
    assert labels[given_rows].tolist() == [cell for cell, here in zip(cells, whole, strict=True) if here]


@pytest.mark.parametrize(
    "labels",
    [
        ["rye", None, "oat"],
        np.array(["rye", None, "oat"], dtype=object),
        np.array([["rye"], [None], ["oat"]], dtype=object),
        pd.Series(["rye", None, "oat"]),
        pd.Series(["rye", None, "oat"], dtype="category"),
        pd.DataFrame({"variety": ["rye", None, "oat"]}),
        pl.Series(["rye", None, "oat"]),
    ],
)
def test_labels_of_all_kinds_mean_the_same(labels):
    read, given_rows = read_labels(labels)
    assert given_rows.tolist() == [True, False, True]
    assert read[given_rows].tolist() == ["rye", "oat"]


def test_blank_text_is_no_label_as_in_files():
    labels, given_rows = read_labels(["rye", "", "  ", b"", "oat "])
    assert given_rows.tolist() == [True, False, False, False, True]
    assert labels[given_rows].tolist() == ["rye", "oat "]
    with pytest.raises(ValueError, match="all rows are unlabelled"):
        read_labels(["", " "])
    assert read_samples(["a", "", "", "a"], rows=4).tolist() == [0, 1, 2, 0]


def test_names_that_differ_in_capitals_or_blanks_are_alike():
    assert names_alike(np.array(["Nord", "Süd", "nord", "n ord", "süd"])) == [
        "'Nord' and 'nord' and 'n ord'",
        "'Süd' and 'süd'",
    ]
    assert names_alike(np.array(["oat", "rye"])) == names_alike(np.array([1, 2])) == []


def test_minus_one_as_text_is_a_name_and_numbers_beside_text_are_text():
    labels, given_rows = read_labels(["-1", "oat", 7, -1])
    assert given_rows.tolist() == [True, True, True, False]
    assert labels.tolist()[:3] == ["-1", "oat", "7"]


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([None, -1], "all rows are unlabelled; label some rows of each class you know"),
        ([1.5, 2.0], "labels must be whole numbers or text, not measurements"),
        ([float("inf"), 2.0], "labels must be whole numbers or text, not measurements"),
        (["oat", "novel"], "a class is called 'novel', a name that new groups get"),
        (["oat", "novel 12"], "a class is called 'novel 12', a name that new groups get"),
        ([["oat", "rye"]], r"labels have the shape \(1, 2\); one label for each row is expected"),
    ],
)
def test_what_is_no_label_is_refused(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_labels(labels)


def test_names_that_only_begin_like_a_novelty_are_fine():
    assert read_labels(["novelty", "novel one", "Novel"])[0].tolist() == ["novelty", "novel one", "Novel"]


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([1, "1", 2], "label 1 is given as a number and as text"),
        (["a\0", "a"], "holds a character that text files can't hold"),
        (["\ud800", "a"], "holds a character that text files can't hold"),
        ([b"\xff", b"a"], "is no text in UTF-8; decode the labels first"),
        ([1e300, 2], r"label 1e\+300 is too large.*Give the labels as text"),
        ([2**63, 2], "is too large"),
        ([1 + 2j, 2], "is a complex number; labels are whole numbers or text"),
        ([Decimal("Infinity"), 2], "labels must be whole numbers or text, not measurements"),
        (["x" * 2_000_000, "a"], "a label has 2,000,000 characters .*Shorten it"),
        ([{"a": 1}, "a"], "is no label; one whole number or one text"),
        ([np.arange(2), "a"], "is no label; one whole number or one text"),
        ([object(), "a"], "is no label; one whole number or one text"),
    ],
)
def test_labels_that_would_be_merged_cut_or_guessed_are_refused(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_labels(labels)


@pytest.mark.parametrize(
    "labels",
    [
        [b"rye", None, b"oat"],
        np.ma.array(["rye", "teff", "oat"], mask=[False, True, False]),
        pyarrow.array(["rye", None, "oat"]),
        pyarrow.chunked_array([["rye", None], ["oat"]]),
        ["rye", Decimal("NaN"), "oat"],
        ["rye", Decimal("sNaN"), "oat"],
    ],
)
def test_bytes_masks_arrow_and_decimals_mean_what_they_say(labels):
    read, given_rows = read_labels(labels)
    assert given_rows.tolist() == [True, False, True]
    assert read[given_rows].tolist() == ["rye", "oat"]
