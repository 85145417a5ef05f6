"""Frames out: a table of answers like the table that came in, of the same package and with the same names of rows."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vbrand.types import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Likeness:
    """What a table that goes out is like."""

    package: Literal["pandas", "polars"] | None = None  # None: what came in was no frame
    index: Any = None  # pandas' names of the rows

    @classmethod
    def of(cls, table: Any) -> "Likeness":
        """Return what a table is like; no package is imported to find out."""
        pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
        if pandas is not None and isinstance(table, pandas.DataFrame):
            return cls("pandas", table.index)
        if polars is not None and isinstance(table, polars.DataFrame | polars.LazyFrame):
            return cls("polars")
        return cls()

    def of_rows(self, chosen: BoolArray) -> "Likeness":
        """Return the likeness of some of the rows."""
        return self if self.index is None else replace(self, index=self.index[chosen])

    def without_index(self) -> "Likeness":
        """Return the likeness of a table of something else than the rows."""
        return replace(self, index=None)

    @property
    def names(self) -> list[str] | None:
        """Return what the user calls the rows; None where they have no names but their numbers."""
        return None if self.index is None else [str(name) for name in self.index]

    def frame(self, columns: Mapping[str, NDArray[Any] | None]) -> Any:
        """Return a frame of columns of one length; None for one of truths that nobody knows."""
        package = self.package or _any_package()
        rows = next(values.size for values in columns.values() if values is not None)
        if package == "polars":
            import polars

            return polars.DataFrame(
                [
                    polars.Series(name, [None] * rows, dtype=polars.Boolean)
                    if values is None
                    else polars.Series(name, values.tolist() if values.dtype.kind in "UO" else values)
                    for name, values in columns.items()
                ]
            )
        import pandas

        unknown = pandas.array(np.full(rows, None), dtype="boolean")
        filled = {name: unknown if values is None else values for name, values in columns.items()}
        return pandas.DataFrame(filled, index=self.index)


@dataclass(frozen=True, eq=False)
class Given:
    """The rows of a table, and what the table is like that the user gave."""

    rows: Any  # (n, p) an array, or rows that lie on disk
    likeness: Likeness
    counted: IntArray | None = None  # (m,) rows that are evidence; None: all, no copies among them
    notes: tuple[str, ...] = ()  # on those that are none


def _any_package() -> str:
    """Return the package that frames are made with where none came in."""
    for name in ("pandas", "polars"):
        try:
            import_module(name)
        except ImportError:
            continue
        return name
    raise ImportError("to_frame needs the package pandas or polars: pip install 'vbrand[tables]'")
