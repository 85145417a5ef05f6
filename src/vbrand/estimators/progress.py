"""Long work shows progress: one line with sweeps, novel groups and the bound, or a bar where the end is known."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from time import monotonic
from typing import Any

from numba.core import event

from vbrand.inference.growth import Progress

_COMPILING = "vbrand compiles its loops for this processor: once after an installation, about half a minute."
# seconds between two changes of the line in a notebook
_PAUSE = 0.2


@contextmanager
def compilation_told(verbose: bool) -> Iterator[None]:
    """Say in one line on standard error what is waited for, if loops have to be compiled and nobody is to be silent.

    While numba compiles, Python does not look for cycles among the objects that it makes: a sixth of the time.
    """
    with event.install_listener("numba:compile", _Compilation(verbose)):
        yield


class _Compilation(event.Listener):  # type: ignore[misc]
    """Tells once of all that is compiled; what comes from numba's cache is not."""

    def __init__(self, verbose: bool) -> None:
        self._tells = verbose
        self._depth, self._collects = 0, False

    def on_start(self, event: Any) -> None:
        if self._tells:
            print(_COMPILING, file=sys.stderr)
        self._tells = False
        if self._depth == 0:
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()


@contextmanager
def shown(verbose: bool) -> Iterator[Progress | None]:
    """Yield a function that shows where the search is, or None if it is to be silent.

    In a terminal rich draws the line; in a notebook it is an output of the cell that changes, with no need of widgets.
    """
    if not verbose:
        yield None
        return
    if _in_notebook():
        yield _told_in_notebook()
        return
    rich = _rich()
    columns = rich.SpinnerColumn(), rich.TextColumn("{task.description}"), rich.TimeElapsedColumn()
    with rich.Progress(*columns, transient=True, console=_errors()) as bar:
        task = bar.add_task("looking for novel groups")

        def show(sweeps: int, groups: int, bound: float) -> None:
            bar.update(task, description=_place(sweeps, groups, bound))

        yield show


@contextmanager
def counted(verbose: bool, sweeps: int, what: str) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that is told of sweeps done, of so many, or None if it is to be silent."""
    if not verbose:
        yield None
        return
    rich = _rich()
    columns = *rich.Progress.get_default_columns(), rich.TimeElapsedColumn()
    with rich.Progress(*columns, transient=True, console=_errors()) as bar:
        task = bar.add_task(what, total=sweeps)
        tenths = 0

        def advance(done: int) -> None:
            nonlocal tenths
            bar.advance(task, done)
            share = int(10 * bar.tasks[0].completed / sweeps)
            if share > tenths and not bar.console.is_terminal:  # a log has no use for a bar
                bar.console.print(f"{what}: {10 * share} % of {sweeps:,} sweeps")
            tenths = max(tenths, share)

        yield advance


def _in_notebook() -> bool:
    """Return whether the code runs in a notebook, where IPython is loaded and has a kernel to display by."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _told_in_notebook() -> Progress:
    """Return a function that shows where the search is below the cell, a few times a second at most."""
    display = import_module("IPython.display").display
    told, last = display({"text/plain": "looking for novel groups"}, raw=True, display_id=True), 0.0

    def show(sweeps: int, groups: int, bound: float) -> None:
        nonlocal last
        if monotonic() - last >= _PAUSE:
            last = monotonic()
            told.update({"text/plain": _place(sweeps, groups, bound)}, raw=True)

    return show


def _place(sweeps: int, groups: int, bound: float) -> str:
    """Return where a search is, in words."""
    return f"{sweeps} sweeps, {groups} novel components, bound {bound:,.1f}"


def _errors() -> Any:
    """Return the console of standard error: standard output is for answers."""
    from rich.console import Console

    return Console(stderr=True)


def _rich() -> Any:
    try:
        from rich import progress
    except ImportError:
        raise ImportError("verbose=True needs the package rich: pip install 'vbrand[cli]'") from None
    return progress
