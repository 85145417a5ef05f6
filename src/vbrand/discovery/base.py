"""What was found: a known class or a novel group for every row, with probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.checks import brief, check_number
from vbrand.discovery.context import Context
from vbrand.discovery.summary import Summary, in_sentences, on_groups
from vbrand.facts.check import UNCHECKED, Check
from vbrand.facts.events import NO_EVENTS, EventKind, EventLog
from vbrand.facts.explain import Explanation
from vbrand.facts.facts import Climb, Facts, facts_of
from vbrand.facts.groups import Group, GroupCount
from vbrand.io.files.provenance import versions
from vbrand.io.files.whole import write_whole
from vbrand.pictures.page import report_html
from vbrand.pictures.plots import Plots
from vbrand.pictures.sketch import map_svg
from vbrand.samples import chunks
from vbrand.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Discovery(ABC):
    """The answer of `discover`.

    `clusters` are 0..J-1 for the known classes in the order of `classes`, and J.. for the novel groups, largest first.
    A group exists if at least one row is labelled with it; the probability of other novel components goes to the
    best group of the row. Where no group exists the columns of `probabilities` are the known classes given that the
    row is known. Groups of fewer than `min_group` rows are outlier groups.

    Attributes
    ----------
    labels : array of shape (n,), the known label of each row, or -1 / "novel"
    clusters : array of shape (n,), the group of each row, by number
    novelty_probability : array of shape (n,), P(novel)
    novelty_score : array of shape (n,), log-odds of novelty above those of the threshold: for ranks
    groups : known classes, then novel groups: name, rows, weight, kind, centre, explanation
    n_groups : mean and interval of the number of novel groups
    check : how far to trust it; None if that was not checked
    log : what became of groups, batch after batch

    Examples
    --------
    >>> found = detector.discover(unknown)
    >>> found.labels[[0, -1]]
    array(['oat', 'novel'], dtype='<U5')
    >>> [group.name for group in found.groups]
    ['oat', 'rye', 'novel 1']
    """

    context: Context = field(repr=False)
    labels: NDArray[Any]  # (n,) known label, or -1 / "novel"
    clusters: IntArray  # (n,)
    novelty_probability: FloatArray  # (n,)
    novelty_score: FloatArray  # (n,) log-odds of novelty minus those of the threshold
    groups: tuple[Group, ...]  # known classes, then novel groups
    n_groups: GroupCount
    check: Check | None = field(default=None, kw_only=True)  # how far to trust it; None if that was not checked
    log: EventLog = field(default=NO_EVENTS, kw_only=True)  # what became of groups, batch after batch

    @property
    @abstractmethod
    def probabilities(self) -> FloatArray:
        """Return probabilities of known classes and novel groups, (n, J + groups); rows sum to 1."""

    @property
    @abstractmethod
    def class_probabilities(self) -> FloatArray:
        """Return probabilities of the known classes and of novelty (last), (n, J + 1); rows sum to 1."""

    @abstractmethod
    def label_draws(self, n_draws: int = 1_000, random_state: Any = None) -> IntArray:
        """Return draws of `clusters`: what `vbrand.partition` works on.

        Parameters
        ----------
        n_draws : int, default 1,000
            How many; of the sampler at most as many, evenly over its chains.
        random_state : int, RandomState or None
            The seed; draws of the sampler need none.

        Returns
        -------
        array of shape (draws, n)
            Known classes are 0..J-1. In draws of the sampler the numbers of novel clusters mean nothing from one draw
            to the next; those of a fit are drawn for each row by its own probabilities.

        Examples
        --------
        >>> found.label_draws(5, random_state=0).shape
        (5, 70)
        """

    @property
    def classes(self) -> NDArray[Any]:
        """Return the known labels, (J,)."""
        return self.context.classes

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return self.context.columns

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was done to the table, in sentences."""
        return self.context.notes

    @property
    def threshold(self) -> float:
        """Return the probability of novelty above which a row is novel."""
        return self.context.threshold

    @property
    def min_group(self) -> int:
        """Return the fewest rows of a novel group; smaller ones are outlier groups."""
        return self.context.min_group

    @property
    def plot(self) -> Plots:
        """Return pictures for notebooks: `plot.map()`, `.profile()`, `.history()` and `.confusion(truth)`."""
        return Plots(self.facts)

    def facts(
        self,
        *,
        source: str = "",
        names: Sequence[str | None] | None = None,
        truth: Any = None,
        scores: tuple[tuple[str, float], ...] = (),
    ) -> Facts:
        """Return the facts that pictures are drawn from.

        Parameters
        ----------
        source : str
            The name of the table.
        names, truth : sequences of length n, optional
            What rows are called, and their true classes.
        scores : pairs of a name and a number
            How good it is.

        Returns
        -------
        Facts
            Small for any table.

        Examples
        --------
        >>> found.facts().rows
        70
        """
        return facts_of(
            self.context.table,
            self.clusters,
            self.novelty_probability,
            self.novelty_score,
            self._class_probabilities_of,
            self.groups,
            self.context.yardstick,
            sentence=repr(self),
            check=self.check,
            count=self.n_groups,
            notes=self.notes,
            threshold=self.threshold,
            climb=self._climb(),
            source=source,
            names=self.context.likeness.names if names is None else names,
            truth=truth,
            scores=scores,
            witnesses=self.context.witnesses,
            log=self.log,
        )

    def report(
        self,
        path: str | PathLike[str],
        *,
        source: str = "",
        names: Sequence[str | None] | None = None,
        truth: Any = None,
    ) -> Path:
        """Write one HTML page to look at, which works offline, and return where it is.

        Parameters
        ----------
        path : path
            Of the page; its folder is made if need be.
        source : str
            The name of the table.
        names : sequence of length n, optional
            What rows are called. Rows of a pandas table are called as its index says.
        truth : array of shape (n,), optional
            True classes, where they are known.

        Returns
        -------
        Path
            Where the page is.

        Examples
        --------
        >>> found.report("page.html").name
        'page.html'
        """
        page = report_html(self.facts(source=source, names=names, truth=truth), self.context.settings, versions())
        write_whole(Path(path), lambda file: file.write(page.encode()))
        return Path(path)

    def to_frame(self) -> Any:
        """Return a data frame with one line per row, in their order.

        Returns
        -------
        data frame
            Of pandas or polars, as the table was, with its index: label, group, `P(novel)` and those of the known
            classes, such as `P(oat)`, which sum to 1, and whether its group is doubtful (empty if nothing was checked).

        Examples
        --------
        >>> found.to_frame()["group"].value_counts().to_dict()
        {'oat': 40, 'novel 1': 30}
        """
        names = np.array([group.name for group in self.groups], dtype=object)
        doubtful = np.array([group.doubtful for group in self.groups])
        chances = self.class_probabilities
        return self.context.likeness.frame(
            {
                "label": self.labels,
                "group": names[self.clusters],
                "P(novel)": self.novelty_probability,
                **{f"P({name})": chances[:, j] for j, name in enumerate(self.classes.tolist())},
                "doubtful": None if self.check is None else doubtful[self.clusters],
            }
        )

    def _class_probabilities_of(self, rows: IntArray) -> FloatArray:
        """Return probabilities of the known classes and of novelty (last) for some rows."""
        return self.class_probabilities[rows]

    def _climb(self) -> Climb | None:
        return None

    def has_rows_of(self, other: "Discovery") -> bool:
        """Return whether another discovery is about the same rows.

        Parameters
        ----------
        other : Discovery
            Of any detector.

        Returns
        -------
        bool
            True if the tables have the same cells in the same order.

        Examples
        --------
        >>> found.has_rows_of(detector.discover(unknown[::-1]))
        False
        """
        own, others = self.context.table, other.context.table
        if own.shape != others.shape:
            return False
        return own is others or all(
            np.array_equal(own[chunk], others[chunk], equal_nan=True) for chunk in chunks(own.shape[0])
        )

    def explain(self, row: int | str) -> Explanation:
        """Return how far a row, or a novel group, lies from the nearest known class, and what makes the distance.

        Parameters
        ----------
        row : int or str
            Its position among the rows that were discovered, or the name of a novel group.

        Returns
        -------
        Explanation
            It prints as a sentence and a line for each column that matters.

        Examples
        --------
        >>> str(found.explain(-1)).split(",")[0]
        'nearest known class: oat'
        """
        if isinstance(row, str):
            novel = {group.name: group.explanation for group in self.groups if group.explanation is not None}
            if row not in novel:
                raise ValueError(f"there is no novel group {brief(row)}; there are: {', '.join(novel) or 'none'}.")
            return novel[row]
        try:
            row = index(row)
        except TypeError:
            raise ValueError(
                f"row is {brief(row)}; the number of a row, or the name of a group, is expected."
            ) from None
        if not -self.labels.size <= row < self.labels.size:
            raise IndexError(
                f"there is no row {row}; the rows that were discovered are numbered from 0 to {self.labels.size - 1}."
            )
        return self.context.yardstick.explain(self.context.table[[row]].astype(np.float64))

    def summary(self) -> "Summary":
        """Return a table of the groups: rows, weight, mean novelty probability, and what each is.

        Below it stands where the novel groups lie beside the known classes, and what was done to the table.

        Returns
        -------
        Summary
            `print` shows it, `to_frame()` gives the table, notebooks show it by themselves.

        Examples
        --------
        >>> print(found.summary())  # doctest: +ELLIPSIS
        30 rows are called novel...
        group       rows  weight  P(novel)  kind
        oat           40  ...  known class
        rye            0  ...  known class
        novel 1       30  ...  novel group
        novel 1: nearest known class: oat, ... standard deviations away (its own rows: about 1...)
        ...
        """
        trust = UNCHECKED if self.check is None else str(self.check)
        trust = "\n".join([trust, *self.cautions])
        return Summary(self.groups, self.notes, trust, self.context.likeness.without_index())

    def select(self, false_share: float = 0.1) -> BoolArray:
        """Return the rows that can be called novel if this share of them may be known after all, (n,).

        Parameters
        ----------
        false_share : float in [0, 1], default 0.1
            The rows are those with the largest P(novel), as many as keep the mean of P(known) at or below this.

        Returns
        -------
        boolean array of shape (n,)
            True: novel.

        Examples
        --------
        >>> found.select(false_share=0.05)[[0, -1]]
        array([False,  True])
        """
        check_number("false_share", false_share, 0.0, 1.0)
        order = np.argsort(-self.novelty_score, kind="stable")
        expected = np.cumsum(1.0 - self.novelty_probability[order]) / np.arange(1, order.size + 1)
        within = np.flatnonzero(expected <= false_share)
        chosen = np.zeros(order.size, dtype=bool)
        if within.size:
            chosen[order[: within[-1] + 1]] = True
        return chosen

    def _repr_html_(self) -> str:
        """Return the sentence, the check, the table of groups and the map, for notebooks: no script is in it."""
        return f"<p><strong>{escape(repr(self))}</strong></p>{self.summary()._repr_html_()}{map_svg(self.facts())}"

    @property
    def cautions(self) -> tuple[str, ...]:
        """Return what the answer may rest on that tells nothing of novelty, in sentences."""
        before = [event.group for event in self.log if event.kind == EventKind.DRIFTED]
        return (*self.context.cautions, *on_groups(self.groups, {*self.context.moved, *before}))

    def __repr__(self) -> str:
        return in_sentences(self.groups, self.context.moved, self.cautions)
