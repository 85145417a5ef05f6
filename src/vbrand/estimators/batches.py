"""Batches that arrive one after the other: update, and what a person says of groups."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

from vbrand.estimators.fitted import Fitted, Story
from vbrand.estimators.progress import compilation_told
from vbrand.estimators.settings import extremes_told
from vbrand.estimators.stored import Stored
from vbrand.estimators.story import begun, first_told
from vbrand.facts.events import EventLog
from vbrand.io.tables.likeness import Given, Likeness
from vbrand.io.tables.validated import more_rows


class Batches(Stored):
    """A detector that goes on from batch to batch."""

    @abstractmethod
    def _discovered_further(self, fitted: Fitted, table: Given, story: Story) -> Fitted:
        """Return the state after a batch that follows others; nothing is stored yet."""

    def update(self, X: Any) -> Any:
        """Share the rows of the next batch out, given all that earlier ones taught, and return its discovery.

        The rows of earlier batches are not needed. Groups keep their names: `novel 3` of one batch is `novel 3` of all
        later ones. The first batch after `fit` is a discovery; a detector that has discovered a table goes on from it.
        """
        fitted = self._fitted
        self._check_parameters()
        table = Given(more_rows(self, X, self._fitted_columns), Likeness.of(X))
        if table.rows.shape[0] > 1 and (table.rows == table.rows[0]).all():
            raise ValueError("all rows of the batch are equal: there is nothing to learn from. Look at how it was made.")

        with compilation_told(self.verbose), extremes_told():
            story = begun(fitted.finding)
            if story is None:
                state = self._discovered(fitted, table)
                state = replace(state, finding=replace(state.finding, story=first_told(state)))
            else:
                state = self._discovered_further(fitted, table, story)
        self._state = state
        return state.discovery

    def events(self) -> EventLog:
        """Return what became of groups, batch after batch."""
        story = begun(self._fitted.finding)
        return EventLog(() if story is None else story.events)
