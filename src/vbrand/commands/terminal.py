"""What the commands say: tables, progress, notes, and errors as one sentence."""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from errno import ENOSPC
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from vbrand.facts.facts import Facts

# exit codes: the input can't be used; a bug in vbrand; stopped by the user
UNUSABLE, DEFECT, STOPPED = 2, 1, 130


@contextmanager
def sentences(*, debug: bool = False) -> Iterator[None]:
    """Turn errors into one sentence and an exit code; with `debug` let them through."""
    try:
        yield
    except typer.Exit:
        raise
    except BrokenPipeError:  # the reader has closed the pipe, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except KeyboardInterrupt:
        fail("stopped; nothing that was there before is lost.", STOPPED)
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.errno == ENOSPC:
            fail(f"there is no space left on the disk of {error.filename or 'the results'}. Free some, or use another.")
        if isinstance(error, FileNotFoundError) and error.filename:
            fail(f"there is no file {error.filename}.")
        if isinstance(error, OSError) and error.strerror:
            fail(f"{error.filename or 'a file'}: {error.strerror}.")
        if isinstance(error, MemoryError):
            fail(f"there is not enough memory: {error}.")
        if isinstance(error, OSError | ValueError | ImportError):
            fail(str(error))
        fail(f"vbrand failed ({type(error).__name__}: {error}). This is a bug in vbrand; --debug shows where.", DEFECT)


def visible(text: str) -> str:
    r"""Return text in which whatever could steer a terminal is spelled out: names come from tables and model files.

    >>> visible("oat\x1b[2J")
    'oat\\x1b[2J'
    """
    return "".join(_spelled(letter) for letter in text)


def _spelled(letter: str) -> str:
    # control characters but line ends and tabs, halves of letters, and what turns the direction of text around
    steers = unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t"
    steers = steers or "\u202a" <= letter <= "\u202e" or "\u2066" <= letter <= "\u2069"
    return letter.encode("unicode_escape").decode() if steers else letter


def fail(sentence: str, code: int = UNUSABLE) -> NoReturn:
    """Print what is wrong on standard error, and exit."""
    typer.echo(visible(sentence), err=True)
    raise typer.Exit(code=code)


def stages(*, quiet: bool) -> Callable[[str], AbstractContextManager[Any]]:
    """Return a function that shows a message on standard error while the work in its `with` block runs."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        return lambda what: nullcontext()
    return lambda what: console.status(what)


@contextmanager
def bar(name: str, total: float) -> Iterator[Callable[[float], None]]:
    """Show a bar that is full at `total`, and yield the function that advances it."""
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=total)
        yield lambda done: progress.advance(task, done)


def show(facts: "Facts") -> None:
    """Print the answer: how far to trust it, a sentence, the table of groups, scores if the truth is known, notes."""
    from vbrand.facts.groups import GroupKind

    console = Console(highlight=False)
    console.print(_plain(facts.trust), style="bold", soft_wrap=True)
    console.print(_plain(facts.sentence), soft_wrap=True)
    console.print(_groups(facts))

    for group in facts.groups:
        if group.kind == GroupKind.NOVEL and group.explanation is not None:
            console.print(_plain(f"{group.name}: {group.explanation}"), soft_wrap=True)

    if facts.scores:
        console.print(_plain("   ".join(f"{name} {value:.3f}" for name, value in facts.scores)), soft_wrap=True)
    for note in facts.notes:
        console.print(_plain(note), style="dim", soft_wrap=True)


def _plain(text: str) -> str:
    """Return text for rich: neither markup nor anything that steers a terminal."""
    return escape(visible(text))


def _groups(facts: "Facts") -> Table:
    from vbrand.facts.groups import GroupKind

    table = Table("group", "kind", box=SIMPLE)
    for heading in ("rows", "share", "P(novel)"):
        table.add_column(heading, justify="right")
    if facts.confusion is not None:
        table.add_column("mostly")

    for k, group in enumerate(facts.groups):
        sure = f"{group.novelty_probability:.3f}" if group.rows else "-"
        cells = [_plain(group.name), group.what, f"{group.rows:,}", f"{group.weight:.3f}", sure]
        if facts.confusion is not None:
            column = facts.confusion.counts[:, k]
            most = int(column.argmax())
            share = f" ({column[most] / group.rows:.0%})" if group.rows else ""
            cells.append(f"{_plain(facts.confusion.truth[most])}{share}" if group.rows else "-")
        table.add_row(*cells, style="dim" if group.doubtful else "bold" if group.kind == GroupKind.NOVEL else None)
    return table
