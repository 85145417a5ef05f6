"""The search by moves: against starts at the true labels, against the paper's restarts, and what it costs."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from vbrand.estimators.paper import paper_settings
from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.rows import Rows
from vbrand.inference.search import Effort, find
from vbrand.inference.starts import from_labels, k_means
from vbrand.model.kernels import KERNELS
from vbrand.model.prior import Prior
from vbrand.stage1.classes import learn_classes
from vbrand.stage1.coordinates import Coordinates
from vbrand.stage1.elicit import Beliefs, elicit
from vbrand.studies.simulate import Simulated, simulate

SHARED = Path(__file__).resolve().parents[2] / "shared"
PUBLISHED = (17021890, 34043780, 51065670, 68087560, 85109450)


def problem(data: Simulated, study: str) -> tuple[Rows, Prior]:
    """Return rows and the study's prior, in working coordinates."""
    settings = paper_settings(study, data.train)
    coordinates = Coordinates.of(data.train)
    known = learn_classes(
        coordinates.inward(data.train),
        data.train_classes,
        scatter=settings["scatter"],
        support_fraction=settings["support_fraction"],
    )
    given = {name: settings[name] for name in settings if name in Beliefs.__dataclass_fields__}
    (kernel,) = KERNELS[settings["kernel"]]
    beliefs = Beliefs(**{**given, "kernel": kernel})
    prior = elicit(known, coordinates.beliefs_inward(beliefs), settings["max_novel"])
    return Rows.plain(coordinates.inward(data.test)), prior


def published(seed: int) -> Simulated:
    folder = SHARED / "oracles" / "ss1_published"
    names = [f"{name}_{seed}_0.5_2.csv" for name in ("Y_training", "labels_training", "Y", "labels_tot")]
    train, train_classes, test, classes = (np.loadtxt(folder / name, delimiter=",") for name in names)
    return Simulated(train, train_classes.astype(int), test, classes.astype(int)[-len(test) :])


def statlog() -> Simulated:
    train, test = (np.loadtxt(SHARED / "data" / "statlog" / f"sat.{part}") for part in ("trn", "tst"))
    train = train[~np.isin(train[:, -1], [2, 5])]
    code = {1: 1, 3: 2, 4: 3, 7: 4, 2: 5, 5: 6}
    return Simulated(
        train[:, :-1],
        np.array([code[c] for c in train[:, -1].astype(int)]),
        test[:, :-1],
        np.array([code[c] for c in test[:, -1].astype(int)]),
    )


def data_sets() -> Iterator[tuple[str, str, Simulated]]:
    if SHARED.is_dir():
        for seed in PUBLISHED:
            yield f"ss1 published {seed}", "ss1", published(seed)
    for study in ("ss1", "ss2_simple", "ss2_complex"):
        for size in (0.5, 1.0, 2.5):
            for columns in (2, 5, 10):
                for seed in (0, 1):
                    name = f"{study} q {size} p {columns} seed {seed}"
                    yield name, study.split("_")[0], simulate(study, seed, size=size, columns=columns)
    for study in ("ss3_low", "ss3_high"):
        for seed in (0, 1, 2):
            yield f"{study} seed {seed}", "ss3", simulate(study, seed)


def timed(run: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = run(*arguments)
    return time.perf_counter() - start, result


def plain_run(rows: Rows, prior: Prior, seed: int) -> Ascent:
    return ascend(rows, prior, k_means(rows, prior, prior.novel, seed))


def groups(prior: Prior, counts: Any) -> int:
    return int((counts[prior.known :] >= 1.0).sum())


def against_truth() -> None:
    print(
        "bound of the search minus that of a start at the true labels; time and sweeps beside plain k-means runs, T=20"
    )
    print(f"{'data set':28} {'gap':>8} {'groups':>6} {'truth':>6} {'time x':>7} {'sweeps':>7} {'plain':>6}")
    gaps, ratios = list[float](), list[float]()
    for name, study, data in data_sets():
        rows, prior = problem(data, study)
        truth = ascend(rows, prior, from_labels(rows, prior, data.test_classes - 1))
        plain, search = [], []
        for seed in range(3):  # taking turns
            plain.append(timed(plain_run, rows, prior, seed))
            search.append(timed(find, rows, prior, Effort(jobs=1), np.random.default_rng(0)))
        found = search[0][1]
        gaps.append(found.best.bound.total - truth.bound.total)
        ratio = np.mean([taken for taken, _ in search]) / np.mean([taken for taken, _ in plain])
        mean_plain = np.mean([ascent.trace.size for _, ascent in plain])
        if study == "ss1":
            ratios.append(ratio)
        print(
            f"{name:28} {gaps[-1]:8.2f} {groups(prior, found.best.statistics.counts):6} "
            f"{groups(prior, truth.statistics.counts):6} {ratio:7.1f} {found.sweeps:7} {mean_plain:6.0f}"
        )
    reached = np.mean(np.array(gaps) >= -0.5)
    print(f"within 0.5 of the truth start or above: {reached:.1%} of {len(gaps)}")
    print(f"SS1: plain runs that a search costs: median {np.median(ratios):.1f}, most {max(ratios):.1f}\n")


def against_restarts() -> None:
    data = statlog()
    rows, prior = problem(data, "statlog")
    find(rows, prior, Effort(jobs=1), np.random.default_rng(0))  # compiled by now
    taken, found = timed(find, rows, prior, Effort(jobs=1), np.random.default_rng(0))
    restarts = Effort(search="restarts", starts=200, jobs=1)
    taken_restarts, best = timed(find, rows, prior, restarts, np.random.default_rng(0))
    bounds = np.array([trace[-1] for trace in best.traces])
    print("Statlog, the paper's priors, one thread")
    print(f"search by moves: bound {found.best.bound.total:,.1f} in {taken:.1f} s")
    print(f"200 restarts: best {bounds.max():,.1f}, median {np.median(bounds):,.1f} in {taken_restarts:.1f} s")
    print(f"gain {found.best.bound.total - bounds.max():,.1f} nats, in 1/{taken_restarts / taken:.0f} of the time\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        against_truth()
        if SHARED.is_dir():
            against_restarts()
