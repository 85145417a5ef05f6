"""Batches: rows that arrive one part after the other against one discovery of all of them; writes docs/batches.md.

    python benchmarks/batches.py                      # everything, and the page: about a quarter of an hour of one core
    python benchmarks/batches.py --parts rbf,long     # only looks: some parts; --sets iris,wine: some sets
    python benchmarks/batches.py --page               # the page from what is stored

Last comes a verdict on each line that must hold, of the parts and sets that were run.

Lines are stored in docs/benchmark/batches.csv as they come, with the state of the code: a run goes on where one of the
same state was stopped, and throws away what other states measured, so that all figures of the page are of one. The sets
are those of the team's benchmark, which is not part of this repository: split 1 of each, 9 where nothing is novel.
"""

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from batches_page import ROOT, STORE, verdicts, write_page
from real import bench, names_in
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from vbrand import VBrand
from vbrand.estimators.tuning import Tuning
from vbrand.facts.groups import GroupKind

BATCHES = 10
# rows of a true novel class in a batch from which on its group should be the same
ENOUGH = 10
# rows at hand beside those of a batch, where they should not be all of a set
FEW = 200
# of sets with more rows, so many: the whole must not take long
MOST = 1_000
# unlabelled rows of sets of which the batches come in another order, too, at the most
SHUFFLED = 300
# sets that take longest come last
SLOW = ["digits", "fruit"]
SPLIT, NOTHING_NOVEL = 1, 9
Row = dict[str, Any]


def clusters_of(detector: VBrand, rows: Any) -> Any:
    """Return the group of each row, by the model as it is."""
    return np.concatenate([answers.clusters for _, answers in detector.answers(rows)])


def in_batches(detector: VBrand, rows: Any, parts: list[Any]) -> list[Any]:
    """Return the names of groups batch by batch, "" for known classes, in the order of the rows of each part."""
    names = list[Any]()
    for part in parts:
        found = detector.update(rows[part])
        called = np.array([group.name for group in found.groups], dtype=object)
        names.append(np.where(found.clusters < found.classes.size, "", called[found.clusters]))
    return names


def learned(train: Any, labels: Any, window: int | None = None) -> VBrand:
    """Return a detector that knows the classes; with a window so many rows of earlier batches stay at hand."""
    tuning = Tuning() if window is None else Tuning(window=window)
    return VBrand.tuned(tuning, random_state=0).fit(train, labels)


def same_names(parts: list[Any], names: list[Any], truth: Any, novel: Any, events: Any) -> tuple[int, int, int]:
    """Return in how many (class, batch) pairs a novel class has its usual name, or one tied to it, and all pairs.

    Pairs count in which the class has ten rows and most of them are called novel: else it has no name. The log ties a
    group that is born to the one that most of its rows were in before, and one that is merged to what it is part of.
    """
    kept, tied, pairs = 0, 0, 0
    links = {frozenset((event.group, event.like)) for event in events if event.kind in ("born", "merged")}
    for each in np.unique(truth[novel]).tolist():
        own = [called[truth[part] == each] for part, called in zip(parts, names, strict=True)]
        usual = [name for called in own if called.size >= ENOUGH and (name := _mode(called))]
        whole = _mode(np.concatenate([called[called != ""] for called in own]))
        kept += sum(name == whole for name in usual)
        tied += sum(name == whole or frozenset((name, whole)) in links for name in usual)
        pairs += len(usual)
    return kept, tied, pairs


def _mode(values: Any) -> str:
    found, counts = np.unique(values.astype(str), return_counts=True)
    return str(found[counts.argmax()]) if found.size else ""


def task(dataset: str, split: int = SPLIT) -> Any:
    """Return labelled rows, their classes, unlabelled rows, theirs, and which are novel."""
    return bench().make_task(dataset, split, MOST)


