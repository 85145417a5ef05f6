"""What follows from the state of a detector: its known classes, and predictions for any rows."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from vbrand.discovery.base import Discovery
from vbrand.discovery.memberships import label_names, memberships
from vbrand.estimators.columns import ColumnsOfFit
from vbrand.estimators.fitted import Fitted
from vbrand.estimators.scoring import Scored
from vbrand.inference.rows import Rows
from vbrand.io.tables.categories import Categories
from vbrand.io.tables.validated import Columns
from vbrand.stage1.classes import KnownClasses
from vbrand.sums import log_sum
from vbrand.trust.meaning import Memberships
from vbrand.types import FloatArray


class Predictor(ColumnsOfFit, Scored):
    """Predicts rows by what a detector knows, which is one value: `_state`."""

    threshold: float
    _state: Fitted | None = None

    @abstractmethod
    def _more_rows(self, X: Any, groups: Any = None, store: Any = None) -> Any:
        """Return the rows of another table, or of what says where they are."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the known label of each row, or novelty.

        Parameters
        ----------
        X : table of shape (n, p)
            Rows with the columns of `fit`.

        Returns
        -------
        array of shape (n,)
            Known labels; -1 for novel rows, "novel" where labels are text.

        Examples
        --------
        >>> detector.predict([[0.2, -0.1], [8.1, 7.9], [-8.0, -7.7]])
        array(['oat', 'rye', 'novel'], dtype='<U5')
        """
        names = label_names(self.classes_)
        best = [
            np.where(part.is_novel(self._threshold), self.classes_.size, part.best_class)
            for _, part in self._memberships(X)
        ]
        return np.asarray(names[np.concatenate(best)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the known classes and of novelty.

        Parameters
        ----------
        X : table of shape (n, p)
            Rows with the columns of `fit`.

        Returns
        -------
        array of shape (n, J + 1)
            The known classes in the order of `classes_`, novelty last; rows sum to 1.

        Examples
        --------
        >>> detector.predict_proba([[0.2, -0.1], [-8.0, -7.7]]).round(1)
        array([[1., 0., 0.],
               [0., 0., 1.]])
        """
        parts = [np.column_stack([np.exp(part.known), part.novelty_probability]) for _, part in self._memberships(X)]
        return np.concatenate(parts)

    def novelty_score(self, X: Any) -> FloatArray:
        """Return how novel each row is: log-odds of novelty above those of the threshold.

        After a checked discovery they are stretched by how unlike the labelled rows a row is, so that rows of one group
        do not tie; what is above 0 stays above 0.

        Parameters
        ----------
        X : table of shape (n, p)
            Rows with the columns of `fit`.

        Returns
        -------
        array of shape (n,)
            Above 0: novel. It does not saturate as probabilities do: use it to rank rows.

        Examples
        --------
        >>> detector.novelty_score([[0.2, -0.1], [-8.0, -7.7]]) > 0
        array([False,  True])
        """
        return np.concatenate([part.novelty_score(self._threshold) for _, part in self._memberships(X)])

    def decision_function(self, X: Any) -> FloatArray:
        """Return minus the novelty score, the sign that scikit-learn's detectors have.

        Parameters
        ----------
        X : table of shape (n, p)
            Rows with the columns of `fit`.

        Returns
        -------
        array of shape (n,)
            0 and above: known.

        Examples
        --------
        >>> detector.decision_function([[0.2, -0.1], [-8.0, -7.7]]) >= 0
        array([ True, False])
        """
        return -self.novelty_score(X)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log posterior predictive density of each row.

        Parameters
        ----------
        X : table of shape (n, p)
            Rows with the columns of `fit`.

        Returns
        -------
        array of shape (n,)
            Log densities, in the units of the columns.

        Examples
        --------
        >>> near, far = detector.score_samples([[0.2, -0.1], [100.0, -100.0]])
        >>> bool(near > far)
        True
        """
        # (8.9)  LSE_k [log E[w_k] + log p(y | k)] + log|dz/dy|
        rows, predictive = self._rows(X), self._fitted.predictive
        parts = [log_sum(predictive.log_parts(rows.working(block)), axis=1) for block in rows.blocks()]
        return np.concatenate(parts) + self._fitted.learned.passage.log_volumes(rows)

    @property
    def classes_(self) -> NDArray[Any]:
        """Return the known labels."""
        return self._fitted.learned.classes

    @property
    def categories_(self) -> Categories:
        """Return the columns of categories and their levels."""
        return self._fitted.learned.passage.categories

    @property
    def known_classes_(self) -> KnownClasses:
        """Return what stage 1 learned, in the user's units (of a reduced table what its components can show)."""
        return self._fitted.known

    @property
    def discovery_(self) -> Discovery:
        """Return the last discovery; there is no such attribute before the first one."""
        if self._fitted.discovery is None:
            raise AttributeError(f"this {type(self).__name__} has discovered nothing yet: call `discover`.")
        return self._fitted.discovery

    @property
    def _fitted(self) -> Fitted:
        if self._state is None:
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call `fit` first.")
        return self._state

    @property
    def _columns(self) -> Columns | None:  # type: ignore[override]
        if self._state is None:
            return None
        passage = self._state.learned.passage
        return Columns(passage.kept.size, passage.names)

    @property
    def _threshold(self) -> float:
        """Return the probability of novelty above which a row is novel."""
        found = self._fitted.finding.threshold
        return float(self.threshold) if found is None else found

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def _memberships(self, X: Any) -> Iterator[tuple[slice, Memberships]]:
        return memberships(self._rows(X), self._fitted.predictive)

    def _rows(self, X: Any) -> Rows:
        passage = self._fitted.learned.passage
        return passage.rows(self._more_rows(X))
