"""Sheets of spreadsheets -> a table: .xlsx, .ods, and the .xls of old."""

from collections.abc import Collection
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any
from zipfile import BadZipFile, ZipFile

from vbrand.io.tables.frames import Frame, TableError, arrow, listed
from vbrand.io.tables.separated import MISSING, Origin, frame_of_text

# text that unfolds to this many bytes and this many times the size of its file holds no measurements
_LARGE, _UNFOLDED = 2**28, 300
# commas do not separate the cells of a sheet
_SEPARATOR = ";"


def spreadsheet(
    origin: Origin, as_text: Collection[str], sheet: str | None = None, named: Collection[str] = ()
) -> Frame:
    """Return the table in a sheet; its first line names the columns.

    By default it is the first that looks like a table, of those with most of the columns that are `named`.
    """
    calamine = _calamine()
    _check_size(origin)
    try:
        with origin.open() as file:
            book = calamine.load_workbook(file)
            chosen, cells = _cells(book, origin.name, sheet, named)
            others = tuple(each for each in book.sheet_names if each != chosen)
    except calamine.PasswordError:
        raise TableError(f"{origin.name} is protected by a password; save it without one.") from None
    except calamine.CalamineError as error:
        raise TableError(
            f"{origin.name} is an archive, or a spreadsheet that can't be read ({error}); save the sheet as CSV."
        ) from None

    name = f"sheet '{chosen}' of {origin.name}" if others else origin.name
    header = _header(cells)
    _check_header(name, header, cells)
    columns = [[_text(row[j]) for row in cells[1:]] for j in range(len(header))]
    table = arrow().table(
        [arrow().chunked_array([arrow().array(column, arrow().string())]) for column in columns],
        names=[str(j) for j in range(len(header))],
    )
    return replace(frame_of_text(name, header, table, _SEPARATOR, as_text), other_sheets=others)


def _cells(book: Any, name: str, wanted: str | None, named: Collection[str]) -> tuple[str, list[list[Any]]]:
    """Return what a sheet is called, and its rows from the first that holds anything."""
    names = book.sheet_names
    if wanted is not None and wanted not in names:
        raise TableError(f"{name} has no sheet '{wanted}' (--sheet). Its sheets are: {listed(names, 30)}.")
    sheets = {each: book.get_sheet_by_name(each) for each in (names if wanted is None else [wanted])}
    held = [each for each, sheet in sheets.items() if sheet.height]
    if not held:
        raise TableError(
            f"{name} is empty{'' if wanted is None else f' in its sheet {wanted!r}'}; a table is expected."
        )
    # a sheet of one column is a note on the others
    tables = [each for each in held if sheets[each].height > 1 and sheets[each].width > 1] or held[:1]
    if len(tables) > 1:
        tables.sort(key=lambda each: len({*named} & {*_header(sheets[each].to_python(nrows=1))}), reverse=True)
    return tables[0], sheets[tables[0]].to_python()


def _header(cells: list[list[Any]]) -> list[str]:
    return [_text(cell) or "" for cell in cells[0]]


def _check_header(name: str, header: list[str], cells: list[list[Any]]) -> None:
    """Refuse a title above the table: the first line is to name the columns."""
    named = sum(bool(column) for column in header)
    held = sum(any(row[j] != "" for row in cells[1:]) for j in range(len(header)))
    if held > 2 and named < held / 2:
        raise TableError(
            f"the first line of {name} has {named} of {held} names of columns ({listed([n for n in header if n], 3)}). "
            "Delete what stands above the line with the names."
        )


def _text(cell: Any) -> str | None:
    """Return a cell as text, None where it is empty."""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    text = str(cell).strip()
    return None if text in MISSING else text


def _check_size(origin: Origin) -> None:
    """Refuse an archive that is small and unfolds to something huge."""
    try:
        with origin.open() as file, ZipFile(file) as archive:
            unfolded = sum(part.file_size for part in archive.infolist())
            folded = sum(part.compress_size for part in archive.infolist())
    except (BadZipFile, OSError):
        return  # an .xls is no archive; what is none at all is refused by whoever reads it
    if unfolded > _LARGE and unfolded > _UNFOLDED * folded:
        raise TableError(f"{origin.name} unfolds to {unfolded // 10**6:,} MB: no table does. Save the sheet as CSV.")


def _calamine() -> Any:
    try:
        import python_calamine
    except ImportError:
        raise ImportError(
            "reading spreadsheets needs the package python-calamine: pip install 'vbrand[excel]'"
        ) from None
    return python_calamine
