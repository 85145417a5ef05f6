"""Rows on the workers of a Dask cluster: what a pass is about is sent to them, and what it finds comes back.

They are cut into ranges of rows that do not depend on partitions, so that sums are the same whatever these are. No row
is sent from here: what a lost worker held is made again from where it came.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from vbrand.io.sources.allocator import kept_memory
from vbrand.io.sources.cluster import ClusterError, each_result, in_order, threads_of
from vbrand.io.sources.flat import COPIED, Numbers, numbers_of
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.frames import TableError
from vbrand.threads import one_thread
from vbrand.types import BoolArray, IntArray

Kept = TypeVar("Kept")
# tasks of a pass for each thread of the cluster, so that none waits long for the others; rows of one task, at the most
_TASKS, _TASK_ROWS = 2, 2**20


class WorkerRows:
    """Rows, (n, p), in parts that are on workers."""

    def __init__(
        self, client: Any, parts: list[Any], sizes: list[int], columns: int, dtype: Any, scratch: Scratch, gaps: bool
    ) -> None:
        """Take parts of so many rows each; `gaps` says whether cells may be missing."""
        self.client, self.scratch, self.dtype = client, scratch, np.dtype(dtype)
        self._gaps, self._parts, self._edges = gaps, parts, np.append(0, np.cumsum(sizes)).astype(np.int64)
        self.shape = (int(self._edges[-1]), columns)

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def gapped(self) -> bool:
        """Return whether any cell is missing (NaN)."""

        def look(number: int) -> Any:
            return self._submit(_gapped, self._parts[number])

        return self._gaps and any(in_order(self.client, look, len(self._parts)))

    def __getitem__(self, chosen: Any) -> NDArray[Any]:
        numbers = numbers_of(chosen, len(self))
        part = np.searchsorted(self._edges, numbers, side="right") - 1
        wanted = np.unique(part).tolist()
        places = [np.flatnonzero(part == i) for i in wanted]

        def take(number: int) -> Any:
            i = wanted[number]
            return self._submit(_taken, self._parts[i], _short(numbers[places[number]] - self._edges[i]))

        found = np.empty((numbers.size, self.shape[1]), self.dtype)
        for number, rows in each_result(self.client, take, len(wanted)):
            found[places[number]] = rows
        return found

    def room(self) -> Numbers:
        """Return room for a small number of each row, all zero: on disk here, not on the workers."""
        return Numbers.zeros(self.scratch, len(self))

    def held(self, path: Path) -> Numbers:
        """Return the small numbers of the rows that a file holds, here."""
        return Numbers.filed(self.scratch, path, len(self))

    def answers(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return room for answers: zeros, mapped into memory."""
        return self.scratch.answers(name, shape, dtype)

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> "WorkerRows":
        """Return what a function makes of the rows, in ranges that do not depend on partitions."""
        edges = [*range(0, len(self), 4 * COPIED), len(self)]
        self._cut(edges)
        parts = [self._submit(_applied, function, part) for part in self._parts]
        first = function(self[:1])
        sizes = np.diff(edges).tolist()
        return WorkerRows(self.client, parts, sizes, first.shape[1], first.dtype, self.scratch, self._gaps)

    def without(self, given: BoolArray) -> "WorkerRows":
        """Return the rows that are not given."""
        left = [~given[first:last] for first, last in pairwise(self._edges.tolist())]
        parts = [self._submit(_taken, part, own) for part, own in zip(self._parts, left, strict=True)]
        sizes = [int(own.sum()) for own in left]
        return WorkerRows(self.client, parts, sizes, self.shape[1], self.dtype, self.scratch, self._gaps)

    def each(
        self,
        work: Callable[..., Any],
        rows: Any,
        pieces: list[slice],
        given: Callable[[slice], tuple[Any, ...]],
        taken: Callable[[slice, Any], Kept],
    ) -> list[Kept]:
        """Return what is kept of the work on each piece, in their order; `rows` say how a table is seen.

        One task for some neighbouring pieces; what one returns is taken as soon as it comes.
        """
        runs = self._runs(pieces)
        self._cut([pieces[0].start, *(run[-1].stop for run in runs)])
        bare = replace(rows, table=None)

        def submit(number: int) -> Any:
            run = runs[number]
            own = [slice(piece.start - run[0].start, piece.stop - run[0].start) for piece in run]
            return self._submit(_worked, work, bare, self._parts[number], own, [given(piece) for piece in run])

        kept = dict[int, Kept]()
        for number, found in each_result(self.client, submit, len(runs)):
            for piece, one in zip(runs[number], found, strict=True):
                kept[piece.start] = taken(piece, one)
        return [kept[piece.start] for piece in pieces]

    def _runs(self, pieces: list[slice]) -> list[list[slice]]:
        """Return the pieces that each task is about; few tasks, for each costs milliseconds beside its work."""
        count = min(len(pieces), max(self._tasks, -(-(pieces[-1].stop - pieces[0].start) // _TASK_ROWS)))
        edges = np.linspace(0, len(pieces), count + 1).astype(int).tolist()
        return [pieces[first:last] for first, last in pairwise(edges)]

    @cached_property
    def _tasks(self) -> int:
        """Return the number of tasks of a pass, at least: as it was at first, lest rows be cut again and again."""
        return _TASKS * max(1, sum(threads_of(self.client).values()))

    def _cut(self, edges: list[int]) -> None:
        """Cut the rows into other ranges. Dask keeps how the parts of before are made, not the parts."""
        if self._edges.tolist() == edges:
            return
        self._parts = [self._range(first, last) for first, last in pairwise(edges)]
        self._edges = np.array(edges)

    def _range(self, first: int, last: int) -> Any:
        begin = int(np.searchsorted(self._edges, first, side="right")) - 1
        end = int(np.searchsorted(self._edges, last, side="left"))
        touched = [i for i in range(begin, end) if self._edges[i] < self._edges[i + 1]]
        edges = self._edges.tolist()
        ranges = [(max(0, first - edges[i]), min(last, edges[i + 1]) - edges[i]) for i in touched]
        return self._submit(_assembled, ranges, *(self._parts[i] for i in touched))

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False)


def gathered_parts(
    client: Any, parts: list[Any], columns: int, dtype: Any, scratch: Scratch
) -> tuple[WorkerRows, NDArray[Any], list[Any]]:
    """Return the rows of partitions that nobody has labelled, and here those that have a label, and their labels."""
    found = looked_at(client, _labelled, parts)
    rows = [
        client.submit(_unlabelled, part, seen, pure=False) for part, (_, seen, *_) in zip(parts, found, strict=True)
    ]
    rest = WorkerRows(
        client, rows, [size for size, *_ in found], columns, dtype, scratch, any(gaps for *_, gaps in found)
    )
    known = np.concatenate([np.empty((0, columns), dtype), *(own for _, _, own, *_ in found)])
    return rest, known, [label for _, _, _, labels, _ in found for label in labels]


def looked_at(client: Any, look: Callable[..., Any], parts: list[Any], *more: Any) -> list[Any]:
    """Return what a look at each partition tells, in their order."""
    try:
        return in_order(client, lambda number: client.submit(look, parts[number], *more, pure=False), len(parts))
    except (TableError, ClusterError):
        raise
    except Exception as error:  # whatever the reader of a file says
        why = (str(error.__cause__ or error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise TableError(f"a partition of the Dask table can't be read: {why}. Mend it, and begin again.") from None


def _short(numbers: IntArray) -> IntArray | slice:
    """Return rising numbers without gaps as a slice, others as they are."""
    if numbers.size and numbers[-1] - numbers[0] == numbers.size - 1 and bool((np.diff(numbers) == 1).all()):
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


# What runs on workers. A partition is its rows, those of them that have a label, and these labels.


def _labelled(part: tuple[NDArray[Any], NDArray[Any], list[Any]]) -> tuple[int, int, NDArray[Any], list[Any], bool]:
    return part[0].shape[0], _print_of(part), part[1], part[2], _gapped(part[0])


def _unlabelled(part: tuple[NDArray[Any], NDArray[Any], list[Any]], seen: int) -> NDArray[Any]:
    """Return the rows of a partition, which may be made again long after it was looked at, if it is what it was."""
    if _print_of(part) != seen:
        raise TableError(
            "a partition of the Dask table was not the same when it was made again: its file was changed, or it is "
            "made by chance. Leave it alone meanwhile, and begin again."
        )
    return part[0]


def _print_of(part: tuple[NDArray[Any], NDArray[Any], list[Any]]) -> int:
    content = np.ascontiguousarray(part[0])
    return crc32(memoryview(content).cast("B")) if content.size else 0  # type: ignore[arg-type]


def _taken(rows: NDArray[Any], chosen: Any) -> NDArray[Any]:
    return np.asarray(rows[chosen])


def _gapped(rows: NDArray[Any]) -> bool:
    return bool(np.isnan(rows).any())


def _applied(function: Callable[[NDArray[Any]], NDArray[Any]], rows: NDArray[Any]) -> NDArray[Any]:
    with one_thread():
        return function(rows)


def _assembled(ranges: list[tuple[int, int]], *parts: NDArray[Any]) -> NDArray[Any]:
    """Return one range of rows from the partitions that it touches."""
    return np.concatenate([part[first:last] for (first, last), part in zip(ranges, parts, strict=True)])


def _worked(
    work: Callable[..., Any], rows: Any, table: NDArray[Any], pieces: list[slice], given: list[tuple[Any, ...]]
) -> list[Any]:
    with one_thread(), kept_memory():
        return [work(replace(rows, table=table[piece]), *each) for piece, each in zip(pieces, given, strict=True)]
