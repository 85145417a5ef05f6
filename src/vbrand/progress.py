"""Long work shows progress: one line with sweeps, novel groups and the bound."""

from collections.abc import Iterator
from contextlib import contextmanager

from vbrand.inference.growth import Progress


@contextmanager
def shown(verbose: bool) -> Iterator[Progress | None]:
    """Yield a function that shows where the search is, or None if it is to be silent.

    rich draws the line in terminals and notebooks alike.
    """
    if not verbose:
        yield None
        return
    try:
        from rich.progress import Progress as Bar
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
    except ImportError:
        raise ImportError("verbose=True needs the package rich: pip install 'vbrand[cli]'") from None
    with Bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task("looking for novel groups")

        def show(sweeps: int, groups: int, bound: float) -> None:
            bar.update(task, description=f"{sweeps} sweeps, {groups} novel components, bound {bound:,.1f}")

        yield show
