"""Few labels: 3, 5, 10 and 15 labelled rows per class of four real sets, columns reduced or not.

    python benchmarks/few.py                   # two ways, twenty splits
    python benchmarks/few.py --splits 6 --way "VBrand()" --store FILE
    python benchmarks/few.py --page            # runs nothing

Stores docs/benchmark/few.csv, and writes docs/few.md from it. Of each set some classes are novel (one of three, two of
nine), drawn anew in each split, with at most as many rows as all known ones. `ratio` is `reduce="auto"`: half as many
components as a class has labelled rows, and at least five.
"""

import argparse
import sys
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from real import BENCH, ROOT, STORE
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from vbrand import VBrand

SETS = ("olive", "wine", "seeds", "oslo")
ROWS = (3, 5, 10, 15)
WAYS = ("VBrand()", "ratio", "whole")
Row = dict[str, Any]
HEAD = """| {first} | columns | recall of novel rows | ARI | false novelty | accuracy on known rows |
|---|---|---|---|---|---|"""
INTRODUCTION = """# Few labels

Written by `python benchmarks/few.py`: four real sets (olive, wine, seeds, oslo) of 7 to 25 columns, {splits} splits,
one of three or two of nine classes novel. With 3 or 5 labelled rows per class half of the novel rows are missed; from
10 on answers are good, and more novel rows are found with columns reduced.
Below 10 a note says that what is near such a class is a guess, if its rows are not more than the numbers that describe
its place and scatter: 5 in two columns, 9 in three.
"""


def task(name: str, rows: int, split: int) -> tuple[Any, ...]:
    """Return labelled rows, their classes, unlabelled rows, theirs, and which of those are novel."""
    held = np.load(BENCH / "data" / f"{name}.npz")
    table, classes = held["X"].astype(np.float64), held["y"].astype(str)
    generator = np.random.default_rng([zlib.crc32(name.encode()), rows, split])
    names = np.unique(classes)
    novel = generator.choice(names, 1 if names.size == 3 else 2, replace=False)
    labelled, others = list[Any](), list[Any]()
    for one in np.setdiff1d(names, novel):
        own = generator.permutation(np.flatnonzero(classes == one))
        labelled.append(own[:rows])
        others.append(own[rows:])
    new = generator.permutation(np.flatnonzero(np.isin(classes, novel)))[: sum(map(len, others))]
    train, test = np.concatenate(labelled), np.concatenate([*others, new])
    return table[train], classes[train], table[test], classes[test], np.isin(classes[test], novel)


def detector(way: str, rows: int, columns: int) -> VBrand:
    """Return the detector of a way to treat columns."""
    if way == "VBrand()":
        return VBrand(random_state=0)
    wanted = max(5, rows // 2)
    return VBrand(random_state=0, reduce=wanted if way == "ratio" and columns > wanted else None)


def tested(way: str, name: str, rows: int, split: int) -> Row:
    """Return how good the answer of a way is on one split."""
    train, labels, test, truth, novel = task(name, rows, split)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = detector(way, rows, train.shape[1]).fit(train, labels).discover(test)
    called = found.clusters >= found.classes.size
    return {
        "set": name,
        "rows": rows,
        "split": split,
        "way": way,
        "recall": called[novel].mean(),
        "ari": adjusted_rand_score(truth, found.clusters),
        "false_novelty": called[~novel].mean(),
        "accuracy": (found.labels.astype(str) == truth)[~novel].mean(),
        "reduced": int(any("reduced to" in note for note in found.notes)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--store", type=Path, default=STORE / "few.csv")
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if not given.page:
        run(given.splits, given.way or WAYS[1:], given.store)
    (ROOT / "docs" / "few.md").write_text(page(pd.read_csv(STORE / "few.csv")))


def run(splits: int, ways: list[str], store: Path) -> None:
    """Store the results of all splits, and print their means."""
    rows = list[Row]()
    for split in range(splits):
        for name in SETS:
            rows += [tested(way, name, count, split) for count in ROWS for way in ways]
        print(f"\r{split + 1} of {splits} splits", end="", file=sys.stderr, flush=True)
        pd.DataFrame(rows).to_csv(store, index=False, float_format="%.5g")
    print(file=sys.stderr)
    means = pd.DataFrame(rows).groupby(["rows", "way"]).mean(numeric_only=True).drop(columns="split")
    print(means.round(3).to_string())


def page(rows: pd.DataFrame) -> str:
    """Return the page: means over splits and sets, and by set."""
    words = {"ratio": 'reduced (`reduce="auto"`)', "whole": "not reduced (`reduce=None`)"}
    lines = [INTRODUCTION.format(splits=rows.split.nunique()), HEAD.format(first="labelled rows per class")]
    for (count, way), own in rows.groupby(["rows", "way"]):
        lines.append(line(f"{count}", words.get(way, way), own))
    lines += ["", "By set:", "", HEAD.format(first="set, labelled rows per class")]
    for (name, count, way), own in rows.groupby(["set", "rows", "way"]):
        lines.append(line(f"{name}, {count}", words.get(way, way), own))
    return "\n".join(lines) + "\n"


def line(first: str, way: str, rows: pd.DataFrame) -> str:
    figures = [f"{rows[name].mean():.2f}" for name in ("recall", "ari", "false_novelty", "accuracy")]
    return f"| {first} | {way} | {' | '.join(figures)} |"


if __name__ == "__main__":
    main()
