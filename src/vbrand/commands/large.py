"""Tables of the commands: small ones in memory, large ones on disk beside the results or on a cluster."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vbrand.io.sources.cluster import ClusterError, client_at
from vbrand.io.sources.journal import Journal
from vbrand.io.sources.large import is_large, read_large
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.folders import files_of, stamp
from vbrand.io.tables.material import Material, Roles, read_material


@contextmanager
def read_for(
    out: Path,
    train: str,
    test: str | None,
    roles: Roles,
    sheet: str | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    listener: Callable[[int, int], None] | None = None,
) -> Iterator[Material]:
    """Yield the rows of tables, in memory or, of large tables, beside the results as long as they are needed.

    What passes over a large table found stays there if the run does not end well: the next one may `resume` it. The
    `listener` is told how many rows of a large table are read, of how many.
    """
    place, in_memory = out / ".rows", scheduler is None and (sheet is not None or not is_large(train, test, roles))
    if not resume:
        shutil.rmtree(place, ignore_errors=True)
    if in_memory:
        yield read_material(train, test, roles, sheet)
        return
    client = None if scheduler is None else client_at(scheduler)
    try:
        journal = Journal(place, _about(train, test, roles))
        scratch = Scratch(place, journal)
        scratch.listener = listener
        material = read_large(train, test, roles, scratch, client)
        scratch.listener = None
        yield material
        shutil.rmtree(place, ignore_errors=True)
    except Exception as error:
        if place.exists() and not journal.passes:
            shutil.rmtree(place, ignore_errors=True)
        elif isinstance(error, ClusterError):
            raise ClusterError(f"{error} --resume goes on after the last pass that was done.") from None
        raise
    finally:
        if client is not None:
            client.close()


def _about(train: str, test: str | None, roles: Roles) -> str:
    """Return which rows a journal is about: names of files, when they were changed, what columns mean."""
    files = [file for path in (train, test) if path is not None for file in files_of(path) or [Path(path)]]
    return json.dumps([[str(file), *stamp(file)] for file in files] + [str(roles)])
