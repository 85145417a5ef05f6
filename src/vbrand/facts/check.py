"""How far to trust an answer, in numbers and words: what labelled rows that the fit had not seen say of it."""

from dataclasses import dataclass

import numpy as np

from vbrand.facts.groups import INTERVAL, plural
from vbrand.types import FloatArray, IntArray

# what an answer says of itself where there is no check
UNCHECKED = "this answer was not checked against labelled rows that the fit had not seen."
# share of a group's rows; if more of them may be known, the group is doubtful
_MOSTLY = 0.5
# parts of P(novel) from 0 to 1 in which rows are counted
BINS = 50


@dataclass(frozen=True)
class GroupCheck:
    """What the check says of one novel group."""

    name: str
    rows: int
    false_rows: float  # of them likely known
    interval: tuple[float, float]  # 90 %, in rows
    known_share: float | None = None  # of its rows of all batches, at the most (95 %); None in older files

    @property
    def doubtful(self) -> bool:
        """Return whether the group may well be mostly known rows: more than half of them, in all batches together."""
        share = self.interval[1] / max(self.rows, 1) if self.known_share is None else self.known_share
        return share > _MOSTLY

    def __str__(self) -> str:
        return f"{self.name}: {plural(self.rows, 'row', 'rows')}, {_about(self.false_rows, self.interval)} likely known"


@dataclass(frozen=True)
class Check:
    """How far to trust an answer, by labelled rows that were hidden among the unlabelled ones."""

    novel_rows: int  # called novel
    false_rows: float  # of them likely known
    interval: tuple[float, float]  # 90 %, in rows
    missed_rows: float  # novel rows among those called known, likely
    surely_missed: float  # at least so many, with 95 %
    agreement: float  # share of the rows that stay known, or novel, when a part of the labelled rows is hidden
    by_group: tuple[GroupCheck, ...]
    hidden_rows: int  # labelled rows that were hidden, one part after the other
    unchecked: tuple[str, ...]  # classes with too few rows to hide any
    hidden_counts: tuple[int, ...] = ()  # hidden rows by P(novel) from 0 to 1; older files have none

    @property
    def false_share(self) -> float:
        """Return the share of the rows called novel that are likely known; 0 if there are none."""
        return self.false_rows / max(self.novel_rows, 1)

    @property
    def share_interval(self) -> tuple[float, float]:
        """Return the 90 % interval of that share."""
        low, high = self.interval
        return low / max(self.novel_rows, 1), high / max(self.novel_rows, 1)

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Return the names of groups that may well be mostly known rows."""
        return tuple(group.name for group in self.by_group if group.doubtful)

    def __str__(self) -> str:
        """Return the check in words."""
        if self.novel_rows == 0:
            first = "no row is called novel"
        else:
            called = plural(self.novel_rows, "row is", "rows are")
            first = f"{called} called novel; {_about(self.false_rows, self.interval)} likely known"
        missed = plural(round(self.missed_rows), "novel row is", "novel rows are")
        second = f"; about {missed} likely missed" if self.surely_missed >= max(1.0, 0.5 * self.missed_rows) else ""
        doubt = f" Doubtful: {', '.join(self.doubtful)}." if self.doubtful else ""
        few = f" Too few labelled rows to check: {', '.join(self.unchecked)}." if self.unchecked else ""
        return f"{first}{second}.{doubt}{few}"


def check_of(
    names: tuple[str, ...],
    sizes: IntArray,
    rows: FloatArray,
    known_mass: FloatArray,
    novel_draws: FloatArray,
    *,
    agreement: float,
    hidden_novelty: FloatArray,
    unchecked: tuple[str, ...],
    earlier: tuple[FloatArray, FloatArray] | None = None,
) -> Check:
    """Return the check of an answer.

    `sizes` are the rows of the novel groups, `rows` the same by cell as far as they may be known at all, (groups, C),
    and `known_mass` are those called known, (C,);
    `novel_draws` are draws of the share of each cell's rows that are novel, (draws, C), and `hidden_novelty` is
    P(novel) of the labelled rows while they were hidden. `earlier` are `sizes` and `rows` of earlier batches: a group
    that had many rows is not doubtful because it has one now, nor sure because it has none.
    """
    known = 1.0 - novel_draws.T  # (C, draws)
    false = rows @ known  # (groups, draws)
    before = (np.zeros(sizes.size), np.zeros_like(rows)) if earlier is None else earlier
    most = [_interval(drawn)[1] for drawn in false + before[1] @ known]
    shares = np.array(most) / np.maximum(sizes + before[0], 1.0)
    groups = tuple(
        GroupCheck(name, size, float(drawn.mean()), _interval(drawn), share)
        for name, size, drawn, share in zip(names, sizes.tolist(), false, shares.tolist(), strict=True)
    )
    together, missed = false.sum(axis=0), novel_draws @ known_mass
    return Check(
        novel_rows=sum(group.rows for group in groups),
        false_rows=float(together.mean()),
        interval=_interval(together),
        missed_rows=float(missed.mean()),
        surely_missed=_interval(missed)[0],
        agreement=agreement,
        by_group=groups,
        hidden_rows=hidden_novelty.size,
        unchecked=unchecked,
        hidden_counts=tuple(np.bincount(novelty_bin(hidden_novelty), minlength=BINS).tolist()),
    )


def novelty_bin(novelty: FloatArray) -> IntArray:
    """Return the part of P(novel) from 0 to 1 that each row is counted in.

    >>> novelty_bin(np.array([0.0, 0.03, 1.0]))
    array([ 0,  1, 49])
    """
    return np.minimum((novelty * BINS).astype(np.int64), BINS - 1)


def _interval(draws: FloatArray) -> tuple[float, float]:
    """Return the 90 % interval of a number of rows, in whole rows."""
    # shares of a row add up to one but for their last digits, which must not make a row more
    low, high = np.round(np.quantile(draws, INTERVAL), 6)
    return float(np.floor(low)), float(np.ceil(high))


def _about(rows: float, interval: tuple[float, float]) -> str:
    low, high = (int(end) for end in interval)
    count = round(rows)
    return f"about {count:,} of them ({low:,} to {high:,}) {'is' if count == 1 else 'are'}"
