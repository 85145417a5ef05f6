"""Sheets of spreadsheets are tables like any other."""

import sys
import zipfile
from datetime import date, datetime

import numpy as np
import pytest
import xlsxwriter
from calls import call, discover, found_teff, labels_of
from tables import COLUMNS, grain_rows, write_grain

from vbrand.io.tables.columns import want_columns
from vbrand.io.tables.formats import open_table
from vbrand.io.tables.frames import OddCells, TableError
from vbrand.io.tables.spreadsheets import _text

LINES = [["plant", "height", "day", "note", "n"], ["a1", 1.5, date(2024, 5, 3), "tall", 3], ["a2", None, None, "NA", 4]]


def write_book(path, **sheets):
    """Write a workbook; each sheet is a list of lines."""
    with xlsxwriter.Workbook(path) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        for name, lines in sheets.items():
            page = book.add_worksheet(name)
            for i, line in enumerate(lines):
                for j, cell in enumerate(line):
                    if isinstance(cell, date):
                        page.write_datetime(i, j, cell, day)
                    elif cell is not None:
                        page.write(i, j, cell)
    return str(path)


def write_ods(path, lines):
    """Write the least that is an OpenDocument spreadsheet."""

    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        kind = "string" if isinstance(value, str) else "float"
        number = "" if kind == "string" else f' office:value="{value}"'
        return f'<table:table-cell office:value-type="{kind}"{number}><text:p>{value}</text:p></table:table-cell>'

    rows = "".join(f"<table:table-row>{''.join(map(cell, line))}</table:table-row>" for line in lines)
    kinds = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0"?><office:document-content{kinds}><office:body><office:spreadsheet>'
        f'<table:table table:name="Data">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{manifest}"/>')
    return str(path)


def test_cells_are_numbers_text_or_dates(tmp_path):
    frame = open_table(write_book(tmp_path / "book.xlsx", Data=LINES))
    assert frame.name == "book.xlsx"
    assert frame.columns == ("plant", "height", "day", "note", "n")
    assert frame.numeric == {"height", "n"}
    assert frame.texts("day") == ["2024-05-03", None]
    assert frame.texts("note") == ["tall", None]
    np.testing.assert_array_equal(frame.values("height"), [1.5, np.nan])


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (3.0, "3"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (True, "True"),
        ("", None),
        ("#N/A", None),
        (" oat ", "oat"),
        (datetime(2024, 5, 3), "2024-05-03"),
        (datetime(2024, 5, 3, 12, 30), "2024-05-03 12:30:00"),
    ],
)
def test_a_cell_as_text(cell, text):
    assert _text(cell) == text


def test_numbers_that_a_spreadsheet_holds_as_text_are_numbers(tmp_path):
    frame = open_table(write_book(tmp_path / "b.xlsx", S=[["a", "b"], ["1,5", "x"], ["2", "y"], ["2,5", "z"]]))
    assert frame.values("a").tolist() == [1.5, 2.0, 2.5]


def test_numbers_that_are_not_quite_numbers_stay_text(tmp_path):
    frame = open_table(write_book(tmp_path / "b.xlsx", S=[["a", "b"], ["<1", 1], [2.5, 2]]))
    assert frame.mixed == {"a": OddCells(1, ("<1",))}


def test_a_sheet_is_chosen_by_name_and_else_the_first_that_looks_like_a_table(tmp_path):
    other = [["x"], [1.0], [2.0]]
    path = write_book(tmp_path / "b.xlsx", Empty=[], Data=LINES, Other=other)
    assert open_table(path).name == "sheet 'Data' of b.xlsx"
    assert open_table(path, sheet="Other").columns == ("x",)
    with pytest.raises(TableError, match=r"b.xlsx has no sheet 'Oter' .* 'Empty', 'Data', 'Other'"):
        open_table(path, sheet="Oter")
    with pytest.raises(TableError, match=r"b.xlsx is empty in its sheet 'Empty'"):
        open_table(path, sheet="Empty")
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match=r"t.csv is no spreadsheet, so it has no sheet 'Data'"):
        open_table(str(tmp_path / "t.csv"), sheet="Data")


INFO = [["Feld", "Bedeutung"], ["ort", "where it was found"], ["Fe", "iron"]]
ROWS = [["Fe", "Zn", "ort"], [1.5, 2.5, "Ulm"], [2.5, 3.5, None]]


