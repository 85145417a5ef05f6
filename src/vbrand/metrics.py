"""How good a discovery is when the truth is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    f1_score,
    fowlkes_mallows_score,
)

from vbrand.checks import brief
from vbrand.discovery.base import Discovery
from vbrand.facts.confusion import Confusion, confusion_of
from vbrand.types import BoolArray

__all__ = ["Confusion", "Scores", "confusion", "evaluate", "true_novelty"]


@dataclass(frozen=True)
class Scores:
    """ARI, AMI and FMI compare clusters with true classes; the others compare known with novel.

    Parameters
    ----------
    ari, ami, fmi : float
        1: the same groups.
    novelty_f1, known_f1 : float
        Novel rows, or known ones, are the positive ones.
    known_accuracy, false_novelty : float
        The share of known rows that get their own label, and of those that are called novel.

    Examples
    --------
    >>> evaluate(["oat"] * 40 + ["millet"] * 30, found).novelty_f1
    1.0
    """

    ari: float
    ami: float
    fmi: float
    novelty_f1: float  # novel rows are the positive ones
    known_f1: float  # known rows are the positive ones, as in the paper
    known_accuracy: float  # share of known rows that get their own label
    false_novelty: float  # share of known rows called novel


def evaluate(truth: Any, found: Discovery) -> Scores:
    """Return the scores of a discovery; true classes that are not among `found.classes` are novel.

    Parameters
    ----------
    truth : array of shape (n,)
        The true class of each row.
    found : Discovery
        What `discover` returned.

    Returns
    -------
    Scores
        ARI, AMI, FMI, F1 and shares.

    Examples
    --------
    >>> import numpy as np
    >>> from vbrand import VBrand
    >>> rng = np.random.default_rng(0)
    >>> rows = np.vstack([rng.normal(c, 1, (60, 2)) for c in (0, 9, -9)])
    >>> truth = np.repeat([0, 1, 2], 60)
    >>> found = VBrand(random_state=0).fit(rows[:120], truth[:120]).discover(rows)
    >>> evaluate(truth, found).novelty_f1
    1.0
    """
    if not isinstance(found, Discovery):
        raise ValueError(f"found is {brief(found)}; what `discover` returned is expected, not its labels alone.")
    true = np.asarray(truth)
    if true.shape[0] != found.labels.size:
        raise ValueError(
            f"truth has {true.shape[0]} values; one for each of the {found.labels.size} unlabelled rows is expected."
        )

    novel = true_novelty(true, found)
    called = found.clusters >= found.classes.size
    known = ~novel
    right = found.labels[known] == true[known]

    return Scores(
        ari=float(adjusted_rand_score(true, found.clusters)),
        ami=float(adjusted_mutual_info_score(true, found.clusters)),
        fmi=float(fowlkes_mallows_score(true, found.clusters)),
        novelty_f1=float(f1_score(novel, called, zero_division=1.0)),
        known_f1=float(f1_score(known, ~called, zero_division=1.0)),
        known_accuracy=float(right.mean()) if known.any() else float("nan"),
        false_novelty=float(called[known].mean()) if known.any() else float("nan"),
    )


def confusion(truth: Any, found: Discovery) -> Confusion:
    """Return the table of true classes against known classes and novel groups.

    Parameters
    ----------
    truth : array of shape (n,)
        The true class of each row.
    found : Discovery
        What `discover` returned.

    Returns
    -------
    Confusion
        It prints as a table; `counts` has the numbers.

    Examples
    --------
    >>> confusion(["oat"] * 40 + ["millet"] * 30, found)
                oat      rye  novel 1
    millet        0        0       30
    oat          40        0        0
    """
    return confusion_of(truth, found.clusters, [group.name for group in found.groups])


def true_novelty(truth: NDArray[Any], found: Discovery) -> BoolArray:
    """Return which rows belong to a class that was not known.

    Parameters
    ----------
    truth : array of shape (n,)
        The true class of each row.
    found : Discovery
        What `discover` returned.

    Returns
    -------
    boolean array of shape (n,)
        True: novel.

    Examples
    --------
    >>> int(true_novelty(["oat"] * 40 + ["millet"] * 30, found).sum())
    30
    """
    return np.asarray(~np.isin(truth, found.classes))
