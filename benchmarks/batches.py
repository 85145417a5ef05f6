"""Ten batches against one discovery of all rows, on the team's benchmark: prints one line per set and their means.

python benchmarks/batches.py                 # all sets, split 1
python benchmarks/batches.py --sets iris,wine --splits 0,1
"""

import argparse
import multiprocessing
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from real import BENCH, bench, names_in
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from vbrand import VBrand

BATCHES = 10
# rows of a true novel class in a batch from which on its group should be the same
ENOUGH = 10
Row = dict[str, Any]


def clusters_of(detector: VBrand, rows: Any) -> Any:
    """Return the group of each row, by the model as it is."""
    return np.concatenate([answers.clusters for _, answers in detector.answers(rows)])


def in_batches(train: Any, labels: Any, test: Any, order: Any) -> tuple[VBrand, list[Any], list[Any]]:
    """Return a detector that saw the rows in ten batches, and the names of groups batch by batch, with their rows."""
    detector = VBrand(random_state=0).fit(train, labels)
    parts = np.array_split(order, BATCHES)
    names = list[Any]()
    for part in parts:
        found = detector.update(test[part])
        called = np.array([group.name for group in found.groups], dtype=object)
        names.append(np.where(found.clusters < found.classes.size, "", called[found.clusters]))
    return detector, parts, names


def same_names(parts: list[Any], names: list[Any], truth: Any, novel: Any) -> tuple[int, int]:
    """Return in how many (class, batch) pairs a novel class has its usual name, and how many there are.

    Pairs count in which the class has ten rows and most of them are called novel: else it has no name.
    """
    kept, pairs = 0, 0
    for each in np.unique(truth[novel]).tolist():
        own = [called[truth[part] == each] for part, called in zip(parts, names, strict=True)]
        usual = [name for called in own if called.size >= ENOUGH and (name := _mode(called))]
        whole = _mode(np.concatenate([called[called != ""] for called in own]))
        kept += sum(name == whole for name in usual)
        pairs += len(usual)
    return kept, pairs


def _mode(values: Any) -> str:
    found, counts = np.unique(values.astype(str), return_counts=True)
    return str(found[counts.argmax()]) if found.size else ""


def compared(job: tuple[str, int]) -> Row:
    """Return how one set in ten batches compares with one discovery of all its rows."""
    dataset, split = job
    train, labels, test, truth, novel = bench().make_task(dataset, split, bench().MAX_N)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        once = VBrand(random_state=0).fit(train, labels).discover(test)
        middle = time.process_time()
        detector, parts, names = in_batches(train, labels, test, np.arange(truth.size))
        seconds = time.process_time() - middle
        shuffled = in_batches(train, labels, test, np.random.default_rng(1).permutation(truth.size))[0]

    own, other = clusters_of(detector, test), clusters_of(shuffled, test)
    kept, pairs = same_names(parts, names, truth, novel)
    return {
        "dataset": dataset,
        "split": split,
        "rows": truth.size,
        "novel": int(novel.sum()),
        "ari_with_discover": adjusted_rand_score(once.clusters, own),
        "ari_shuffled": adjusted_rand_score(own, other),
        "ari_discover": adjusted_rand_score(truth, once.clusters),
        "ari_batches": adjusted_rand_score(truth, own),
        "false_discover": float((once.clusters >= once.classes.size)[~novel].mean()),
        "false_batches": float((own >= once.classes.size)[~novel].mean()),
        "same": kept,
        "pairs": pairs,
        "groups": len(detector.discovery_.groups) - once.classes.size,
        "seconds_discover": middle - start,
        "seconds_batches": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", default="")
    parser.add_argument("--splits", default="1")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    if not BENCH.is_dir():
        sys.exit("the team's benchmark is not beside this clone")
    sets = given.sets.split(",") if given.sets else names_in("data")
    jobs = [(name, int(split)) for name in sets for split in given.splits.split(",")]
    rows = list[Row]()
    with multiprocessing.Pool(given.jobs) as pool:
        for row in pool.imap(compared, jobs):
            rows.append(row)
            print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    table = pd.DataFrame(rows)
    print(table.mean(numeric_only=True).round(3), table["same"].sum() / max(table["pairs"].sum(), 1))


if __name__ == "__main__":
    main()