def test_of_several_sheets_the_first_that_has_the_named_columns_is_read(tmp_path):
    path = write_book(tmp_path / "b.xlsx", Info=INFO, Daten=ROWS, Later=ROWS)
    assert open_table(path).name == "sheet 'Info' of b.xlsx"
    assert open_table(path, {"ort"}).name == "sheet 'Daten' of b.xlsx"
    assert open_table(path, {"ort"}, "Later").name == "sheet 'Later' of b.xlsx"
    assert open_table(path, named={"Fe", "Zn", "Cu"}).name == "sheet 'Daten' of b.xlsx"


def test_other_sheets_are_named_where_a_column_is_in_none(tmp_path):
    path = write_book(tmp_path / "b.xlsx", Info=INFO, Daten=ROWS)
    with pytest.raises(TableError, match=r"no column 'typ'.* Its other sheet is 'Daten': --sheet NAME reads another\."):
        open_table(path, {"typ"}).require("typ", "--label")
    with pytest.raises(TableError, match=r"no column 'Cu', .* Its other sheet is 'Info': --sheet NAME reads another\."):
        want_columns(open_table(path, {"ort"}), ["Fe", "Cu"], "which k.csv has")


def test_an_info_sheet_first_is_no_hindrance(tmp_path):
    known, labels, new, _ = grain_rows()
    lines = [[*row, name] for row, name in zip(known.tolist(), labels, strict=True)]
    info = [["who", "when"], ["Ada", "May"]]
    write_book(tmp_path / "train.xlsx", Info=info, Daten=[[*COLUMNS, "variety"], *lines])
    write_book(tmp_path / "test.xlsx", Info=info, Daten=[[*COLUMNS], *new.tolist()])
    discover(tmp_path, tmp_path / "train.xlsx", tmp_path / "test.xlsx", "--label", "variety", "-q")
    assert found_teff(labels_of(tmp_path))
    done = call("predict", tmp_path / "out" / "model.vbrand", tmp_path / "test.xlsx")
    assert (done.exit_code, done.stdout.count("novel 1")) == (0, 30)
    assert "3 would be measured" in call("look", tmp_path / "train.xlsx", "--label", "variety").stdout


def test_a_title_above_the_table_is_told(tmp_path):
    path = write_book(tmp_path / "b.xlsx", Data=[["Survey of 2024"], [], *LINES])
    with pytest.raises(TableError, match=r"has 1 of 5 names of columns \('Survey of 2024'\). Delete what stands above"):
        open_table(path)


def test_open_documents_are_read_too(tmp_path):
    frame = open_table(write_ods(tmp_path / "t.ods", [["a", "b"], [1.5, "x"], [2, None]]))
    assert frame.numeric == {"a"}
    assert frame.texts("b") == ["x", None]


def test_an_archive_that_is_no_spreadsheet_or_unfolds_too_far_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(300 * 2**20))
    with pytest.raises(TableError, match=r"bomb.xlsx unfolds to 314 MB: no table does"):
        open_table(str(tmp_path / "bomb.xlsx"))
    with zipfile.ZipFile(tmp_path / "words.docx", "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    with pytest.raises(TableError, match="is an archive, or a spreadsheet that can't be read"):
        open_table(str(tmp_path / "words.docx"))


def test_without_the_package_it_is_said(tmp_path, monkeypatch):
    path = write_book(tmp_path / "b.xlsx", Data=LINES)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"pip install 'vbrand\[excel\]'"):
        open_table(path)


def test_spreadsheets_give_the_labels_of_csv(tmp_path):
    train, test = write_grain(tmp_path)
    known, labels, new, _ = grain_rows()
    lines = [[*row, name] for row, name in zip(known.tolist(), labels, strict=True)]
    write_book(tmp_path / "train.xlsx", Notes=[["read me"], ["it is oat"]], Rows=[[*COLUMNS, "variety"], *lines])
    write_ods(tmp_path / "test.ods", [[*COLUMNS], *new.tolist()])
    discover(tmp_path, train, test, "--label", "variety", "-q", out="text")
    discover(tmp_path, tmp_path / "train.xlsx", tmp_path / "test.ods", "--label", "variety", "-q")
    assert found_teff(labels_of(tmp_path))
    assert [line["label"] for line in labels_of(tmp_path)] == [line["label"] for line in labels_of(tmp_path, "text")]
