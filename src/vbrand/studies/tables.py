"""Simulated tables as files, to try the commands on."""

import csv
import io
from pathlib import Path
from typing import BinaryIO

from vbrand.io.files.whole import write_together
from vbrand.studies.simulate import simulate
from vbrand.types import FloatArray, IntArray

# times the rows of the paper's tables
_TOO_LARGE = 1_000_000


def write_simulated(study: str, folder: Path, *, size: float, columns: int, seed: int) -> tuple[Path, Path]:
    """Write train.csv and test.csv, with the true class of every row in the column "class"."""
    if columns < 2 or not 0.0 < size < _TOO_LARGE:
        raise ValueError(
            f"{columns} columns of size {size:g} were asked for; at least 2 of a size above 0 are needed, and a size "
            f"below {_TOO_LARGE:,}."
        )

    data = simulate(study, seed, size=size, columns=columns)
    folder.mkdir(parents=True, exist_ok=True)
    train, test = folder / "train.csv", folder / "test.csv"
    write_together(
        {
            train: lambda file: _write(file, data.train, data.train_classes),
            test: lambda file: _write(file, data.test, data.test_classes),
        }
    )
    return train, test


def _write(file: BinaryIO, rows: FloatArray, classes: IntArray) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(f"x{j + 1}" for j in range(rows.shape[1])), "class"])
    writer.writerows([*row, f"class {k}"] for row, k in zip(rows.tolist(), classes.tolist(), strict=True))
    text.flush()
    text.detach()
