"""Tables out as an Excel workbook of one sheet."""

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

# of a sheet, below its header
MOST_ROWS = 1_048_575
_LONGEST = 32_767


def check_workbook(rows: int) -> None:
    """Refuse so many rows as no sheet holds, and say what is missing to write one, before any work is done."""
    if rows > MOST_ROWS:
        raise ValueError(f"an Excel sheet holds {MOST_ROWS:,} rows, and there are {rows:,}; take the labels as CSV.")
    _xlsxwriter()


def write_workbook(
    file: BinaryIO, sheet: str, header: Sequence[str], blocks: Iterable[Sequence[Sequence[Any]]]
) -> None:
    """Write a sheet; `blocks` are columns of cells, some rows at a time. Text is text, whatever it begins with."""
    # rows go out one by one: a long table takes no more memory than a short one
    book = _xlsxwriter().Workbook(file, {"constant_memory": True, "nan_inf_to_errors": True})
    page = book.add_worksheet(sheet)
    page.freeze_panes(1, 0)
    for j, name in enumerate(header):
        page.write_string(0, j, name[:_LONGEST], book.add_format({"bold": True}))

    first = 1
    for columns in blocks:
        for i, row in enumerate(zip(*columns, strict=True)):
            for j, cell in enumerate(row):
                if isinstance(cell, str):
                    page.write_string(first + i, j, cell[:_LONGEST])
                elif cell is not None:
                    page.write(first + i, j, cell)
        first += len(columns[0])
    page.autofilter(0, 0, first - 1, len(header) - 1)
    book.close()


def _xlsxwriter() -> Any:
    try:
        import xlsxwriter
    except ImportError:
        raise ImportError("writing Excel files needs the package xlsxwriter: pip install 'vbrand[excel]'") from None
    return xlsxwriter
