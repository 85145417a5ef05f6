"""A person says what a component is: from then on it means that class, whatever hidden rows said."""

from dataclasses import replace

import numpy as np

from vbrand.model.components import Components, stacked
from vbrand.trust.cells import Cells
from vbrand.trust.meaning import Checked, Meaning
from vbrand.types import IntArray


def as_class(meaning: Meaning, k: int, j: int, component: Components, share: float) -> Meaning:
    """Return what components mean once novel component k means class j, which may be a new one.

    `component` is that one alone as its rows show it, and `share` how many they are of all rows of known classes.
    """
    class_of, checked = meaning.class_of.copy(), meaning.checked
    class_of[k] = j
    if checked is None:
        return Meaning(class_of)

    labelled = checked.labelled
    weights = np.append(labelled.log_weights + np.log1p(-share), np.log(share))
    labelled = replace(
        labelled,
        components=stacked(labelled.components, component),
        log_weights=weights,
        class_of=np.append(labelled.class_of, j),
    )
    fewer = without_component(checked, meaning.class_of, k)
    new = j + 1 - fewer.classes.shape[1]
    classes = np.pad(fewer.classes, ((0, 0), (0, max(new, 0))))
    votes = None if fewer.votes is None else fewer.votes.without(j)
    return Meaning(class_of, replace(fewer, labelled=labelled, classes=classes, votes=votes))


def without_component(checked: Checked, class_of: IntArray, k: int) -> Checked:
    """Return what hidden rows taught without the cells of novel component k."""
    t = int((class_of[:k] < 0).sum())
    starts, novel = checked.cells.starts, checked.cells.novel
    own = np.arange(starts[t + 1], starts[t + 2])
    return replace(
        checked,
        cells=Cells(checked.cells.known, (*novel[:t], *novel[t + 1 :])),
        classes=np.delete(checked.classes, own, axis=0),
        novel=np.delete(checked.novel, own),
    )
