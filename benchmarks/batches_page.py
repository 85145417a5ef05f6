"""What benchmarks/batches.py stored -> docs/batches.md."""

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
    return f"{value:,.0f}" if value == round(value) and value > 1.0 else f"{value:.3f}"


def write_page(lines: pd.DataFrame) -> None:
    """Write the page from what is stored; parts that are not stored are left out."""
    text = [
        "# Batches, measured",
        "",
        "Written by `benchmarks/batches.py`: `VBrand()` on real sets of the team, at most 2,000 rows of each.",
    ]
    for part, (heading, section) in SECTIONS.items():
        if part in set(lines["part"]):
            found = table(lines, part)
            sets = [_measured(lines[lines["part"] == part]), ""]
            text += ["", f"## {heading}", "", *sets, *section(found)]
    PAGE.write_text("\n".join([*text, ""]))


def _measured(own: pd.DataFrame) -> str:
    """Return what was measured on the last day, and what is older: lines without a day are of earlier code."""
    days = own.assign(day=own["day"].fillna("")).groupby("set")["day"].first()
    last, older = (sorted(days.index[chosen]) for chosen in (days == days.max(), days < days.max()))
    if not days.max():
        return f"Measured with earlier code: {', '.join(last)}."
    text = f"Measured {days.max()}: {', '.join(last)}."
    return f"{text} With earlier code: {', '.join(older)}." if older else text


def _batches(found: pd.DataFrame) -> list[str]:
    mean, pairs = found.mean(), found["pairs"].sum()
    return [
        "Adjusted Rand index of `predict` on all rows after the last batch with one `discover` of all rows: "
        f"**{mean['with discover']:.3f}** on average (wanted: .93); of batches with the same rows in another order: "
        f"**{mean['shuffled']:.3f}** (wanted: .9). These sets have at most 2,000 rows, so in the last batch "
        "all of them "
        "are still at hand and are shared out again. With only the last 200 at hand, and statistics of the others: "
        f"{mean['few at hand']:.3f}. With the true classes: {mean['truth, discover']:.3f} by one discovery, "
        f"{mean['truth, batches']:.3f} in batches, {mean['truth, few at hand']:.3f} with 200 rows at hand.",
        "",
        "Names: a pair is a true novel class and a batch in which it has ten rows, most of them called "
        "novel. The most "
        "frequent name of these rows is the one that the class has most often in all batches in "
        f"**{found['same'].sum():.0f} "
        f"of {pairs:.0f}** pairs, {found['same'].sum() / pairs:.3f} (wanted: .95). The others are of "
        "classes that one "
        "discovery finds as several groups, too: which of them has most rows differs from batch to batch.",
        "",
        *markdown(found),
    ]


def _naming(found: pd.DataFrame) -> list[str]:
    held = found[found["groups"] > 0]
    return [
        "Half of the rows of the largest novel class are in the batches; every group that is mostly this "
        "class is named, "
        f"or joined. Accuracy on the other half, in the {len(held)} sets in which there is such a group: "
        f"**{held['named'].mean():.3f}**; of a detector that had the labels of the first half from the start: "
        f"**{held['labelled'].mean():.3f}** (wanted: within .02).",
        "",
        *markdown(found),
    ]


def _quiet(found: pd.DataFrame) -> list[str]:
    return [
        "Twenty batches of known classes. Called novel when they came: "
        f"{100 * found['as they came'].mean():.2f} % of the "
        "rows (mean over sets); by the model after the last batch: "
        f"**{100 * found['in the end'].mean():.2f} %** (wanted: "
        f"at most .5). Said to drift: a class in {(found['drifted'] > 0).sum()} of {len(found)} streams, "
        f"{found['drifted'].sum():.0f} times in {20 * len(found)} batches.",
        "",
        *markdown(found),
    ]


def _appears(found: pd.DataFrame) -> list[str]:
    return [
        "Six batches of known classes, then one with 20 rows of a class that nobody has seen (split 1). At "
        "least half of "
        f"them are called novel at once in **{(found['called novel'] >= 0.5).sum()} of {len(found)}** sets; "
        "on average "
        f"{found['called novel'].mean():.2f} of them are.",
        "",
        *markdown(found),
    ]


def _rbf(found: pd.DataFrame) -> list[str]:
    return [
        "`rbf`: 1,000 labelled rows of the two largest classes, then five batches of 1,000 rows of all "
        "four. Error: rows "
        "that do not get their class, or novelty (wanted: below .227, the best published rival, which is shown true "
        "labels). By default: "
        f"**{found.loc['student', 'error']:.3f}**. The classes are blobs with peaks and heavy tails, which "
        f'`kernel="auto"` sees in the first batch: {found.loc["auto", "error"]:.3f}.',
        "",
        *markdown(found, "kernel"),
    ]


def _long(found: pd.DataFrame) -> list[str]:
    return [
        "200 simulated rows each, of two known classes and a novel one. Time is that of one core; memory is "
        "what Python "
        "and numpy take during `update`, traced, which slows it down.",
        "",
        *markdown(found.T.rename(columns={"simulated": "value"}), ""),
    ]


SECTIONS = {
    "batches": ("Ten batches against one discovery", _batches),
    "naming": ("A group that gets a name", _naming),
    "quiet": ("A stream without novelty", _quiet),
    "appears": ("A novelty that appears late", _appears),
    "rbf": ("A stream of peaked blobs", _rbf),
    "long": ("A hundred batches", _long),
}
