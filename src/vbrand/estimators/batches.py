"""Batches that arrive one after the other, and what a person says of their groups."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vbrand.estimators.fitted import Fitted, Learned, Story
from vbrand.estimators.gaps import with_cells
from vbrand.estimators.naming import forgotten, group_names, joined, members, named, renamed
from vbrand.estimators.progress import compilation_told
from vbrand.estimators.repeated import samples_of
from vbrand.estimators.settings import extremes_told
from vbrand.estimators.stored import Stored
from vbrand.estimators.story import afresh, begun, empty, log_of
from vbrand.facts.events import EventLog
from vbrand.inference.batches import Further
from vbrand.inference.rows import Rows
from vbrand.io.tables.categories import recoded
from vbrand.io.tables.likeness import Given, Likeness
from vbrand.io.tables.validated import more_rows
from vbrand.types import IntArray


@dataclass(frozen=True)
class Task:
    """Rows to be shared out, and what is known before."""

    learned: Learned
    table: Given  # as the user has it
    rows: Rows  # those of it that count, as the model sees them
    generator: np.random.Generator
    member: IntArray | None = None  # (n,) the known class of each, -1 where it is not known; None: of none


class Batches(Stored):
    """A detector that goes on from batch to batch."""

    _takes_sources = True

    @abstractmethod
    def _found(self, task: Task, view: int, story: Story | None) -> Further:
        """Return the best fit with the classes of a view to the rows of a task, after earlier batches."""

    @abstractmethod
    def _answered(self, task: Task, view: int, fit: Further, story: Story | None) -> Fitted:
        """Return the state after the fit of a view: what its components mean, and what that says of the rows."""

    def update(self, X: Any, groups: Any = None, labels: Any = None) -> Any:
        """Share the rows of the next batch out, given all that earlier ones taught, and return its discovery.

        The rows of earlier batches are not needed. Groups keep their names: `novel 3` of one batch is `novel 3` of all
        later ones. The first batch after `fit` is a discovery; a detector that has discovered a table goes on from it.

        Parameters
        ----------
        X : table of shape (n, p)
            The rows of the batch, with the columns of `fit`.
        groups : array of shape (n,), optional
            The sample that each row is of, as in `discover`.
        labels : array of shape (n,), optional
            Known classes of some rows, as of control samples, None for the others: they teach nothing, but tell whether
            classes have moved.

        Returns
        -------
        Discovery
            Of the rows of this batch.

        Examples
        --------
        >>> rng = np.random.default_rng(1)
        >>> detector.update(np.vstack([rng.normal(8, 1, (20, 2)), rng.normal(-8, 1, (10, 2))]))
        20 rows belong to the 2 known classes, 10 to 1 novel group.
        """
        fitted = self._fitted
        self._check_parameters()
        numbered = recoded(X, fitted.learned.passage.categories, self._fitted_columns)
        rows = more_rows(self, numbered, self._fitted_columns)
        if rows.shape[0] > 1 and (rows == rows[0]).all():
            raise ValueError("all rows of the batch are equal: there is nothing to learn. Look at how it was made.")
        member = None if labels is None else members(fitted.learned, labels, rows.shape[0])
        samples, known = samples_of(groups, rows.shape[0]), fitted.learned
        table = self._given(rows, Likeness.of(X), samples, known)
        with compilation_told(self.verbose), extremes_told():
            self._state = self._updated(fitted, table, member)
        return self._state.discovery

    def name(self, group: str, label: Any) -> None:
        """Make a group a known class, in place: `classes_` grows, and later answers use it.

        Parameters
        ----------
        group : str
            What the group is called, such as "novel 1".
        label : str or int
            What it is, as the other labels are: text or a whole number.

        Examples
        --------
        >>> detector.name("novel 1", "millet")
        >>> detector.predict([[-8.0, -7.7]])
        array(['millet'], dtype='<U6')
        """
        self._state = named(self._fitted, group, label)

    def rename(self, label: Any, other: Any) -> None:
        """Call a known class otherwise, in place.

        Parameters
        ----------
        label, other : str or int
            What it was called, and what it is called from now on.

        Examples
        --------
        >>> detector.rename("oat", "wild oat")
        >>> detector.classes_
        array(['wild oat', 'rye'], dtype='<U8')
        """
        self._state = renamed(self._fitted, label, other)

    def join(self, group: str, label: Any) -> None:
        """Make a group part of a known class, in place: it is that, too.

        Parameters
        ----------
        group : str
            What the group is called, such as "novel 1".
        label : str or int
            The known class.

        Examples
        --------
        >>> detector.join("novel 1", "rye")
        >>> detector.predict([[8.0, 8.0], [-8.0, -7.7]])
        array(['rye', 'rye'], dtype='<U5')
        """
        self._state = joined(self._fitted, group, label)

    def forget(self, group: str) -> None:
        """Make a group none, in place: its rows are outliers, and what they taught is dropped.

        Parameters
        ----------
        group : str
            What the group is called, such as "novel 1".

        Examples
        --------
        >>> detector.forget("novel 1")
        >>> detector.group_names
        ['oat', 'rye']
        """
        self._state = forgotten(self._fitted, group)

    @property
    def keeps_rows(self) -> bool:
        """Return whether labelled rows are at hand, by which answers are checked."""
        return self._fitted.learned.witnesses is not None

    @property
    def group_names(self) -> list[str]:
        """Return what known classes and living groups are called, in the order of `clusters`."""
        return group_names(self._fitted)

    def events(self) -> EventLog:
        """Return what became of groups, batch after batch.

        Returns
        -------
        EventLog
            In order: each event has its batch, kind, group and number of rows.

        Examples
        --------
        >>> [(event.batch, event.kind.value, event.group, event.rows) for event in detector.events()]
        [(1, 'born', 'novel 1', 30)]
        """
        return log_of(begun(self._fitted.finding))

    def _discovered(self, fitted: Fitted, table: Given) -> Fitted:
        views = enumerate(fitted.learned.views)
        stories = {view: afresh(fitted.finding.story, known.rows.size) for view, (_, known) in views}
        return self._best_of(fitted.learned, table, stories)

    def _updated(self, fitted: Fitted, table: Given, member: IntArray | None) -> Fitted:
        story, chosen, views = begun(fitted.finding), fitted.finding.chosen, enumerate(fitted.learned.views)
        columns = fitted.learned.passage.coordinates.centre.size
        if story is None:
            stories = {view: empty(known.rows.size, columns) for view, (_, known) in views}
            return self._best_of(fitted.learned, table, stories, member)
        return self._best_of(fitted.learned, table, {chosen: story}, member)

    def _best_of(
        self, learned: Learned, table: Given, stories: Mapping[int, Story | None], member: IntArray | None = None
    ) -> Fitted:
        """Return the state after the best fit of a table, of those with the classes of some views."""
        generator = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        table = with_cells(table, learned.passage.used)
        rows = learned.passage.rows(table.rows if table.counted is None else table.rows[table.counted])
        labelled = member if member is None or table.counted is None else member[table.counted]
        task = Task(learned, table, rows, generator, labelled)
        fits = {view: self._found(task, view, story) for view, story in stories.items()}
        chosen = max(fits, key=lambda view: fits[view].found.best.bound.total)
        return self._answered(task, chosen, fits[chosen], stories[chosen])
