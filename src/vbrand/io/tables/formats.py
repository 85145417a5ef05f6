"""Files in: text, spreadsheets, Parquet, Feather or standard input -> a table, told apart by what they hold."""

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from vbrand.io.tables import FORMATS
from vbrand.io.tables.frames import Frame, TableError, arrow, batch_rows, batches_of, checked_names
from vbrand.io.tables.separated import Origin, separated
from vbrand.io.tables.spreadsheets import spreadsheet

# bytes of a Parquet column that are read at once; by default all of a row group are
_READ_AHEAD = 2**17
# a file that unfolds to this many bytes and this many times its size holds no measurements: they don't repeat so often
_LARGE, _UNFOLDED = 2**27, 1_000


def open_table(
    path: str, as_text: Collection[str] = (), sheet: str | None = None, named: Collection[str] | None = None
) -> Frame:
    """Return the table in a file, "-" for standard input; columns in `as_text` keep their text as it is.

    `sheet` is the name of a sheet of a spreadsheet; by default the first that looks like a table and has the columns
    that are `named` (those in `as_text`), or most of them.
    """
    origin = _origin(path)
    head = origin.head
    if not head:
        raise TableError(f"{origin.name} is empty; a table whose first line names its columns is expected.")
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return spreadsheet(origin, as_text, sheet, as_text if named is None else named)
    if sheet is not None:
        raise TableError(f"{origin.name} is no spreadsheet, so it has no sheet '{sheet}' (--sheet).")
    with _readable(origin.name):
        if head.startswith(b"PAR1"):
            return _parquet(origin, as_text)
        if head.startswith((b"ARROW1", b"FEA1")):
            return _feather(origin, as_text)
        if head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd")):
            raise TableError(f"{origin.name} is compressed; unpack it first.")
        return separated(origin, as_text)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn whatever pyarrow says of a damaged file into one sentence; what the system says of a file stays."""
    try:
        yield
    except TableError:
        raise
    except (arrow().ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
            raise
        why = (str(error).splitlines() or ["it is damaged"])[0].rstrip(".")
        if type(error) in (UnicodeDecodeError, JSONDecodeError):
            why = "what it says of its columns is damaged"
        raise TableError(f"{name} can't be read: {why}. If it should be a table, save it or copy it again.") from None


def _origin(path: str) -> Origin:
    if path == "-":
        return Origin("standard input", None, sys.stdin.buffer.read())
    file = Path(path)
    if file.is_dir():
        raise TableError(f"{path} is a folder; the name of a table is expected ({FORMATS}).")
    if not file.exists():
        raise TableError(f"there is no file {path}.")
    if not file.is_file():  # a pipe, such as <(...) of a shell: it can be read once, from its beginning
        return Origin(path, None, file.read_bytes())
    return Origin(file.name, file)


def _parquet(origin: Origin, as_text: Collection[str]) -> Frame:
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(origin.native, buffer_size=_READ_AHEAD, pre_buffer=False)
    _check_size(origin, 8 * file.metadata.num_rows * file.metadata.num_columns)

    def batches(columns: list[str]) -> Iterator[Any]:
        with _readable(origin.name):
            yield from file.iter_batches(batch_size=batch_rows(columns), columns=columns)

    return _typed(origin.name, file.schema_arrow, file.metadata.num_rows, batches, as_text)


def _feather(origin: Origin, as_text: Collection[str]) -> Frame:
    from pyarrow import feather

    if origin.head.startswith(b"ARROW1"):
        _check_unfolded(origin)
    table = feather.read_table(origin.native, memory_map=origin.path is not None)
    table.validate(
        full=True
    )  # Arrow believes what a file says of where its texts begin: damaged, they would lie anywhere
    return _typed(origin.name, table.schema, table.num_rows, partial(batches_of, table), as_text)


def _check_unfolded(origin: Origin) -> None:
    """Unfold a compressed file batch by batch, and stop where it gets too large for its size."""
    source = arrow().memory_map(str(origin.path)) if origin.path is not None else origin.native
    with source, arrow().ipc.open_file(source) as file:
        unfolded = 0
        for i in range(file.num_record_batches):
            unfolded += file.get_batch(i).nbytes
            _check_size(origin, unfolded)


def _check_size(origin: Origin, unfolded: int) -> None:
    size = origin.size
    if unfolded > _LARGE and unfolded > _UNFOLDED * size:
        raise TableError(
            f"{origin.name} has {size:,} bytes and unfolds to more than {unfolded // 10**6:,} MB: no measurements "
            "repeat so often. If it is what you mean, save it as CSV."
        )


def _typed(name: str, schema: Any, rows: int, batches: Any, as_text: Collection[str]) -> Frame:
    """Return a table whose columns have types."""
    types = arrow().types
    names = checked_names(name, list(schema.names))
    index = [each for each in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(each, str)]
    numeric = {
        field.name
        for field in schema
        if (types.is_integer(field.type) or types.is_floating(field.type) or types.is_decimal(field.type))
        and field.name not in as_text
        and field.name not in index  # pandas keeps the names of rows as a column
    }
    small = all(
        types.is_float32(field.type) or types.is_float16(field.type) for field in schema if field.name in numeric
    )
    empty = frozenset(field.name for field in schema if types.is_null(field.type))
    return Frame(name, names, rows, frozenset(numeric), small and bool(numeric), {}, empty, batches)
