"""Tables of numbers and categories with missing cells, skewed or not, as frames and as arrays."""

import numpy as np
import pandas as pd
import polars as pl
from attack.judge import want, want_answer

import vbrand
from vbrand import VBrand

# what levels may be called; some look like nothing, or like each other
_LEVELS = (
    "red",
    "Red",
    "",
    " ",
    "nan",
    "NA",
    "1",
    "1.0",
    "01",
    "=1+1",
    "\x1b[2J",
    "é",
    "x" * 2_000,
    "a\nb",
    "-1",
    "\0",
)


def table_of(generator, n, centres, levels):
    """Return n rows: numbers about some centre, then columns of levels, each with empty cells or none."""
    place = generator.integers(len(centres), size=n)
    numbers = centres[place] + generator.normal(size=(n, centres.shape[1]))
    columns = {f"c{j}": numbers[:, j].astype(object) for j in range(centres.shape[1])}
    for j, names in enumerate(levels):
        chosen = np.where(generator.random(n) < 0.7, place % len(names), generator.integers(len(names), size=n))
        columns[f"k{j}"] = np.array(names, dtype=object)[chosen]
    for cells in columns.values():
        cells[generator.random(n) < generator.choice([0.0, 0.0, 0.1, 0.6, 1.0], p=[0.3, 0.3, 0.25, 0.1, 0.05])] = None
    if generator.random() < 0.2:
        for cells in columns.values():
            cells[: int(generator.integers(1, 4))] = None
    return columns


def _framed(columns, levels, kind):
    frame = pd.DataFrame({name: cells if name[0] == "k" else cells.astype(float) for name, cells in columns.items()})
    if kind == "categories":
        return frame.astype({f"k{j}": pd.CategoricalDtype(dict.fromkeys(names)) for j, names in enumerate(levels)})
    if kind == "polars":
        return pl.DataFrame({name: frame[name].to_list() for name in frame}, strict=False)
    return frame.to_numpy(dtype=object) if kind == "array" else frame


def mix(generator, folder):
    """Fit mixed tables; what is taken gives an answer, survives a file, and can be told."""
    numbers, named = int(generator.integers(0, 4)), int(generator.integers(0, 4))
    classes = int(generator.integers(1, 4))
    centres = generator.normal(0.0, 10.0 ** generator.uniform(-1, 1.5), (classes + 1, numbers))
    levels = [generator.choice(_LEVELS, int(generator.integers(1, 7)), replace=False).tolist() for _ in range(named)]
    kind = generator.choice(["frame", "categories", "polars", "array"]).item()
    n, m = int(generator.integers(10, 80)), int(generator.integers(1, 60))
    columns = table_of(generator, n + m, centres, levels)
    if generator.random() < 0.3:
        skew = [name for name in columns if name[0] == "c"]
        columns |= {name: np.exp(columns[name].astype(float) / 4.0) for name in skew}
    if generator.random() < 0.3 and named:
        columns["k0"][n:] = np.where(generator.random(m) < 0.3, "never seen", columns["k0"][n:])
    known = _framed({name: cells[:n] for name, cells in columns.items()}, levels, kind)
    unknown = _framed(
        {name: cells[n:] for name, cells in columns.items()}, [[*names, "never seen"] for names in levels], kind
    )

    places = [*range(numbers, numbers + named)] if kind == "array" or generator.random() < 0.3 else "auto"
    settings = {
        "transforms": generator.choice([None, "auto"]),
        "check": int(generator.choice([0, 0, 3])),
        "kernel": generator.choice(["student", "gaussian"]).item(),
        "categories": places,
    }
    detector = VBrand(random_state=0, **settings).fit(known, generator.integers(classes, size=n))
    found = detector.discover(unknown)
    want_answer(detector, found, unknown)
    want(len(str(found)) > 0 and len(found.to_frame()) == m, "the answer can't be told")
    found.explain(int(generator.integers(m)))
    found.report(folder / "report.html")
    detector.save(folder / "model.vbrand")
    again = vbrand.load(folder / "model.vbrand")
    want((again.predict(unknown) == detector.predict(unknown)).all(), "a saved model predicts otherwise")
