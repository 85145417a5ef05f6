"""Files are told apart by what they hold, not by name; all formats give the same table."""

import io
import os
import threading
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from calls import discover, found_teff, labels_of, refused
from tables import COLUMNS, grain_rows, write_grain

from vbrand.io.tables.formats import open_table
from vbrand.io.tables.frames import TableError

TABLE = pd.DataFrame({"a": [1.0, 2.5, -3.0], "b": ["x", None, "z"], "n": [4, 5, 6]})


@pytest.fixture(params=["csv", "tsv", "parquet", "feather"])
def stored(request, tmp_path):
    """Return a table in a file whose name says nothing."""
    path = tmp_path / "table.dat"
    write = {
        "csv": lambda: TABLE.to_csv(path, index=False),
        "tsv": lambda: TABLE.to_csv(path, index=False, sep="\t"),
        "parquet": lambda: TABLE.to_parquet(path),
        "feather": lambda: TABLE.to_feather(path),
    }
    write[request.param]()
    return path


def test_the_same_table_comes_out_of_all_formats(stored):
    frame = open_table(str(stored))
    assert frame.name == "table.dat"
    assert frame.columns == ("a", "b", "n")
    assert frame.numeric == {"a", "n"}
    np.testing.assert_array_equal(frame.numbers(["n", "a"]), TABLE[["n", "a"]].to_numpy())
    assert frame.texts("b") == ["x", None, "z"]
    assert open_table(str(stored), {"n"}).numeric == {"a"}


def test_standard_input_is_a_file(stored, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stored.read_bytes())))
    frame = open_table("-")
    assert frame.name == "standard input"
    np.testing.assert_array_equal(frame.numbers(["a"])[:, 0], TABLE["a"])
    assert frame.texts("b") == ["x", None, "z"]  # a second time


def test_columns_of_other_types_are_no_numbers(tmp_path):
    table = pyarrow.table(
        {
            "flag": [True, False],
            "day": pyarrow.array([1, 2], pyarrow.date32()),
            "nothing": pyarrow.nulls(2),
            "price": [Decimal("1.25"), Decimal("2.5")],
            "small": pyarrow.array([1, 2], pyarrow.uint8()),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    frame = open_table(str(tmp_path / "t.parquet"))
    assert frame.numeric == {"price", "small"}
    assert frame.empty == {"nothing"}
    assert frame.numbers(["price"])[:, 0].tolist() == [1.25, 2.5]


def test_names_of_rows_that_pandas_keeps_are_no_numbers(tmp_path):
    TABLE.assign(n=[9, 2, 7]).set_index("n").to_parquet(tmp_path / "t.parquet")
    frame = open_table(str(tmp_path / "t.parquet"))
    assert frame.numeric == {"a"}
    assert frame.texts("n") == ["9", "2", "7"]


@pytest.mark.parametrize(("kinds", "single"), [(["float32", "float32"], True), (["float32", "float64"], False)])
def test_a_table_has_single_precision_if_all_of_its_numbers_have(tmp_path, kinds, single):
    pd.DataFrame({"a": [1.5], "b": [2.5]}).astype(dict(zip("ab", kinds, strict=True))).to_parquet(tmp_path / "t")
    assert open_table(str(tmp_path / "t")).single == single


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "t is empty; a table whose first line names its columns is expected"),
        (b"PK\x03\x04", "t is an archive, or a spreadsheet that can't be read .*; save the sheet as CSV"),
        (b"\xd0\xcf\x11\xe0", "t is an archive, or a spreadsheet that can't be read"),
        (b"\x1f\x8b", "t is compressed; unpack it first"),
        (b"BZh9", "t is compressed"),
        (b"PAR1", "t can't be read: "),
        (b"ARROW1", "t can't be read: "),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, content, sentence):
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(TableError, match=sentence):
        open_table(str(tmp_path / "t"))


def test_a_folder_or_nothing_is_no_table(tmp_path):
    with pytest.raises(TableError, match="is a folder; the name of a table is expected"):
        open_table(str(tmp_path))
    with pytest.raises(TableError, match="there is no file"):
        open_table(str(tmp_path / "no.csv"))


