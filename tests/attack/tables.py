"""Tables in files, mutated: bytes changed, cut off, doubled, cells replaced by what cells should not hold."""

import numpy as np
import pandas as pd
from attack.judge import want

from vbrand.io.tables.material import Roles, read_material

_CELLS = (
    *("", "NA", "1e999", "-1e999", "1,5", "1.234,5", "0x10", "1_000", "١٢", "inf", "nan", "=1+1", "\x1b[2J", '"', "\0"),
    *("1" * 5_000, "1" * 5_000 + "x", "a,b", "a;b", "\r", "\n", "\ufeff", "é", "1e-400", "+", "-", ".", ",", "e5"),
)


def read(generator, folder):
    """Read a table that was whole once."""
    kind = generator.choice(["csv", "csv", "parquet", "feather"])
    table = pd.DataFrame(generator.normal(size=(30, 3)), columns=["a", "b", "c"])
    table = table.assign(label=generator.choice(["x", "y", None], 30))
    path = folder / f"table.{kind}"
    if kind == "csv":
        path.write_bytes(mutated(_cells(table, generator), generator))
    else:
        table.to_parquet(path) if kind == "parquet" else table.to_feather(path)
        path.write_bytes(mutated(path.read_bytes(), generator))
    material = read_material(str(path), None, Roles("label"))
    infinite = np.isinf(material.rows).any() or np.isinf(material.unknown.rows).any()  # missing cells are NaN
    want(not infinite, "cells are infinite")
    want(len(material.rows) == len(material.labels), "there are fewer labels than rows")


def _cells(table, generator):
    """Return a table as separated text, with some odd cells, quoted or not."""
    separator = generator.choice([",", ";", "\t", "|"])
    lines = [list(table.columns), *table.astype(object).fillna("").to_numpy().astype(str).tolist()]
    for _ in range(generator.integers(3)):
        lines[generator.integers(len(lines))][generator.integers(4)] = _CELLS[generator.integers(len(_CELLS))]
    text = "\n".join(separator.join(line) for line in lines) + "\n"
    return text.encode(generator.choice(["utf-8", "utf-8-sig", "utf-16", "utf-8"]))


def mutated(content, generator):
    """Return bytes of which some are others, or gone, or there twice."""
    content = bytearray(content)
    how = generator.integers(5)
    if how == 0:
        del content[generator.integers(len(content)) :]
    elif how == 1:
        place = generator.integers(len(content))
        content[place:place] = content[generator.integers(len(content)) :]
    elif how == 2:
        for place in generator.integers(len(content), size=int(generator.integers(1, 10))):
            content[place] = generator.integers(256)
    return bytes(content)
