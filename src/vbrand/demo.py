"""The demo: handwritten digits, two of which nobody has labelled."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from vbrand.confusion import Confusion
from vbrand.detector import VBrand
from vbrand.discovery import Discovery
from vbrand.metrics import Scores, confusion, evaluate

UNSEEN = (3, 8)
_COLUMNS = 30


@dataclass(frozen=True)
class Demo:
    """What the demo found, with the truth beside it."""

    truth: NDArray[Any]
    found: Discovery
    scores: Scores
    confusion: Confusion


def run_demo(*, verbose: bool = False) -> Demo:
    """Learn eight digits, discover what else is among unlabelled ones; pixels are summarised by 30 components."""
    pixels, digits = load_digits(return_X_y=True)
    learn, test, learn_digits, truth = train_test_split(pixels, digits, test_size=0.5, random_state=0, stratify=digits)
    seen = ~np.isin(learn_digits, UNSEEN)
    reduce = PCA(_COLUMNS, random_state=0).fit(learn[seen])
    detector = VBrand(random_state=0, verbose=verbose, n_jobs=-1)
    detector.fit(reduce.transform(learn[seen]), learn_digits[seen])
    found = detector.discover(reduce.transform(test))
    return Demo(truth, found, evaluate(truth, found), confusion(truth, found))
