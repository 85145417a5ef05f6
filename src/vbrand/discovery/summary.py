"""The groups of a discovery as a table: text, data frame, HTML."""

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from vbrand.facts.check import UNCHECKED
from vbrand.facts.groups import Group, GroupKind, plural
from vbrand.facts.terms import TERMS
from vbrand.io.tables.likeness import Likeness

# of the distance of a class's own rows: a group that lies no farther away may be this class, if that has moved
_NEAR = 2.0
_NAMED = 3
# of the rows of such a group: a class that has no more is not where it was
_HARDLY_ANY = 0.05


@dataclass(frozen=True)
class Summary:
    """The groups as a table that prints, below the sentence that says how far to trust them.

    `str` gives the text, `to_frame` the table.

    Parameters
    ----------
    groups, notes, trust, likeness
        Known classes and novel groups, what was done to the table, how far to trust it; and how data frames look.

    Examples
    --------
    >>> len(found.summary().groups)
    3
    """

    groups: tuple[Group, ...]
    notes: tuple[str, ...]
    trust: str = UNCHECKED
    likeness: Likeness = field(default_factory=Likeness, compare=False)  # of the table that was discovered

    def to_frame(self) -> Any:
        """Return the groups as a data frame: one line each.

        Returns
        -------
        data frame
            Of pandas or polars, as the table was.

        Examples
        --------
        >>> found.summary().to_frame()["rows"].tolist()
        [40, 0, 30]
        """
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


def in_sentences(groups: tuple[Group, ...], moved: dict[str, float], cautions: tuple[str, ...]) -> str:
    """Return the answer in words: the groups, classes that have moved and by how much, and what else it may rest on."""
    told = [
        f"{name} has moved, or novel rows pass for it: its rows lie {distance:.1f} sd from its labelled rows."
        for name, distance in moved.items()
    ]
    return " ".join([_in_a_sentence(groups), *told, *(f"{caution[0].upper()}{caution[1:]}" for caution in cautions)])


def on_groups(groups: tuple[Group, ...], moved: set[str]) -> list[str]:
    """Return which novel groups may be a known class near by: it has moved, or hardly any row is in its place."""
    rows = {group.name: group.rows for group in groups if group.kind == GroupKind.KNOWN}
    near = dict[str, list[str]]()
    for group in groups:
        why = group.explanation
        if group.kind != GroupKind.NOVEL or why is None or not group.rows or why.distance >= _NEAR * why.typical:
            continue
        if why.nearest in moved:
            near.setdefault(f"{why.nearest}, if it has moved", []).append(group.name)
        elif rows[why.nearest] < _HARDLY_ANY * group.rows:
            near.setdefault(f"{why.nearest}: hardly any row is left in its place, and it is near", []).append(
                group.name
            )
    return [f"{_several(names)} may be {what}." for what, names in near.items()]


def _several(names: list[str]) -> str:
    """Return some names, of many the first ones.

    >>> _several(["novel 1"]), _several(["novel 1", "novel 2", "novel 3", "novel 4", "novel 5"])
    ('novel 1', 'novel 1, novel 2, novel 3 and 2 more')
    """
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _in_a_sentence(groups: tuple[Group, ...]) -> str:
    """Return how many rows belong to known classes, to novel groups, to doubtful ones, and how many are outliers."""
    known = [group.rows for group in groups if group.kind == GroupKind.KNOWN]
    novel = [group.rows for group in groups if group.kind == GroupKind.NOVEL and not group.doubtful]
    doubtful = [group.rows for group in groups if group.kind == GroupKind.NOVEL and group.doubtful]
    outliers = sum(group.rows for group in groups if group.kind == GroupKind.OUTLIER)
    belong = plural(sum(known), "row belongs", "rows belong")
    parts = [f"{belong} to the {plural(len(known), 'known class', 'known classes')}"]
    if novel:
        several = plural(len(novel), "novel group", "novel groups")
        parts.append(f"{sum(novel):,} to {several}" if sum(novel) else f"none to the {several} of before")
    if doubtful:
        one, many = ("doubtful one", "doubtful ones") if novel else ("doubtful group", "doubtful groups")
        parts.append(f"{sum(doubtful):,} to {plural(len(doubtful), one, many)}")
    if not novel and not doubtful:
        parts.append("none to a novel group")
    if outliers:
        parts.append(plural(outliers, "looks like an outlier", "look like outliers"))
    return f"{', '.join(parts)}."
