"""Write the golden files of the present schema: five models, and what they answer about four rows each.

    PYTHONPATH=src python tests/golden/make.py

Made once, by the first version that writes a schema, and never renewed: see README.md.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from vbrand import VBrand
from vbrand.estimators.schemas import SCHEMA

# settings, number of columns, whether they have names, whether rows are discovered
PROBLEMS = {
    "grains": ({}, 3, True, True),
    "wide": ({"reduce": 4}, 24, False, True),
    "auto": ({"kernel": "auto"}, 3, True, True),
    "fixed": (
        {
            "kernel": "gaussian",
            "scatter": "mrcd",
            "update_known": False,
            "concentration": 0.5,
            "max_novel": 3,
            "novel_mean": [0.0, 1.0, 2.0],
            "novel_scale": np.eye(3),
        },
        3,
        False,
        True,
    ),
    "undiscovered": ({}, 3, False, False),
}


def table(rows, columns):
    """Return rows as the detector wants them: a frame where columns have names."""
    return np.array(rows) if columns is None else pd.DataFrame(np.array(rows), columns=columns)


def grains(columns):
    """Return labelled rows of two classes, and rows of one of them and of a novel one."""
    rng = np.random.default_rng(0)
    known = np.vstack([rng.normal(0, 1, (40, columns)), rng.normal(8, 1, (40, columns))])
    return known, np.vstack([rng.normal(0, 1, (30, columns)), rng.normal(-9, 1, (25, columns))])


def answers(detector, rows):
    """Return what a detector says of rows, as JSON can hold it."""
    return {
        "predict": detector.predict(rows).tolist(),
        "proba": detector.predict_proba(rows).tolist(),
        "score": detector.score_samples(rows).tolist(),
        "novelty": detector.novelty_score(rows).tolist(),
    }


def write(folder):
    """Write the files of all problems; files that are there stay."""
    if (folder / f"schema{SCHEMA}.json").exists():
        raise FileExistsError(f"{folder} has golden files of schema {SCHEMA} already; they are never renewed")
    said = {}
    for name, (settings, count, named, discovered) in PROBLEMS.items():
        columns = [f"c{j}" for j in range(count)] if named else None
        known, unknown = grains(count)
        labels = np.repeat(["oat", "rye"] if discovered else [3, 7], 40)
        detector = VBrand(random_state=0, **settings).fit(table(known, columns), labels)
        if discovered:
            detector.discover(table(unknown, columns))
        detector.save(folder / f"schema{SCHEMA}-{name}.vbrand")
        rows = unknown[[0, 1, 30, 31]]
        said[name] = {"rows": rows.tolist(), "columns": columns, **answers(detector, table(rows, columns))}
    (folder / f"schema{SCHEMA}.json").write_text(json.dumps(said) + "\n")


if __name__ == "__main__":
    write(Path(__file__).parent)
