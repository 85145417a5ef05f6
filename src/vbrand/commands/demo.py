"""The demo: handwritten digits, two of which nobody has labelled."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from vbrand.commands.analysis import Analysis, Stage, analyse
from vbrand.io.tables.material import Material, RowNumbers, Unknown

UNSEEN = (3, 8)
_COLUMNS = 30


def digits() -> Material:
    """Return labelled rows of eight digits and unlabelled ones of ten; pixels are summarised by 30 components."""
    pixels, digit = load_digits(return_X_y=True)
    learn, test, learn_digits, truth = train_test_split(pixels, digit, test_size=0.5, random_state=0, stratify=digit)
    seen = ~np.isin(learn_digits, UNSEEN)
    reduce = PCA(_COLUMNS, random_state=0).fit(learn[seen])
    columns = tuple(f"component {j + 1}" for j in range(_COLUMNS))
    unknown = Unknown(
        reduce.transform(test), columns, {"row": RowNumbers(range(len(test)))}, "handwritten digits", truth
    )
    return Material(reduce.transform(learn[seen]), learn_digits[seen], unknown)


def run_demo(stage: Stage, *, verbose: bool = False) -> Analysis:
    """Learn eight digits, and discover what else is among unlabelled ones."""
    return analyse(digits(), {"random_state": 0, "n_jobs": -1, "verbose": verbose}, stage)
