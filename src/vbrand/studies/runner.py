"""Many tasks in parallel, one line of a table per task; a stopped run continues where it stopped."""

import csv
import io
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from vbrand.studies.tasks import COLUMNS, KEYS, Task, run_task
from vbrand.threads import one_thread

Line = dict[str, str]


def run_all(
    tasks: Iterable[Task], path: Path, *, jobs: int = 1, progress: Callable[[float], None] | None = None
) -> list[Line]:
    """Return the lines of all tasks; tasks in the table at `path` are not run again, others are added to it.

    `progress` is called with the cost of each task that is done.
    """
    wanted = {task.key: task for task in tasks}
    done = read(path)
    missing = [task for key, task in wanted.items() if key not in done]
    if progress is not None:
        progress(sum(task.cost for key, task in wanted.items() if key in done))
    if not done:
        _start(path)

    with path.open("a", newline="") as file:
        for line in Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(_quiet)(task) for task in missing
        ):
            file.write(_text(line))
            file.flush()
            if progress is not None:
                progress(wanted[tuple(str(line[name]) for name in KEYS)].cost)

    done = read(path)
    return [done[key] for key in wanted]


def read(path: Path) -> dict[tuple[str, ...], Line]:
    """Return the lines of a table by their keys; a last line that was cut off is removed."""
    if not path.exists():
        return {}
    text = path.read_text()
    if not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        path.write_text(text)
    lines = csv.DictReader(io.StringIO(text))
    return {tuple(line[name] for name in KEYS): line for line in lines}


def _quiet(task: Task) -> dict[str, Any]:
    """Run a task on one thread and without warnings: disagreeing chains and full models are part of the study."""
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore", UserWarning)
        return run_task(task)


def _start(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(",".join(COLUMNS) + "\n")


def _text(line: dict[str, Any]) -> str:
    out = io.StringIO()
    csv.DictWriter(out, COLUMNS, lineterminator="\n").writerow(line)
    return out.getvalue()
