"""Kinds of tables and labels: what people have in memory, and what they should not have."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
from attack.judge import want, want_answer

from vbrand import VBrand

_TABLES = (
    lambda rows: rows,
    lambda rows: rows.tolist(),
    lambda rows: rows.astype(np.float32),
    lambda rows: np.asfortranarray(rows),
    lambda rows: rows[:, ::-1],
    lambda rows: rows.astype(object),
    lambda rows: rows.astype(str),
    lambda rows: rows.astype(complex),
    lambda rows: rows > 0.0,
    lambda rows: np.ma.masked_less(rows, -1.0),
    lambda rows: np.ma.masked_less(rows, -1e9),
    lambda rows: pd.DataFrame(rows, columns=[f"c{j}" for j in range(rows.shape[1])]),
    lambda rows: pd.DataFrame(rows).astype("Float64"),
    lambda rows: pl.DataFrame(rows),
    lambda rows: rows[:, 0],
    lambda rows: rows[None],
    lambda rows: np.where(rows > 2.0, np.nan, rows),
    lambda rows: np.where(rows > 2.0, np.inf, rows),
    lambda rows: rows[:0],
    lambda rows: rows[:, :0],
    lambda rows: "table.csv",
    lambda rows: None,
    lambda rows: {"a": rows},
    lambda rows: 5,
)
_LABELS = (
    lambda labels: labels,
    lambda labels: labels.tolist(),
    lambda labels: labels.astype(str),
    lambda labels: labels.astype(bytes),
    lambda labels: labels.astype(float),
    lambda labels: labels.astype(bool),
    lambda labels: labels.astype(object),
    lambda labels: labels[:, None],
    lambda labels: labels + 0.5,
    lambda labels: labels * 1e300,
    lambda labels: labels * 1j,
    lambda labels: labels[:-1],
    lambda labels: np.ma.masked_equal(labels, 1),
    lambda labels: pd.Series(labels.astype(str), dtype="category"),
    lambda labels: pd.array(labels, dtype="Int64"),
    lambda labels: pl.Series(labels.astype(str)),
    lambda labels: pyarrow.array(labels.astype(str)),
    lambda labels: [Decimal(int(label)) for label in labels],
    lambda labels: [Decimal("NaN") if label else "a" for label in labels],
    lambda labels: [Fraction(int(label), 2) for label in labels],
    lambda labels: [label.item() if label else "0" for label in labels],
    lambda labels: [0 if label else "0" for label in labels],
    lambda labels: ["a\0" if label else "a" for label in labels],
    lambda labels: ["\ud800" if label else "a" for label in labels],
    lambda labels: ["x" * 5_000 if label else "a" for label in labels],
    lambda labels: ["=1+1" if label else "\x1b[2J" for label in labels],
    lambda labels: ["novel" if label else "a" for label in labels],
    lambda labels: [None] * labels.size,
    lambda labels: [{}] * labels.size,
    lambda labels: [object() for _ in labels],
    lambda labels: None,
    lambda labels: "labels",
)


def give(generator, folder):
    """Fit tables and labels of some kind; what is taken gives an answer and survives a file."""
    p = int(generator.integers(1, 4))
    rows = np.vstack([generator.normal(0, 1, (25, p)), generator.normal(8, 1, (25, p))])
    unknown = np.vstack([generator.normal(0, 1, (15, p)), generator.normal(-8, 1, (10, p))])
    table = _TABLES[generator.integers(len(_TABLES)) if generator.random() < 0.5 else 0]
    label = _LABELS[generator.integers(len(_LABELS))]
    detector = VBrand(random_state=0, check=0).fit(table(rows), label(np.repeat([0, 1], 25)))
    found = detector.discover(table(unknown))
    want_answer(detector, found, table(unknown))
    want(len(set(detector.classes_.tolist())) == len(detector.classes_), "two classes have one name")
    detector.save(folder / "model.vbrand")
    again = detector.from_model(detector.model())
    want((again.predict(table(unknown)) == detector.predict(table(unknown))).all(), "a saved model predicts otherwise")
