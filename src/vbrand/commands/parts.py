"""Labels of large tables: a folder of Parquet files, written block by block."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# rows of one file, at least
_PART_ROWS = 500_000


@contextmanager
def parts_written(folder: Path, header: list[str], blocks: Iterator[list[list[Any]]], chances: int) -> Iterator[None]:
    """Write labels as Parquet files of a folder, which has its name once the work inside the `with` block is done.

    `blocks` are columns of some rows after others, of which the last, `chances`, are probabilities.
    """
    half, whole = folder / ".labels.parquet", folder / "labels.parquet"
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    try:
        _write_parts(half, header, blocks, chances)
        yield
        shutil.rmtree(whole, ignore_errors=True)
        half.rename(whole)
        (folder / "labels.csv").unlink(missing_ok=True)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def remove_parts(folder: Path) -> None:
    """Take away the labels of a large table that was here before: they are not those of the table of now."""
    shutil.rmtree(folder / "labels.parquet", ignore_errors=True)


def _write_parts(folder: Path, header: list[str], blocks: Iterator[list[list[Any]]], chances: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    held, rows, number = list[Any](), 0, 0

    def write() -> None:
        nonlocal held, rows, number
        parquet.write_table(pa.concat_tables(held), folder / f"part-{number:05}.parquet")
        held, rows, number = [], 0, number + 1

    for columns in blocks:
        held.append(pa.table(_columns(pa, columns, chances), names=header))
        rows += held[-1].num_rows
        if rows >= _PART_ROWS:
            write()
    if held:
        write()


def _columns(pa: Any, columns: list[list[Any]], chances: int) -> list[Any]:
    """Return columns with types that are the same in all parts: carried ones are text, probabilities numbers."""
    words = [
        pa.array(column, pa.int64() if column and isinstance(column[0], int) else pa.string())
        for column in columns[:-chances]
    ]
    return [*words, *(pa.array(column, pa.float64()) for column in columns[-chances:])]
