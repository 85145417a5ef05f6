"""Labels out as an Excel sheet."""

import io
import sys

import pytest
from calls import call, discover, labels_of
from python_calamine import load_workbook
from tables import write_grain

from vbrand.io.tables.workbook import MOST_ROWS, check_workbook, write_workbook


def cells_of(source):
    return load_workbook(source).get_sheet_by_index(0).to_python()


def test_blocks_of_columns_become_rows_and_nothing_is_a_formula():
    file = io.BytesIO()
    write_workbook(file, "labels", ["a", "=b"], [[["=1+1", "y"], [0.5, 1]], [[None], [float("nan")]]])
    file.seek(0)
    assert cells_of(file)[:3] == [["a", "=b"], ["=1+1", 0.5], ["y", 1.0]]


def test_more_rows_than_a_sheet_holds_are_refused():
    check_workbook(MOST_ROWS)
    with pytest.raises(ValueError, match=r"an Excel sheet holds 1,048,575 rows, and there are 1,048,576; .* as CSV"):
        check_workbook(MOST_ROWS + 1)


def test_without_the_package_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(ImportError, match=r"pip install 'vbrand\[excel\]'"):
        check_workbook(1)


def test_labels_are_the_same_in_both_files(tmp_path):
    train, test = write_grain(tmp_path)
    done = discover(tmp_path, train, test, "--label", "variety", "--xlsx")
    assert "labels.xlsx" in done.stdout
    head, *lines = cells_of(str(tmp_path / "out" / "labels.xlsx"))
    written = labels_of(tmp_path)
    assert head == list(written[0])
    assert len(lines) == len(written) == 60
    for line, cells in zip(written, lines, strict=True):
        assert dict(zip(head, cells, strict=True))["label"] == line["label"]
        assert dict(zip(head, cells, strict=True))["P(oat)"] == pytest.approx(float(line["P(oat)"]), rel=1e-5)

    more = tmp_path / "more.xlsx"
    assert call("predict", tmp_path / "out" / "model.vbrand", test, "-o", more).exit_code == 0
    assert [line[:3] for line in cells_of(str(more))] == [line[:3] for line in [head, *lines]]
