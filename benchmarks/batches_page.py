"""What benchmarks/batches.py stored -> docs/batches.md, and a verdict on each line that must hold."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "docs" / "benchmark" / "batches.csv"
PAGE = ROOT / "docs" / "batches.md"


def table(lines: pd.DataFrame, part: str) -> pd.DataFrame:
    """Return the lines of a part, one per set."""
    own = lines[lines["part"] == part]
    return own.pivot(index="set", columns="what", values="value")[list(dict.fromkeys(own["what"]))]


def markdown(frame: pd.DataFrame, name: str = "set") -> list[str]:
    """Return a table in Markdown."""
    head = [f"| {name} | " + " | ".join(frame.columns) + " |", "|" + " --- |" * (frame.shape[1] + 1)]
    rows = zip(frame.index, frame.to_numpy(), strict=True)
    return head + [f"| {each} | " + " | ".join(map(_shown, row)) + " |" for each, row in rows]


def _shown(value: float) -> str:
    if value != value:
        return ""
    return f"{value:,.0f}" if value == round(value) and value > 1.0 else f"{value:.3f}"


@dataclass(frozen=True)
class Line:
    """A line that must hold: what it says, the part that tells it, its figure, and what is wanted of that."""

    says: str
    part: str
    figure: Callable[[pd.DataFrame], float]
    wanted: float
    at_most: bool = False

    def holds(self, value: float) -> bool:
        """Return whether a figure is as wanted."""
        return value <= self.wanted if self.at_most else value >= self.wanted


def _ratio(found: pd.DataFrame, what: str) -> float:
    return float(
        found.loc["simulated", f"{what}, batches 91 to 100"] / found.loc["simulated", f"{what}, batches 16 to 25"]
    )


def _missed(found: pd.DataFrame) -> float:
    held = found[found["groups"] > 0]
    return float((held["labelled"] - held["named"]).mean())


LINES = (
    Line("ten batches and one discovery, adjusted Rand index", "batches", lambda t: t["with discover"].mean(), 0.93),
    Line("the same id, of (class, batch) pairs", "batches", lambda t: t["same"].sum() / t["pairs"].sum(), 0.95),
    Line("batches in another order, adjusted Rand index", "batches", lambda t: t["shuffled"].mean(), 0.9),
    Line("named, below labelled from the start", "naming", _missed, 0.02, at_most=True),
    Line(
        "rows of novel groups that stay in streams without novelty, mean over sets",
        "quiet",
        lambda t: t["in groups that stay"].mean(),
        0.005,
        at_most=True,
    ),
    Line(
        "all rows called novel in them in the end, doubtful ones and outliers, too",
        "quiet",
        lambda t: (t["rows"] * t["in the end"]).sum() / t["rows"].sum(),
        0.005,
        at_most=True,
    ),
    Line("the same, mean over sets", "quiet", lambda t: t["in the end"].mean(), 0.005, at_most=True),
    Line("sets whose novelty of batch 7 is found at once", "appears", lambda t: (t["called novel"] >= 0.5).mean(), 1.0),
    Line("rbf as a stream, error", "rbf", lambda t: t.loc["student", "error"], 0.227, at_most=True),
    # what is measured differs by some per cent from run to run
    Line("seconds per batch, late over early", "long", lambda t: _ratio(t, "seconds"), 1.1, at_most=True),
    Line("memory of a batch, late over early", "long", lambda t: _ratio(t, "MB at most"), 1.1, at_most=True),
)


def verdicts(lines: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """Return what each line says, its figure, what is wanted and whether it holds; of parts that were run."""
    found = list[tuple[str, str, str, str]]()
    for line in LINES:
        if line.part in set(lines["part"]):
            value = line.figure(table(lines, line.part))
            wanted = f"{'at most' if line.at_most else 'at least'} {line.wanted:g}"
            found.append((line.says, f"{value:.4f}", wanted, "holds" if line.holds(value) else "DOES NOT HOLD"))
    return found


def write_page(lines: pd.DataFrame, left: list[str]) -> None:
    """Write the page from what was stored of one state of the code; `left` are jobs that were not run."""
    minutes = lines.groupby(["part", "set"])["seconds"].first().sum() / 60
    states = ", ".join(dict.fromkeys(lines["state"]))
    text = [
        "# Batches, measured",
        "",
        f"Written by `benchmarks/batches.py` on {lines['day'].max()}, all of it with one state of the code "
        f"({states}), in {minutes:.0f} minutes of one core. `VBrand()` on real sets of the team: "
        "at most 1,000 rows of each, half of those of known classes labelled.",
    ]
    if left:
        text += ["", f"Stopped before these were run: {'; '.join(left)}."]
    text += ["", "| must hold | seen | wanted | |", "| --- | --- | --- | --- |"]
    text += [f"| {' | '.join(line)} |" for line in verdicts(lines)]
    for part, (heading, section) in SECTIONS.items():
        if part in set(lines["part"]):
            text += ["", f"## {heading}", "", *section(table(lines, part))]
    PAGE.write_text("\n".join([*text, ""]))


def _batches(found: pd.DataFrame) -> list[str]:
    mean, pairs, shuffled = found.mean(), found["pairs"].sum(), found["shuffled"].dropna()
    return [
        "Adjusted Rand index of `predict` on all rows after the last batch with one `discover` of all rows: "
        f"**{mean['with discover']:.3f}** on average (wanted: .93); of batches with the same rows in another "
        f"order, in the {shuffled.size} sets of at most 300 rows: **{shuffled.mean():.3f}** (wanted: .9). All "
        "rows of these sets are still at hand in the last batch, for 2,000 are kept, and are shared out "
        f"again. With the true classes: {mean['truth, discover']:.3f} by one discovery, "
        f"{mean['truth, batches']:.3f} in batches.",
        "",
        "Names: a pair is a true novel class and a batch in which it has ten rows, most of them called novel. The "
        "most frequent name of these rows is the one that the class has most often in all batches in "
        f"**{found['same'].sum():.0f} of {pairs:.0f}** pairs, {found['same'].sum() / pairs:.3f} (wanted: .95). The "
        "others are of classes that are several groups, of which now one and now another has most rows, or that "
        "begin as one group with another class. A group that is born of rows of another says so in the log, and so "
        "does one that becomes part of another: the name is the usual one, or tied to it by the log, in "
        f"{found['same or tied'].sum():.0f} pairs, {found['same or tied'].sum() / pairs:.3f}.",
        "",
        *markdown(found),
    ]


def _few(found: pd.DataFrame) -> list[str]:
    mean = found.mean()
    return [
        "Ten batches with only the last 200 rows at hand instead of 2,000, and statistics of the others: adjusted "
        f"Rand index with one discovery **{mean['with discover']:.3f}**; with the true classes "
        f"{mean['truth, discover']:.3f} by one discovery, {mean['truth, batches']:.3f} in batches.",
        "",
        *markdown(found),
    ]


def _naming(found: pd.DataFrame) -> list[str]:
    held = found[found["groups"] > 0]
    mean = held.mean()
    return [
        "Half of the rows of the largest novel class are in the batches; every group that is mostly this class is "
        f"named, or joined. Accuracy on the other half, in the {len(held)} sets in which there is such a group: "
        f"**{mean['named']:.3f}**; of a detector that had the labels of the first half from the start: "
        f"**{mean['labelled']:.3f}** (wanted: within .02). These groups hold {mean['of the class']:.2f} of the "
        "rows of the class that were shown: names say nothing of the others. Of the other half they hold "
        f"{mean['before the name']:.3f} before they are named: what is missing was not found, and is not lost by "
        "naming. A detector that had the rows of "
        "these groups as labelled ones from the start, which is what the names say: "
        f"**{mean['labelled as named']:.3f}**.",
        "",
        *markdown(found),
    ]


def _quiet(found: pd.DataFrame) -> list[str]:
    share = found["rows"] / found["rows"].sum()
    came, last = (found[what] for what in ("as they came", "in the end"))
    return [
        f"Twenty batches of known classes, {found['rows'].sum():,.0f} rows of {len(found)} sets. Called novel when "
        f"they came: {100 * (share * came).sum():.2f} % of the rows; by the model after the last batch: "
        f"**{100 * (share * last).sum():.2f} %** (wanted: at most .5). As means over sets, in which a small set "
        f"counts as much as a large one: {100 * came.mean():.2f} % and **{100 * last.mean():.2f} %**. Most of these "
        "rows are in no group that stays: they are outliers, or in a group that is said to be doubtful. Novel groups "
        "as the last answer counts them, which are neither, have "
        f"**{100 * (share * found['in groups that stay']).sum():.2f} %** of the rows, "
        f"{100 * found['in groups that stay'].mean():.2f} % as a mean over sets. Said to "
        f"drift: a class in {(found['drifted'] > 0).sum()} of {len(found)} streams, {found['drifted'].sum():.0f} "
        f"times in {20 * len(found)} batches.",
        "",
        *markdown(found),
    ]


def _appears(found: pd.DataFrame) -> list[str]:
    called, alone = found["called novel"], found["alone: called novel"]
    return [
        "Six batches of known classes, then one with 20 rows of a class that nobody has seen (split 1). At least "
        f"half of them are called novel at once in **{(called >= 0.5).sum()} of {len(found)}** sets; on average "
        f"{called.mean():.2f} of them are, and {found['known called novel'].mean():.3f} of the known rows of the "
        f"batch. One discovery of that batch alone: {(alone >= 0.5).sum()} sets, {alone.mean():.2f}, "
        f"{found['alone: known called novel'].mean():.3f}.",
        "",
        *markdown(found),
    ]


def _drawn(found: pd.DataFrame) -> list[str]:
    called = found["called novel"]
    return [
        "Streams drawn from three known classes and a fourth, which has 20 rows in the tenth batch; nothing "
        f"was chosen by them. At least half of the 20 are called novel at once in **{(called >= 0.5).sum()} of "
        f"{len(found)}**; on average {called.mean():.2f} of them are, {found['known called novel'].mean():.3f} of "
        f"the known rows of that batch, and {found['known called novel before'].mean():.4f} of those before.",
        "",
        *markdown(found, "seed"),
    ]


def _rbf(found: pd.DataFrame) -> list[str]:
    return [
        "`rbf`: 1,000 labelled rows of the two largest classes, then five batches of 1,000 rows of all four. "
        "Error: rows that do not get their class, or novelty (wanted: below .227, the best published rival, which "
        f"is shown true labels). By default: **{found.loc['student', 'error']:.3f}**. The classes are blobs with "
        "peaks and heavy tails, which "
        f'`kernel="auto"` sees in the first batch: {found.loc["auto", "error"]:.3f}.',
        "",
        *markdown(found, "kernel"),
    ]


def _long(found: pd.DataFrame) -> list[str]:
    return [
        "200 simulated rows each, of two known classes and a novel one. Time is that of one core; memory is what "
        "Python and numpy take during `update`, traced, which slows it down.",
        "",
        *markdown(found.T.rename(columns={"simulated": "value"}), ""),
    ]


SECTIONS = {
    "batches": ("Ten batches against one discovery", _batches),
    "few": ("Few rows at hand", _few),
    "naming": ("A group that gets a name", _naming),
    "quiet": ("A stream without novelty", _quiet),
    "appears": ("A novelty that appears late", _appears),
    "drawn": ("The same in simulated streams", _drawn),
    "rbf": ("A stream of peaked blobs", _rbf),
    "long": ("A hundred batches", _long),
}
