"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from vbrand.commands.terminal import fail

EPILOG = "Exit codes: 0 done; 1 a bug in vbrand; 2 the input can't be used; 130 stopped."

Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Id = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the rows.")]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="COLUMN", help="Column to copy to the output, not to measure; may be repeated."),
]
Measure = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="COLUMN", help="Column to measure though it looks like an id; may be repeated."),
]
Category = Annotated[
    list[str] | None,
    typer.Option(
        "--category", metavar="COLUMN", help="Column of codes, to measure by levels, not by size; may be repeated."
    ),
]
Replicate = Annotated[
    str | None,
    typer.Option(
        "--replicate", metavar="COLUMN", help="Column that names samples: rows of one count once, by their mean."
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option("--sheet", metavar="NAME", help="Sheet of a spreadsheet; else the first that has the columns."),
]


def want_folder(out: Path) -> None:
    """Refuse a file where a folder is meant, before any work is done."""
    if out.exists() and not out.is_dir():
        fail(f"{out} is a file; -o needs the name of a folder.")
