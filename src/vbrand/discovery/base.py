"""What was found: a known class or a novel group for every row, with probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.checks import check_number
from vbrand.facts.check import UNCHECKED, Check
from vbrand.facts.events import NO_EVENTS, EventLog
from vbrand.facts.explain import Explanation, Yardstick
from vbrand.facts.facts import Climb, Facts, facts_of
from vbrand.facts.groups import Group, GroupCount, GroupKind, plural
from vbrand.facts.terms import TERMS
from vbrand.io.files.provenance import versions
from vbrand.io.files.whole import write_whole
from vbrand.io.tables.likeness import Likeness
from vbrand.pictures.page import report_html
from vbrand.pictures.plots import Plots
from vbrand.pictures.sketch import map_svg
from vbrand.samples import chunks
from vbrand.stage1.lessons import Witnesses
from vbrand.trust.drift import Drift
from vbrand.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Context:
    """What a discovery is about: the rows, the known classes, and the limits for novel rows and groups."""

    table: Any  # (n, p) in the user's units: an array, or rows that lie on disk
    yardstick: Yardstick  # the known classes as they are after the discovery
    columns: tuple[str, ...]
    threshold: float  # rows with a larger P(novel) are novel
    min_group: int  # novel groups of fewer rows are outlier groups
    notes: tuple[str, ...]  # what was done to the table, in sentences
    likeness: Likeness = field(default_factory=Likeness)  # of the table as the user has it
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the detector, as files hold them
    witnesses: Witnesses | None = None  # labelled rows, where they are at hand
    drifts: tuple[Drift, ...] = ()  # classes whose rows are not where their labelled rows were

    @property
    def classes(self) -> NDArray[Any]:
        """Return the known labels, (J,)."""
        return self.yardstick.classes


@dataclass(frozen=True, eq=False)
class Discovery(ABC):
    """The answer of `discover`.

    `clusters` are 0..J-1 for the known classes in the order of `classes`, and J.. for the novel groups, largest first.
    A group exists if at least one row is labelled with it; the probability of other novel components goes to the
    best group of the row. Where no group exists the columns of `probabilities` are the known classes given that the
    row is known. Groups of fewer than `min_group` rows are outlier groups.
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
        """Return draws of `clusters`, (draws, n): what `vbrand.partition` works on."""

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

        `source` is the name of the table, `names` and `truth` have one value per row, `scores` tell how good it is.
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

        `source` is the name of the table; `names` and `truth` have one value per row. Rows of a pandas table are called
        as its index says.
        """
        page = report_html(self.facts(source=source, names=names, truth=truth), self.context.settings, versions())
        write_whole(Path(path), lambda file: file.write(page.encode()))
        return Path(path)

    def to_frame(self) -> Any:
        """Return a data frame with one line per row, in their order: label, group, probabilities, doubtful or not.

        It is of pandas or polars, as the table was, and has the index of the table. `P(novel)` and those of the known
        classes, such as `P(oat)`, sum to 1. `doubtful` rows are those of doubtful groups; empty if nothing was checked.
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
        """Return whether another discovery is about the same rows."""
        own, others = self.context.table, other.context.table
        if own.shape != others.shape:
            return False
        return own is others or all(
            np.array_equal(own[chunk], others[chunk], equal_nan=True) for chunk in chunks(own.shape[0])
        )

    def explain(self, row: int) -> Explanation:
        """Return how far a row lies from the nearest known class, and the columns that make the distance.

        `row` is its position among the rows that were discovered.
        """
        if not -self.labels.size <= row < self.labels.size:
            raise IndexError(
                f"there is no row {row}; the rows that were discovered are numbered from 0 to {self.labels.size - 1}."
            )
        return self.context.yardstick.explain(self.context.table[[row]].astype(np.float64))

    def summary(self) -> "Summary":
        """Return a table of the groups: rows, weight, mean novelty probability, and what each is.

        Below it stands where the novel groups lie beside the known classes, and what was done to the table.
        """
        trust = UNCHECKED if self.check is None else str(self.check)
        return Summary(self.groups, self.notes, trust, self.context.likeness.without_index())

    def select(self, false_share: float = 0.1) -> BoolArray:
        """Return the rows that can be called novel if this share of them may be known after all, (n,).

        They are the rows with the largest P(novel), as many as keep the mean of P(known) at or below `false_share`.
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

    def __repr__(self) -> str:
        known = int((self.clusters < self.classes.size).sum())
        novel = [group.rows for group in self.groups if group.kind == GroupKind.NOVEL and not group.doubtful]
        doubtful = [group.rows for group in self.groups if group.kind == GroupKind.NOVEL and group.doubtful]
        outliers = sum(group.rows for group in self.groups if group.kind == GroupKind.OUTLIER)
        parts = [
            f"{plural(known, 'row belongs', 'rows belong')} to the "
            f"{plural(self.classes.size, 'known class', 'known classes')}",
            f"{sum(novel):,} to {plural(len(novel), 'novel group', 'novel groups')}",
        ]
        if doubtful:
            parts.append(f"{sum(doubtful):,} to {plural(len(doubtful), 'doubtful one', 'doubtful ones')}")
        if outliers:
            parts.append(plural(outliers, "looks like an outlier", "look like outliers"))
        moved = [
            f" {self.classes[drift.member]!s} has moved: its rows lie {drift.distance:.1f} sd from its labelled rows."
            for drift in self.context.drifts
        ]
        return f"{', '.join(parts)}.{''.join(moved)}"


@dataclass(frozen=True)
class Summary:
    """The groups as a table that prints, below the sentence that says how far to trust them.

    `str` gives the text, `to_frame` the table.
    """

    groups: tuple[Group, ...]
    notes: tuple[str, ...]
    trust: str = UNCHECKED
    likeness: Likeness = field(default_factory=Likeness, compare=False)  # of the table that was discovered

    def to_frame(self) -> Any:
        """Return the groups as a data frame, of pandas or polars, as the table was: one line each."""
        columns = {
            "group": [group.name for group in self.groups],
            "rows": [group.rows for group in self.groups],
            "weight": [group.weight for group in self.groups],
            "P(novel)": [group.novelty_probability for group in self.groups],
            "kind": [str(group.kind) for group in self.groups],
            "doubtful": [group.doubtful for group in self.groups],
        }
        return self.likeness.frame({name: np.array(values) for name, values in columns.items()})

    def __str__(self) -> str:
        width = max(5, *(len(group.name) for group in self.groups))
        digits = max(7, *(len(f"{group.rows:,}") for group in self.groups))
        lines = [self.trust, f"{'group':{width}}  {'rows':>{digits}}  {'weight':>6}  {'P(novel)':>8}  kind"]
        lines += [
            f"{g.name:{width}}  {g.rows:>{digits},}  {g.weight:>6.3f}  {g.novelty_probability:>8.3f}  {g.what}"
            for g in self.groups
        ]

        for group in self.groups:
            if group.kind == GroupKind.NOVEL and group.explanation is not None:
                lines.append(f"{group.name}: {group.explanation}")
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        tips = {"weight": TERMS["share"], "P(novel)": TERMS["P(novel)"]}
        names = ("group", "rows", "weight", "P(novel)", "kind")
        head = "".join(f'<th title="{escape(tips.get(name, ""))}">{name}</th>' for name in names)
        body = "".join(
            f"<tr><td>{escape(g.name)}</td><td>{g.rows:,}</td><td>{g.weight:.3f}</td>"
            f"<td>{g.novelty_probability:.3f}</td><td>{g.what}</td></tr>"
            for g in self.groups
        )

        below = [f"{g.name}: {g.explanation}" for g in self.groups if g.kind == GroupKind.NOVEL]
        notes = "".join(f"<pre>{escape(note)}</pre>" for note in (*below, *self.notes))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        told = f"<details><summary>Where novel groups lie, and what was done</summary>{notes}</details>"
        return f"<p>{escape(self.trust)}</p>{table}{told}"
