"""Handwritten digits: eight of the ten are labelled, 3 and 8 are not; labels and a report go to a folder.

python examples/digits.py digits
"""

import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from vbrand.commands.analysis import analyse, write_analysis
from vbrand.commands.terminal import show
from vbrand.io.tables.material import Material, RowNumbers, Unknown

UNSEEN = (3, 8)
COMPONENTS = 30


def digits() -> Material:
    """Return labelled rows of eight digits and unlabelled ones of ten; pixels are summarised by 30 components."""
    pixels, digit = load_digits(return_X_y=True)
    learn, test, learn_digits, truth = train_test_split(pixels, digit, test_size=0.5, random_state=0, stratify=digit)
    seen = ~np.isin(learn_digits, UNSEEN)
    reduce = PCA(COMPONENTS, random_state=0).fit(learn[seen])  # of labelled rows alone
    columns = tuple(f"component {j + 1}" for j in range(COMPONENTS))
    names = {"row": RowNumbers(range(len(test)))}
    unknown = Unknown(reduce.transform(test), columns, names, "handwritten digits", truth)
    return Material(reduce.transform(learn[seen]), learn_digits[seen], unknown)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "digits")
    analysis = analyse(digits(), {"random_state": 0}, lambda what: nullcontext())
    show(analysis.facts)
    write_analysis(analysis, folder, lambda what: nullcontext())
    print(f"Look at {folder / 'report.html'}.")
