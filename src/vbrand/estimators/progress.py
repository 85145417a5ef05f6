"""Long work shows progress: one line with sweeps, novel groups and the bound, how far a pass over rows is, or a bar."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
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


class Pace:
    """How far a pass over rows is, in words: the share that is done, rows per second, and the time that is left."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._began = clock, clock()

    def words(self, done: int, total: int) -> str:
        """Return where the pass is; it begins when nothing is done yet."""
        if done == 0:
            self._began = self._clock()
            return f"a pass over {total:,} rows begins"
        rate = done / max(self._clock() - self._began, 1e-9)
        left = timedelta(seconds=round((total - done) / rate))
        return f"{done / total:.0%} of {total:,} rows, {rate:,.0f} rows per second, {left} left of this pass"


@contextmanager
def shown(verbose: bool, scratch: Any = None) -> Iterator[Progress | None]:
    """Yield a function that shows where the search is, or None if it is to be silent.

    `scratch` is the folder of rows that do not lie in memory: then it is also shown how far the pass over them is.
    """
    if not verbose:
        yield None
        return
    place = "looking for novel groups"
    with _line(place) as say:

        def show(sweeps: int, groups: int, bound: float) -> None:
            nonlocal place
            place = _place(sweeps, groups, bound)
            say(place)

        with _listening(scratch, lambda words: say(f"{place}; {words}")):
            yield show


@contextmanager
def passes_shown(verbose: bool, scratch: Any, what: str) -> Iterator[Any]:
    """Show how far passes over rows are that do not lie in memory, if anybody wants to know; yield their folder."""
    if not verbose or scratch is None:
        yield scratch
        return
    with _line(what) as say, _listening(scratch, lambda words: say(f"{what}: {words}")):
        yield scratch


def passes_on(line: Any, what: str) -> Callable[[int, int], None] | None:
    """Return a function that shows on a line of the terminal, if there is one, how far a pass over rows is."""
    if line is None:
        return None
    pace = Pace()
    return lambda done, total: line.update(f"{what}: {pace.words(done, total)}")


@contextmanager
def _listening(scratch: Any, say: Callable[[str], None]) -> Iterator[None]:
    """Say how far passes over the rows of a folder are, if there is one."""
    if scratch is None:
        yield
        return
    pace = Pace()
    scratch.listener = lambda done, total: say(pace.words(done, total))
    try:
        yield
    finally:
        scratch.listener = None


@contextmanager
def _line(first: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that says something in one line that changes.

    In a terminal rich draws the line; in a notebook it is an output of the cell that changes, with no need of widgets.
    """
    if _in_notebook():
        yield _told_in_notebook(first)
        return
    rich = _rich()
    columns = rich.SpinnerColumn(), rich.TextColumn("{task.description}"), rich.TimeElapsedColumn()
    with rich.Progress(*columns, transient=True, console=_errors()) as bar:
        task = bar.add_task(first)
        yield lambda words: bar.update(task, description=words)


@contextmanager
def counted(verbose: bool, sweeps: int, what: str) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that is told of sweeps done, of so many, or None if it is to be silent."""
    if not verbose:
        yield None
        return
    if _in_notebook():
        yield _counted_in_notebook(sweeps, what)
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


def _counted_in_notebook(sweeps: int, what: str) -> Callable[[int], None]:
    """Return a function that says below the cell how many sweeps are done."""
    say, done = _told_in_notebook(what), 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        say(f"{what}: {done:,} of {sweeps:,} sweeps", done >= sweeps)

    return advance


def _told_in_notebook(first: str) -> Callable[..., None]:
    """Return a function that says something below the cell, a few times a second at most, or in any case."""
    display = import_module("IPython.display").display
    told, last = display({"text/plain": first}, raw=True, display_id=True), 0.0

    def say(words: str, in_any_case: bool = False) -> None:
        nonlocal last
        if in_any_case or monotonic() - last >= _PAUSE:
            last = monotonic()
            told.update({"text/plain": words}, raw=True)

    return say


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
