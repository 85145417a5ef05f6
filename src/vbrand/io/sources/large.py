"""Tables of the commands that are not held in memory: labelled rows are; others, and their names, lie on disk."""

from collections.abc import Sequence
from typing import Any, overload

from vbrand.io.sources.gathered import gathered, names_of, spooled
from vbrand.io.sources.levels import named_levels, placed
from vbrand.io.sources.partitions import collected, collected_labelled
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.columns import choice_of, want_columns
from vbrand.io.tables.folders import is_pipe, open_tables
from vbrand.io.tables.frames import Frame, TableError, arrow, few_texts
from vbrand.io.tables.material import Carried, Material, Roles, Unknown
from vbrand.io.tables.validated import Columns

# bytes of numbers; a table of more is not held in memory
LARGE = 2**30


class Cells(Sequence[str | None]):
    """The cells of a column as text, in a file of Arrow that is mapped into memory."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    @overload
    def __getitem__(self, i: int) -> str | None: ...
    @overload
    def __getitem__(self, i: slice) -> list[str | None]: ...
    def __getitem__(self, i: int | slice) -> str | list[str | None] | None:
        if isinstance(i, slice):
            first, last, _ = i.indices(len(self))
            return list(self._column.slice(first, last - first).to_pylist())
        return None if (cell := self._column[i].as_py()) is None else str(cell)


def is_large(train: str, test: str | None, roles: Roles) -> bool:
    """Return whether tables are too large to be held in memory; what can be read only once, such as a pipe, is not."""
    paths = [path for path in (train, test) if path is not None]
    if "-" in paths or any(map(is_pipe, paths)):
        return False
    frames = [open_tables(path, roles.all) for path in paths]
    return sum(8 * frame.rows * len(frame.numeric) for frame in frames) > LARGE


def read_large(train: str, test: str | None, roles: Roles, scratch: Scratch, client: Any = None) -> Material:
    """Return the rows of two tables, or of one in which unknown rows have no label.

    Without a `client` of Dask rows lie on disk, with one on its workers, which read the files. Of the columns that are
    not measured the id and those of `--ignore` go through to the output.
    """
    if roles.truth is not None or roles.replicate is not None:
        raise TableError(
            "--truth and --replicate are for tables that are held in memory: leave them out, or take fewer rows."
        )
    assert roles.label is not None
    known = open_tables(train, roles.all)
    known.require(roles.label, "--label")
    other = known if test is None else open_tables(test, roles.all)
    for name, option in ((roles.name, "--id"), *((name, "--ignore") for name in roles.ignore)):
        if name is not None:
            other.require(name, option)
    for name in roles.category:
        known.require(name, "--category")
    choice = choice_of(known, roles.all, other, roles.measure, roles.category, hints=False)
    columns, notes = [*choice.columns, *choice.categories], choice.notes
    if not columns:
        raise TableError(f"{known.name} has no column of numbers beside the label and what is left out.")
    want_columns(other, columns, f"which {known.name} has")

    if client is None:
        levels = named_levels(known, choice.categories)
        found = gathered(known, columns, roles.label, scratch, levels)
        rows, labels, categories = found.rows, found.labels, placed(columns, levels)
        rest: Any = found.rest
        if test is not None:
            rest = spooled(other, columns, scratch, "leave the column out (--ignore)", levels)
    else:
        table, own = _on_workers(train)[[*columns, roles.label]], Columns(len(columns), tuple(columns))
        rows, labels, rest, _, categories = collected_labelled(table, roles.label, client, scratch, choice.categories)
        if test is not None:
            rest = collected(_on_workers(test)[columns], own, client, scratch, categories)
    if len(rest) == 0:
        raise TableError(
            f"every row of {known.name} has a label; leave the label of unknown rows empty, or give a second table."
        )
    carried = _carried(other, roles, roles.label if test is None else None, scratch)
    return Material(
        rows, labels, Unknown(rest, tuple(columns), carried, other.name, categories=categories), tuple(notes)
    )


def _on_workers(path: str) -> Any:
    """Return the table of files that workers read."""
    from dask import dataframe

    return dataframe.read_parquet(path, split_row_groups="infer")


def _carried(frame: Frame, roles: Roles, label: str | None, scratch: Scratch) -> Carried:
    """Return the id, or numbers of rows, and columns to be copied to the output: of rows without a label."""
    names = [name for name in (roles.name, *roles.ignore) if name is not None]
    counted = "row" if "row" not in frame.columns else "row number"
    kept = [*([counted] if roles.name is None else []), *names]

    read = [*names, *([] if label is None else [label])] or [frame.columns[0]]
    pa, path, first = arrow(), scratch.folder / ".carried.arrow", 0
    schema = pa.schema([(name, pa.string()) for name in kept])
    classes: dict[str | None, str | None] = {None: None} if label is None else names_of(frame, label)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in frame.batches(read):
            cells: dict[str, list[str | None]] = {counted: [str(first + i + 1) for i in range(batch.num_rows)]}
            cells |= {name: few_texts(batch.column(name)) for name in names}
            own = pa.record_batch([pa.array(cells[name], pa.string()) for name in kept], schema=schema)
            given = [None] * batch.num_rows if label is None else few_texts(batch.column(label))
            writer.write_batch(own.filter(pa.array([classes[cell] is None for cell in given], pa.bool_())))
            first += batch.num_rows
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    path.unlink()  # it is mapped
    return {name: Cells(table.column(name)) for name in kept}
