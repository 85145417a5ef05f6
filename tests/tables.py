"""Small tables to try the commands on: two known grains and one that nobody has labelled."""

import csv
import io

import numpy as np

COLUMNS = ("moisture", "protein", "ash")


def grain_rows(n=40, unknown=30, seed=0, columns=3):
    rng = np.random.default_rng(seed)
    known = np.vstack([rng.normal(0, 1, (n, columns)), rng.normal(8, 1, (n, columns))])
    new = np.vstack([rng.normal(0, 1, (unknown, columns)), rng.normal(-9, 1, (unknown, columns))])
    return known, ["oat"] * n + ["rye"] * n, new, ["oat"] * unknown + ["teff"] * unknown


def as_csv(header, rows, separator=",", newline="\n"):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=newline)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def write_grain(folder, header=COLUMNS, label="variety", **how):
    """Write train.csv and test.csv; test.csv has the truth in the column "truth"."""
    known, labels, new, truth = grain_rows()
    train = [[*row, name] for row, name in zip(known.tolist(), labels, strict=True)]
    test = [[*row, name] for row, name in zip(new.tolist(), truth, strict=True)]
    (folder / "train.csv").write_text(as_csv([*header, label], train, **how), encoding="utf-8", newline="")
    (folder / "test.csv").write_text(as_csv([*header, "truth"], test, **how), encoding="utf-8", newline="")
    return folder / "train.csv", folder / "test.csv"
