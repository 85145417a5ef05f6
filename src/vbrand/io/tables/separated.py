"""Separated text -> a table: whatever the separator, the encoding and the decimal sign."""

import csv
import io
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from vbrand.io.tables import FORMATS
from vbrand.io.tables.frames import UNNAMED, Frame, OddCells, TableError, arrow, batches_of, checked_names, listed

_SEPARATORS = ",;\t|"
MISSING = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?"]
_BLOCK_BYTES = 2**24
# a number as people write it; with a decimal comma where commas do not separate. There is one way to read a run of
# digits, so that a long one takes no longer than its length
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")
# what may be a decimal comma or a thousand: nobody knows
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True)
class Origin:
    """Where a table comes from: a file, or bytes that were read."""

    name: str  # what the user calls it
    path: Path | None
    data: bytes = b""

    def open(self) -> BinaryIO:
        """Return it open, at its beginning."""
        return io.BytesIO(self.data) if self.path is None else self.path.open("rb")

    @property
    def head(self) -> bytes:
        """Return its first bytes."""
        with self.open() as file:
            return file.read(8)

    @property
    def size(self) -> int:
        """Return how many bytes it has."""
        return len(self.data) if self.path is None else self.path.stat().st_size

    @property
    def native(self) -> Any:
        """Return it as pyarrow reads it best."""
        return arrow().BufferReader(self.data) if self.path is None else self.path


def separated(origin: Origin, as_text: Collection[str]) -> Frame:
    """Return a table of separated text."""
    pyarrow, name = arrow(), origin.name
    for encoding in _encodings(origin.head):
        try:
            header, separator = _header(origin, encoding)
            table = _parsed(origin, encoding, separator, header)
            break
        except (UnicodeError, pyarrow.ArrowInvalid) as error:
            if isinstance(error, pyarrow.ArrowInvalid) and "UTF8" not in str(error):
                raise
    else:
        raise TableError(f"{name} is no table that can be read; these can: {FORMATS}.")

    return frame_of_text(name, header, table, separator, as_text)


def frame_of_text(name: str, header: list[str], table: Any, separator: str, as_text: Collection[str]) -> Frame:
    """Return the table whose cells are all text: each column is numbers if all of its cells are.

    Columns without a name and without cells are none. Where commas do not separate cells they may be decimal signs.
    """
    pyarrow = arrow()
    table = _without_empty_end(table)
    kept = [j for j, column in enumerate(header) if column or table.column(j).null_count < table.num_rows]
    names = checked_names(name, [header[j] or f"{UNNAMED} {j + 1}" for j in kept])

    columns, numeric, mixed, empty = list[Any](), set[str](), dict[str, OddCells](), set[str]()
    for j, column in zip(kept, names, strict=True):
        cells = table.column(j)
        if column in as_text:
            columns.append(cells)
            continue
        numbers, odd = _as_numbers(cells, separator)
        columns.append(cells if numbers is None else numbers)
        if cells.null_count == len(cells):
            empty.add(column)
        elif numbers is not None:
            numeric.add(column)
        elif odd is not None:
            mixed[column] = odd

    held = pyarrow.table(dict(zip(names, columns, strict=True)))
    batches = partial(batches_of, held)
    return Frame(name, names, table.num_rows, frozenset(numeric), False, mixed, frozenset(empty), batches)


def _encodings(head: bytes) -> tuple[str, ...]:
    return ("utf-16",) if head.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "cp1252", "latin-1")


def _header(origin: Origin, encoding: str) -> tuple[list[str], str]:
    """Return the names of the columns, and what separates them."""
    with origin.open() as file, io.TextIOWrapper(file, encoding=encoding, newline="") as text:
        start = text.readline()
        outside = re.sub(r'"[^"]*"?', "", start)
        separator = max(_SEPARATORS, key=outside.count)
        text.seek(0)
        try:
            first = next(csv.reader(text, delimiter=separator), [])
        except csv.Error as error:
            raise TableError(f"the first line of {origin.name} names no columns: {error}.") from None
    if not any(cell.strip() for cell in first):
        raise TableError(f"{origin.name} has an empty first line; the names of its columns are expected there.")
    return [cell.strip() for cell in first], separator


def _parsed(origin: Origin, encoding: str, separator: str, header: list[str]) -> Any:
    """Return all cells as text, without the header."""
    pyarrow = arrow()
    from pyarrow import csv as arrow_csv

    uneven = list[Any]()

    def refuse(row: Any) -> str:
        uneven.append(row)
        return "error"

    names = [str(j) for j in range(len(header))]
    try:
        return arrow_csv.read_csv(
            # an open file: by the name of one pyarrow would guess whether it is compressed
            origin.native if origin.path is None else pyarrow.OSFile(str(origin.path)),
            read_options=arrow_csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK_BYTES,
                column_names=names,
                skip_rows_after_names=1,
                encoding="utf8" if encoding == "utf-8-sig" else encoding,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=refuse
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()), strings_can_be_null=True, null_values=MISSING
            ),
        )
    except pyarrow.ArrowInvalid as error:
        if "straddl" in str(error):  # nothing behind what pyarrow takes for the first line
            raise TableError(
                f"{origin.name} has no rows below its header, or a quote in the header that is never closed."
            ) from None
        if not uneven:
            raise
        raise TableError(_on_uneven(uneven[0], origin.name, header)) from None


def _on_uneven(row: Any, name: str, header: list[str]) -> str:
    """Return what is to be said of a row that has not as many cells as the header has names."""
    names, first = "name" if len(header) == 1 else "names", listed([each[:60] for each in header], 3)
    title = row.number == 2 and row.actual_columns > len(header)
    cure = "If the first line is a title, delete it; else correct the row" if title else "Correct it"
    return (
        f"row {row.number - 1} of {name} has {row.actual_columns} cells where the header has {len(header)} {names} "
        f"({row.text[:60]!r} below {first}). {cure}; quote cells that hold a separator."
    )


def _as_numbers(cells: Any, separator: str) -> tuple[Any, OddCells | None]:
    """Return a column of text as numbers; or None, and if some cells are numbers those that are none."""
    from pyarrow import compute

    pyarrow = arrow()
    trimmed = compute.utf8_trim_whitespace(cells)
    try:
        return trimmed.cast(pyarrow.float64()), None
    except pyarrow.ArrowInvalid:
        pass
    texts = trimmed.to_pylist()
    commas = [text for text in texts if text and "," in text and _DECIMAL_COMMA.fullmatch(text)]
    comma = separator != "," and not all(map(_THOUSANDS.fullmatch, commas))
    pattern = _DECIMAL_COMMA if comma else _NUMBER
    odd = [i for i, text in enumerate(texts) if text and not pattern.fullmatch(text)]
    if not odd:
        values = [None if not text else float(text.replace(",", ".")) for text in texts]
        return pyarrow.chunked_array([pyarrow.array(values, pyarrow.float64())]), None
    numbers = sum(text is not None for text in texts) - len(odd)
    meant = numbers > 0 or all(text is None or _DECIMAL_COMMA.fullmatch(text) for text in texts)
    return None, OddCells.among([texts[i] for i in odd], odd) if meant else None


def _without_empty_end(table: Any) -> Any:
    """Return a table without empty rows at its end, as spreadsheets leave them."""
    rows = table.num_rows
    while rows and all(not column[rows - 1].is_valid for column in table.columns):
        rows -= 1
    return table.slice(0, rows)
