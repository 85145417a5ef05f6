"""Tables of the commands: small ones in memory, large ones on disk beside the results or on a cluster."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vbrand.io.sources.cluster import client_at
from vbrand.io.sources.large import is_large, read_large
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.material import Material, Roles, read_material


@contextmanager
def read_for(
    out: Path, train: str, test: str | None, roles: Roles, sheet: str | None, scheduler: str | None
) -> Iterator[Material]:
    """Yield the rows of tables, in memory or, of large tables, beside the results as long as they are needed."""
    if scheduler is None and (sheet is not None or not is_large(train, test, roles)):
        yield read_material(train, test, roles, sheet)
        return
    place = out / ".rows"
    shutil.rmtree(place, ignore_errors=True)
    client = None if scheduler is None else client_at(scheduler)
    try:
        yield read_large(train, test, roles, Scratch(place), client)
    finally:
        shutil.rmtree(place, ignore_errors=True)
        if client is not None:
            client.close()
