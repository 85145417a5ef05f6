"""Where a user wants the search to start: from labels in `init` to components."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.checks import brief
from vbrand.inference.rows import Rows
from vbrand.model.posterior import before_rows
from vbrand.model.predictive import log_predictive_parts
from vbrand.model.prior import Prior
from vbrand.types import IntArray


def start_of(given: Any, classes: NDArray[Any], rows: Rows, prior: Prior, counted: IntArray | None) -> IntArray:
    """Return the component that each row that counts starts in; refuse more groups than the prior has places for."""
    start = components_of_labels(classes, given, rows, prior)
    start = start if counted is None else start[counted]
    groups = int(start.max()) + 1 - prior.known
    if groups > prior.novel:
        raise ValueError(f"init has {groups} novel groups, more than max_novel={prior.novel}. Raise max_novel.")
    return start


def components_of_labels(classes: NDArray[Any], given: Any, rows: Rows, prior: Prior) -> IntArray:
    """Return the component that each row starts in, from labels in `init`; of a class its likeliest one.

    Labels that are no known class are novel groups: J, J + 1, ...
    """
    try:
        labels = [None if _is_missing(label) else label for label in given]
        hash(tuple(labels))
    except (TypeError, ValueError):
        raise ValueError(f"init is {brief(given)}; one label for each of the {len(rows)} rows is expected.") from None
    if len(labels) != len(rows):
        raise ValueError(f"init has {len(labels)} labels; one for each of the {len(rows)} rows is expected.")

    known = classes.tolist()
    place = {label: k for k, label in enumerate(known)}
    for label in labels:
        place.setdefault(label, len(place))

    count = len(known)
    if not set(labels) & set(known):
        warnings.warn(
            "no label in init is a known class, so all rows start as novel; the known classes are "
            f"{', '.join(repr(name) for name in known[:5])}{', ...' if count > 5 else ''}.",
            UserWarning,
            stacklevel=5,
        )

    group = np.array([place[label] for label in labels])
    component = np.empty(len(rows), dtype=np.int64)
    for block in rows.blocks():
        likely = log_predictive_parts(rows.working(block), before_rows(prior))[:, : prior.known]
        likely[group[block, None] != prior.class_of] = -np.inf
        component[block] = np.where(group[block] < count, likely.argmax(axis=1), prior.known + group[block] - count)
    return component


def _is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN or NA: none of them equals itself, or says whether it does."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
