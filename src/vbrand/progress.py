"""Long work shows progress: one line with starts, sweeps and the bound."""

from collections.abc import Iterator
from contextlib import contextmanager

from vbrand.inference.search import Progress


@contextmanager
def shown(verbose: bool) -> Iterator[Progress | None]:
    """Yield a function that shows where the search is, or None if it is to be silent."""
    if not verbose:
        yield None
        return
    try:
        from rich.progress import Progress as Bar
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
    except ImportError:
        raise ImportError("verbose=True needs the package rich: pip install 'vbrand[cli]'") from None
    with Bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task("known classes")
        best: dict[int, float] = {}
        sweeps = 0

        def show(start: int, _sweep: int, bound: float) -> None:
            nonlocal sweeps
            sweeps += 1
            best[start] = bound
            bar.update(task, description=f"{len(best)} starts, {sweeps} sweeps, best bound {max(best.values()):,.1f}")

        yield show
