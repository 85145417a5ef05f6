"""`score`, by which scikit-learn's tools compare detectors: cross_val_score, GridSearchCV."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from vbrand.discovery.memberships import label_names
from vbrand.io.tables.labels import read_labels


class Scored:
    """Gives a detector its `score`."""

    classes_: Any
    predict: Any

    def score(self, X: Any, y: Any) -> float:
        """Return the share of rows whose label is predicted; of a class that `fit` has not seen, "novel" is right.

        Rows labelled -1, None or NaN are not counted, as nobody knows what they are. What is predicted depends on what
        was discovered before: with nothing discovered, as in `cross_val_score`, on the known classes and the prior of
        novelty alone. So this tells how well known classes are told apart and how many rows of them are refused; how
        good novel groups are it does not tell: `vbrand.metrics.evaluate` does.

        Parameters
        ----------
        X : table of shape (n, p)
            Rows with the columns of `fit`.
        y : labels of shape (n,)
            Their true classes.

        Returns
        -------
        float
            From 0 to 1.

        Examples
        --------
        >>> detector.score([[0.2, -0.1], [8.1, 7.9], [-8.0, -7.7]], ["oat", "rye", "millet"])
        1.0
        """
        labels, given = read_labels(y)
        predicted = self.predict(X)
        check_consistent_length(predicted, labels)
        return share_right(predicted[given], labels[given], self.classes_)


def share_right(predicted: NDArray[Any], labels: NDArray[Any], classes: NDArray[Any]) -> float:
    """Return the share of predictions that are right, given true labels and the known classes.

    >>> share_right(np.array(["oat", "novel"]), np.array(["oat", "teff"]), np.array(["oat", "rye"]))
    1.0
    """
    if (labels.dtype.kind == "U") != (classes.dtype.kind == "U"):
        kinds = ("text", "whole numbers") if labels.dtype.kind == "U" else ("whole numbers", "text")
        raise ValueError(f"labels are {kinds[0]}; those that the detector was fitted with are {kinds[1]}.")
    right = np.where(np.isin(labels, classes), labels, label_names(classes)[-1])
    return float((predicted == right).mean())
