"""The demo: wines of three cultivars, one of which nobody has labelled."""

import numpy as np
from sklearn.datasets import load_wine

from vbrand.commands.analysis import Analysis, Stage, analyse
from vbrand.io.tables.material import Material, RowNumbers, Unknown

# what scikit-learn calls class_0, class_1 and class_2 of its wines, which are from Piedmont
CULTIVARS = ("Barolo", "Grignolino", "Barbera")
UNSEEN = "Barbera"


def wines() -> Material:
    """Return every other wine of two cultivars as labelled rows, and all others as unlabelled ones."""
    table = load_wine()
    cultivar = np.array(CULTIVARS)[table.target]
    labelled = (cultivar != UNSEEN) & (np.arange(cultivar.size) % 2 == 0)
    columns = tuple(name.replace("_", " ").replace("/", " / ") for name in table.feature_names)
    names = RowNumbers(np.flatnonzero(~labelled).tolist())
    unknown = Unknown(table.data[~labelled], columns, {"wine": names}, "wines of Piedmont", cultivar[~labelled])
    return Material(table.data[labelled], cultivar[labelled], unknown)


def run_demo(stage: Stage, *, verbose: bool = False) -> Analysis:
    """Learn two cultivars, and discover what else is among unlabelled wines."""
    return analyse(wines(), {"random_state": 0, "n_jobs": -1, "verbose": verbose}, stage)
