"""Batches that arrive one after the other, and what a person says of their groups."""

from abc import abstractmethod
from typing import Any

from vbrand.estimators.fitted import Fitted
from vbrand.estimators.progress import compilation_told
from vbrand.estimators.settings import extremes_told
from vbrand.estimators.stored import Stored
from vbrand.estimators.story import begun
from vbrand.facts.events import EventLog
from vbrand.io.tables.likeness import Given, Likeness
from vbrand.io.tables.validated import more_rows


class Batches(Stored):
    """A detector that goes on from batch to batch."""

    @abstractmethod
    def _updated(self, fitted: Fitted, table: Given) -> Fitted:
        """Return the state after the next batch; nothing is stored yet."""

    def update(self, X: Any) -> Any:
        """Share the rows of the next batch out, given all that earlier ones taught, and return its discovery.

        The rows of earlier batches are not needed. Groups keep their names: `novel 3` of one batch is `novel 3` of all
        later ones. The first batch after `fit` is a discovery; a detector that has discovered a table goes on from it.
        """
        fitted = self._fitted
        self._check_parameters()
        table = Given(more_rows(self, X, self._fitted_columns), Likeness.of(X))
        if table.rows.shape[0] > 1 and (table.rows == table.rows[0]).all():
            raise ValueError("all rows of the batch are equal: there is nothing to learn. Look at how it was made.")
        with compilation_told(self.verbose), extremes_told():
            self._state = self._updated(fitted, table)
        return self._state.discovery

    def events(self) -> EventLog:
        """Return what became of groups, batch after batch."""
        story = begun(self._fitted.finding)
        return EventLog(() if story is None else story.events)
