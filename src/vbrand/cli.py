"""The commands: parse, one library call, print."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from joblib import effective_n_jobs
from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn
from rich.table import Table

import vbrand
from vbrand.demo import UNSEEN, Demo, run_demo
from vbrand.studies.plans import EFFORTS
from vbrand.studies.reproduce import STUDIES, reproduce, write_page

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


@app.command(name="reproduce")
def reproduce_command(
    study: Annotated[str, typer.Argument(help="ss1, robustness, ss2, ss3, statlog or all")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for reproduction.md, tables and figures.")] = Path(),
    quick: Annotated[bool, typer.Option("--quick", help="A quick look: fewer cells, replicates and draws.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's grid: 50 replicates of everything.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder that holds sat.trn and sat.tst (or VBRAND_DATA); else downloaded.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Tasks side by side; -1: one a core.")] = -1,
) -> None:
    """Run the studies of the paper, from simulation to figure; a stopped run goes on where it was.

    Without --quick or --full it runs what docs/reproduction.md shows (an hour or so on two cores).

    Example: vbrand reproduce ss1 --quick -o reproduced
    """
    if study not in (*STUDIES, "all"):
        _fail(f"there is no study {study!r}; choose {', '.join(STUDIES)} or all.")
    if quick and full:
        _fail("--quick and --full ask for different things; give one of them.")
    effort = EFFORTS["quick" if quick else "full" if full else "shown"]
    try:
        for name in STUDIES if study == "all" else (study,):
            for figure in reproduce(name, out, effort, jobs=effective_n_jobs(jobs), data=data, bar=_bar):
                typer.echo(figure)
        typer.echo(write_page(out, effort))
    except (OSError, ValueError, ImportError) as error:
        _fail(str(error))


def _fail(sentence: str) -> None:
    typer.echo(sentence, err=True)
    raise typer.Exit(code=2)


@contextmanager
def _bar(name: str, total: float) -> Iterator[Callable[[float], None]]:
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=total)
        yield lambda done: progress.advance(task, done)


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
