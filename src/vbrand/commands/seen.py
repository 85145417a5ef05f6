"""What `vbrand look` prints: a table of columns, the classes, and what to do next."""

import shlex

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vbrand.facts.groups import plural
from vbrand.io.tables.look import TableLook

# more columns than these are summed up
_MOST_COLUMNS = 60


def show_look(look: TableLook, path: str, label: str | None) -> None:
    """Print what there is to see in a table."""
    console = Console(highlight=False)
    measured = sum(column.use.startswith("measured") for column in look.columns)
    head = f"{look.name}: {plural(look.rows, 'row', 'rows')}, {plural(len(look.columns), 'column', 'columns')}"
    console.print(escape(f"{head}, of which {measured:,} would be measured."), style="bold", soft_wrap=True)
    console.print(_columns(look))
    if len(look.columns) > _MOST_COLUMNS:
        console.print(f"... and {len(look.columns) - _MOST_COLUMNS:,} more columns.")
    if look.classes:
        classes = ", ".join(f"{name} ({rows:,})" for name, rows in look.classes)
        console.print(
            escape(f"classes, with their rows: {classes}; without a label: {look.unlabelled:,}."), soft_wrap=True
        )
    for note in look.notes:
        console.print(escape(note), soft_wrap=True)
    console.print(escape(_next(look, path, label)), style="dim", soft_wrap=True)


def _columns(look: TableLook) -> Table:
    table = Table("column", "holds", box=SIMPLE)
    for heading in ("missing", "different"):
        table.add_column(heading, justify="right")
    table.add_column("from, to")
    table.add_column("measured?")
    for column in look.columns[:_MOST_COLUMNS]:
        missing = f"{column.missing:,}" if column.missing else "-"
        cells = [escape(column.name), column.kind, missing, f"{column.different:,}", escape(column.span), column.use]
        table.add_row(*cells, style=None if column.use.startswith("measured") else "dim")
    return table


def _next(look: TableLook, path: str, label: str | None) -> str:
    """Return what to do next."""
    table = shlex.quote(path)
    if label is None:
        return f"Next: vbrand look {table} --label COLUMN, with the column that holds the known classes."
    other = "" if look.unlabelled else " UNKNOWN_ROWS"
    return f"Next: vbrand discover {table}{other} --label {shlex.quote(label)} -o found"