def test_tabs_parquet_and_feather(tmp_path):
    known, labels, new, _ = grain_rows()
    train = pd.DataFrame(known, columns=COLUMNS).assign(variety=labels)
    test = pd.DataFrame(new, columns=COLUMNS).assign(sample=[f"s{i:03}" for i in range(60)])
    train.to_csv(tmp_path / "train.tsv", sep="\t", index=False)
    train.to_parquet(tmp_path / "train.parquet")
    test.to_feather(tmp_path / "test.feather")
    test.astype(dict.fromkeys(COLUMNS, "float32")).to_parquet(tmp_path / "test.parquet")
    for first, second in (("train.tsv", "test.feather"), ("train.parquet", "test.parquet")):
        discover(tmp_path, tmp_path / first, tmp_path / second, "--label", "variety", "--id", "sample", "-q")
        lines = labels_of(tmp_path)
        assert found_teff(lines)
        assert [line["sample"] for line in lines] == test["sample"].tolist()


def test_other_files_are_told_from_tables(tmp_path):
    train, _ = write_grain(tmp_path)
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "cut.parquet")
    whole = (tmp_path / "cut.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    assert "cut.parquet can't be read" in refused(tmp_path, train, tmp_path / "cut.parquet", "--label", "variety")
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    assert "save the sheet as CSV" in refused(tmp_path, train, tmp_path / "book.xlsx", "--label", "variety")
    (tmp_path / "noise.csv").write_bytes(np.random.default_rng(0).bytes(4_000))
    refused(tmp_path, train, tmp_path / "noise.csv", "--label", "variety")


def test_a_pipe_is_read_like_standard_input(tmp_path):
    """A named pipe hung, and <(...) of a shell failed: both can be read only once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("a,b\n1,x\n2,y\n"))
    writer.start()
    frame = open_table(str(pipe))
    writer.join()
    assert frame.numbers(["a"])[:, 0].tolist() == [1.0, 2.0]
    assert frame.texts("b") == ["x", "y"]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_a_small_file_that_unfolds_to_a_huge_table_is_refused(tmp_path, kind):
    """Repeated cells take next to no room on disk: 20 million rows in 130 kB."""
    path = tmp_path / f"bomb.{kind}"
    zeros = pyarrow.array(np.zeros(1_000_000))
    table = pyarrow.table({"a": pyarrow.chunked_array([zeros] * 20)})
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path, compression="zstd")
    with pytest.raises(TableError, match=rf"bomb.{kind} has .* bytes and unfolds to more than \d+ MB"):
        open_table(str(path))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("header.csv", b"a,b,c", "has no rows below its header"),
        ("quote.csv", b'"a,b\n1,2\n', "a quote in the header that is never closed"),
    ],
)
def test_tables_that_end_in_their_header_are_refused(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=rf"{name} .*{sentence}"):
        open_table(str(tmp_path / name))


def test_plain_text_is_read_whatever_its_name_says(tmp_path):
    (tmp_path / "table.csv.gz").write_bytes(b"a,b\n1,2\n")
    assert open_table(str(tmp_path / "table.csv.gz")).numbers(["b"]).tolist() == [[2.0]]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_damaged_files_get_one_sentence(tmp_path, kind):
    """pyarrow raises errors of many kinds, also long after a file was opened."""
    generator, path = np.random.default_rng(0), tmp_path / f"damaged.{kind}"
    table = pd.DataFrame(generator.normal(size=(200, 3)), columns=list("abc"))
    table.to_parquet(path) if kind == "parquet" else table.to_feather(path)
    whole = path.read_bytes()
    sentences = set()
    for _ in range(150):
        content = bytearray(whole)
        for place in generator.integers(8, len(content), generator.integers(1, 20)):
            content[place] = generator.integers(256)
        path.write_bytes(content if generator.random() < 0.8 else content[: generator.integers(8, len(content))])
        try:
            open_table(str(path)).numbers(["a", "b", "c"])
        except TableError as error:
            sentences.add(str(error))
    assert len(sentences) > 3
    assert not [text for text in sentences if "\n" in text or not text.endswith(".")]


def test_texts_that_would_lie_outside_of_the_file_are_not_looked_for(tmp_path):
    """Seed 20000952 of the attack: Arrow takes a place where a text begins as the file has it."""
    path = tmp_path / "damaged.feather"
    labels = pyarrow.array([f"{i:03d}" for i in range(50)], pyarrow.string())
    table = pyarrow.table({"a": np.arange(50.0), "label": labels})
    pyarrow.feather.write_feather(table, path, compression="uncompressed")
    places = 3 * np.arange(51, dtype=np.int32)
    assert path.read_bytes().count(places.tobytes()) == 1
    wrong = places.copy()
    wrong[20] = -(10**9)
    path.write_bytes(path.read_bytes().replace(places.tobytes(), wrong.tobytes()))
    with pytest.raises(TableError, match=r"damaged.feather can't be read: .* save it or copy it again\."):
        open_table(str(path))
