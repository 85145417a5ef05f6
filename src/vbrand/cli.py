"""The commands: parse, one library call, print."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import vbrand
from vbrand.demo import UNSEEN, Demo, run_demo

app = typer.Typer(help="Find what is new in a table of measurements.", no_args_is_help=True, add_completion=True)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vbrand {vbrand.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Find what is new in a table of measurements."""


@app.command()
def demo() -> None:
    """Learn eight of the ten handwritten digits and discover the other two.

    Example: vbrand demo
    """
    console = Console()
    missing = " and ".join(str(digit) for digit in UNSEEN)
    console.print(f"Handwritten digits: learned without {missing}, then shown all ten (the first run compiles).")
    result = run_demo(verbose=True)
    console.print(_groups(result))
    console.print(repr(result.found))
    scores = result.scores
    console.print(
        f"ARI {scores.ari:.3f}   novelty F1 {scores.novelty_f1:.3f}   known accuracy {scores.known_accuracy:.3f}"
    )


def _groups(result: Demo) -> Table:
    table = Table("group", "kind", "mostly")
    for heading in ("rows", "of them", "mean P(novel)"):
        table.add_column(heading, justify="right")
    for k, group in enumerate(result.found.groups):
        column = result.confusion.counts[:, k]
        most = int(column.argmax())
        mostly = f"digit {result.confusion.truth[most]}" if group.rows else "-"
        share = f"{column[most] / group.rows:.0%}" if group.rows else "-"
        cells = (group.name, group.kind, mostly, f"{group.rows}", share, f"{group.novelty_probability:.3f}")
        table.add_row(*cells, style="bold" if group.kind == "novel group" else None)
    return table