def state_of_code() -> str:
    """Return a name for the code as it is."""
    files = sorted((ROOT / "src").rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


def ten_batches(dataset: str) -> Row:
    """Return how a set in ten batches compares with one discovery of all its rows."""
    train, labels, test, truth, novel = task(dataset)
    start = time.process_time()
    once = learned(train, labels).discover(test)
    middle = time.process_time()
    detector, parts = learned(train, labels), np.array_split(np.arange(truth.size), BATCHES)
    names = in_batches(detector, test, parts)
    seconds = time.process_time() - middle
    own, other = clusters_of(detector, test), float("nan")
    if truth.size <= SHUFFLED:
        shuffled = learned(train, labels)
        in_batches(shuffled, test, np.array_split(np.random.default_rng(1).permutation(truth.size), BATCHES))
        other = adjusted_rand_score(own, clusters_of(shuffled, test))
    kept, tied, pairs = same_names(parts, names, truth, novel, detector.events())
    return {
        "rows": truth.size,
        "with discover": adjusted_rand_score(once.clusters, own),
        "shuffled": other,
        "truth, discover": adjusted_rand_score(truth, once.clusters),
        "truth, batches": adjusted_rand_score(truth, own),
        "same": kept,
        "same or tied": tied,
        "pairs": pairs,
        "seconds, discover": middle - start,
        "seconds, batches": seconds,
    }


def few(dataset: str) -> Row:
    """Return how ten batches compare with one discovery where only the last rows are still at hand."""
    train, labels, test, truth, _ = task(dataset)
    once = learned(train, labels).discover(test)
    detector = learned(train, labels, FEW)
    in_batches(detector, test, np.array_split(np.arange(truth.size), BATCHES))
    own = clusters_of(detector, test)
    return {
        "rows": truth.size,
        "with discover": adjusted_rand_score(once.clusters, own),
        "truth, discover": adjusted_rand_score(truth, once.clusters),
        "truth, batches": adjusted_rand_score(truth, own),
    }


def naming(dataset: str) -> Row:
    """Return the accuracy on the largest novel class once its groups have its name, and with its labels from the start.

    Half of its rows are in the batches, or labelled; the other half are predicted. A third detector has what the names
    say: the rows of these groups, right or wrong, are labelled rows of the class.
    """
    train, labels, test, truth, novel = task(dataset)
    classes, sizes = np.unique(truth[novel], return_counts=True)
    own = np.flatnonzero(truth == classes[sizes.argmax()])
    shown, held = own[::2], own[1::2]
    rest, label = np.setdiff1d(np.arange(truth.size), held), classes[sizes.argmax()]

    detector = learned(train, labels)
    in_batches(detector, test, np.array_split(rest, BATCHES))
    clusters, named, rows = clusters_of(detector, test[rest]), 0, np.zeros(rest.size, dtype=bool)
    later, found = clusters_of(detector, test[held]), np.zeros(held.size, dtype=bool)
    for k, group in enumerate(detector.group_names):
        if k >= np.unique(labels).size and (clusters == k).any() and _mode(truth[rest][clusters == k]) == str(label):
            try:
                detector.join(group, label) if named else detector.name(group, label)
            except ValueError:  # it has no component of its own
                continue
            named, rows, found = named + 1, rows | (clusters == k), found | (later == k)

    def accuracy(each: VBrand) -> float:
        return float((each.predict(test[held]) == label).mean())

    def told(those: Any) -> float:
        rival = learned(np.vstack([train, test[those]]), np.append(labels, np.full(those.size, label)))
        rival.discover(test[np.setdiff1d(rest, those)])
        return accuracy(rival)

    return {
        "rows": held.size,
        "groups": named,
        "of the class": float(np.isin(shown, rest[rows]).mean()),
        "before the name": float(found.mean()),
        "named": accuracy(detector),
        "labelled": told(shown),
        "labelled as named": told(rest[rows]) if named else 0.0,
    }


def quiet(dataset: str) -> Row:
    """Return how many rows are called novel in twenty batches without novelty: as they came, and in the end.

    Groups that stay are those that the last answer counts as novel: neither doubtful nor outliers.
    """
    train, labels, test, truth, _ = task(dataset, NOTHING_NOVEL)
    detector = learned(train, labels)
    names = in_batches(detector, test, np.array_split(np.arange(truth.size), 20))
    told = sum(event.kind == "drifted" for event in detector.events())
    last, groups = clusters_of(detector, test), detector.discovery_.groups
    stay = [k for k, group in enumerate(groups) if group.kind == GroupKind.NOVEL and not group.doubtful]
    return {
        "rows": truth.size,
        "as they came": float(np.mean(np.concatenate(names) != "")),
        "in the end": float((last >= detector.classes_.size).mean()),
        "in groups that stay": float(np.isin(last, stay).mean()),
        "drifted": told,
    }


def appears(dataset: str) -> Row:
    """Return how many of twenty rows of a class that nobody has seen are called novel in their batch."""
    train, labels, test, truth, novel = task(dataset)
    classes, sizes = np.unique(truth[novel], return_counts=True)
    new = np.flatnonzero(truth == classes[sizes.argmax()])[:20]
    parts = np.array_split(np.flatnonzero(~novel), 7)
    last = np.append(parts[6], new)
    names = in_batches(learned(train, labels), test, [*parts[:6], last])[-1]
    alone = in_batches(learned(train, labels), test, [last])[0]
    return {
        "rows": new.size,
        "called novel": float((names[-new.size :] != "").mean()),
        "known called novel": float((names[: -new.size] != "").mean()),
        "alone: called novel": float((alone[-new.size :] != "").mean()),
        "alone: known called novel": float((alone[: -new.size] != "").mean()),
    }


def drawn(seed: str) -> Row:
    """Return the same of simulated streams: nine batches are of three known classes, the tenth has a fourth, too.

    Classes have heavy tails and any shape; in every other stream they are skewed, too.
    """
    rng = np.random.default_rng(int(seed))
    columns = int(rng.integers(3, 9))
    centres = rng.normal(0, 3, (4, columns))
    shapes = rng.normal(size=(4, columns, columns)) / np.sqrt(columns) + np.eye(columns)

    def some(of: int, count: int) -> Any:
        rows = rng.standard_t(5, (count, columns))
        if int(seed) % 2:
            rows[:, 0] = rng.gamma(2, 1, count) - 2
        return centres[of] + rows @ shapes[of]

    train = np.vstack([some(k, 40) for k in range(3)])
    batches = [np.vstack([some(k, 25) for k in range(3)]) for _ in range(10)]
    test = np.vstack([*batches, some(3, 20)])
    parts = [*np.arange(675).reshape(9, 75), np.arange(675, 770)]
    names = in_batches(learned(train, np.repeat(["a", "b", "c"], 40)), test, parts)
    return {
        "rows": 20,
        "called novel": float((names[-1][-20:] != "").mean()),
        "known called novel": float((names[-1][:-20] != "").mean()),
        "known called novel before": float((np.concatenate(names[:-1]) != "").mean()),
    }


def rbf(kernel: str) -> Row:
    """Return the error on a stream of five batches of 1,000 rows; 1,000 of its two largest classes are labelled."""
    rows, classes = (bench().load("rbf")[k] for k in (0, 1))
    known = ["class 0", "class 1"]
    labelled = np.flatnonzero(np.isin(classes, known))[:1_000]
    rest = np.setdiff1d(np.arange(classes.size), labelled)
    truth = np.where(np.isin(classes[rest], known), classes[rest], "novel")
    detector = VBrand(random_state=0, kernel=kernel).fit(rows[labelled], classes[labelled])
    found = [detector.update(rows[rest[part]]).labels for part in np.array_split(np.arange(rest.size), 5)]
    wrong = np.concatenate(found) != truth
    return {"rows": rest.size, "error": float(wrong.mean()), "last batch": float(wrong[-1_000:].mean())}


def long(name: str) -> Row:
    """Return time and memory of batches of 200 simulated rows, early and late in a stream of a hundred."""
    rng = np.random.default_rng(0)

    def some(counts: tuple[int, ...]) -> Any:
        places = ((0, 0, 0), (8, 8, 8), (-8, -8, -8))
        return np.vstack([rng.normal(place, 1, (count, 3)) for place, count in zip(places, counts, strict=True)])

    detector = VBrand(random_state=0).fit(some((60, 60, 0)), np.repeat(["oat", "rye"], 60))
    early, late = range(15, 25), range(90, 100)
    looked_at, seconds, peaks, sizes = {*early, *late}, list[float](), list[int](), list[int]()
    with TemporaryDirectory() as folder:
        for batch in range(100):
            if batch in looked_at:
                tracemalloc.start()
            start = time.process_time()
            detector.update(some((80, 80, 40)))
            seconds.append(time.process_time() - start)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            if batch in (19, 99):
                detector.save(f"{folder}/m.vbrand")
                with open(f"{folder}/m.vbrand", "rb") as file:
                    sizes.append(len(file.read()))
    return {
        "seconds, batches 16 to 25": float(np.median([seconds[batch] for batch in early])),
        "seconds, batches 91 to 100": float(np.median([seconds[batch] for batch in late])),
        "MB at most, batches 16 to 25": max(peaks[batch] for batch in early) / 1e6,
        "MB at most, batches 91 to 100": max(peaks[batch] for batch in late) / 1e6,
        "MB of the model after 20": sizes[0] / 1e6,
        "MB of the model after 100": sizes[1] / 1e6,
        "groups": len(detector.group_names) - 2,
    }


PARTS: dict[str, Callable[[str], Row]] = {
    "rbf": rbf,
    "naming": naming,
    "batches": ten_batches,
    "quiet": quiet,
    "appears": appears,
    "drawn": drawn,
    "long": long,
    "few": few,
}
OF_PART = {
    "drawn": [str(seed) for seed in range(10, 16)],
    "rbf": ["student", "auto"],
    "few": ["olive", "rbf", "vowel"],
    "long": ["simulated"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="", help="only look at some parts")
    parser.add_argument("--sets", default="", help="only look at some sets")
    parser.add_argument("--page", action="store_true", help="run nothing")
    given = parser.parse_args()
    parts, sets = (set(text.split(",")) - {""} for text in (given.parts, given.sets))
    jobs = [(part, name) for part in PARTS for name in OF_PART.get(part) or names_in("data")]
    jobs = [(part, name) for part, name in jobs if (not parts or part in parts) and (not sets or name in sets)]
    looks, state = bool(parts or sets), state_of_code()
    stored = pd.read_csv(STORE).to_dict("records") if STORE.is_file() and not looks else []
    lines = [line for line in stored if given.page or line.get("state") == state]
    done = _done(lines)
    for part, name in [] if given.page else sorted(jobs, key=lambda job: job[1] in SLOW):
        if (part, name) in done:
            continue
        start = time.process_time()
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = PARTS[part](name)
        cost = {"seconds": time.process_time() - start, "day": date.today().isoformat(), "state": state}
        print(part, name, {k: round(v, 3) for k, v in row.items()}, round(cost["seconds"], 1), flush=True)
        lines += [{"part": part, "set": name, "what": what, "value": value, **cost} for what, value in row.items()]
        if not looks:
            pd.DataFrame(lines).to_csv(STORE, index=False, float_format="%.6g")
    if not looks:
        write_page(pd.DataFrame(lines), [f"{part}: {name}" for part, name in jobs if (part, name) not in _done(lines)])
    for says, seen, wanted, holds in verdicts(pd.DataFrame(lines)):
        print(f"{holds:14s}{seen:>8s}  {wanted:15s}  {says}")


def _done(lines: list[Row]) -> set[tuple[str, str]]:
    return {(line["part"], str(line["set"])) for line in lines}


if __name__ == "__main__":
    main()
