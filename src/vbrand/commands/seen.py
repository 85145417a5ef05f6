"""What `vbrand look` prints: a table of columns, the classes, and what to do next."""

import shlex

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vbrand.facts.groups import plural
from vbrand.io.tables.look import TableLook
from vbrand.io.tables.material import Roles

# more columns than these are summed up
_MOST_COLUMNS = 60


def show_look(look: TableLook, path: str, roles: Roles, sheet: str | None = None) -> None:
    """Print what there is to see in a table."""
    console = Console(highlight=False)
    measured = sum(column.measured for column in look.columns)
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
    console.print(escape(_next(look, path, roles, sheet)), style="dim", soft_wrap=True)


def _columns(look: TableLook) -> Table:
    table = Table("column", "holds", box=SIMPLE)
    for heading in ("missing", "different"):
        table.add_column(heading, justify="right")
    table.add_column("from, to")
    table.add_column("measured?")
    for column in look.columns[:_MOST_COLUMNS]:
        missing = f"{column.missing:,}" if column.missing else "-"
        cells = [escape(column.name), column.kind, missing, f"{column.different:,}", escape(column.span), column.use]
        table.add_row(*cells, style=None if column.measured else "dim")
    return table


def _next(look: TableLook, path: str, roles: Roles, sheet: str | None) -> str:
    """Return what to do next, with the options that were given."""
    table, options = shlex.quote(path), _options(roles, sheet)
    if roles.label is None:
        return f"Next: vbrand look {table} --label COLUMN{options}, with the column that holds the known classes."
    other = "" if look.unlabelled else " UNKNOWN_ROWS"
    return f"Next: vbrand discover {table}{other} --label {shlex.quote(roles.label)}{options} -o found"


def _options(roles: Roles, sheet: str | None) -> str:
    """Return what columns mean beside the label, and the sheet, as options of a command.

    >>> _options(Roles("species", "plant id", ignore=("site",)), None)
    " --id 'plant id' --ignore site"
    """
    given = [("--id", roles.name), *(("--ignore", name) for name in roles.ignore)]
    given += [*(("--measure", name) for name in roles.measure), *(("--category", name) for name in roles.category)]
    given.append(("--sheet", sheet))
    return "".join(f" {option} {shlex.quote(name)}" for option, name in given if name is not None)
