"""VBrand() on the team's benchmark of real data: all arms and controls, beside stored peers; writes docs/benchmark.md.

    python benchmarks/real.py             # arms, controls, SS1 and Statlog, in one setting
    python benchmarks/real.py --choose    # constants halved and doubled; chosen without each set
    python benchmarks/real.py --whole     # controls, rbf and shuttle with all their rows
    python benchmarks/real.py --page      # runs nothing

Each of the first three stores what it ran as a table in docs/benchmark/. All four write the page, its figures and the
table of the README from what is stored (real_page.py), and print what was wanted beside what was found. `--jobs` is the
number of processes.
"""

import argparse
import importlib.util
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from real_page import BINS, CHECKED, UNCHECKED, wanted, write_page
from scipy import stats
from search import PUBLISHED, published, statlog
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from vbrand import VBrand
from vbrand.discovery.base import Discovery
from vbrand.estimators import learning, variational
from vbrand.estimators.tuning import Tuning
from vbrand.metrics import evaluate
from vbrand.model.kernels import KERNELS, Student
from vbrand.studies.simulate import DESIGNS, Simulated, simulate
from vbrand.trust import check

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT.parent / "shared" / "bench"
STORE = ROOT / "docs" / "benchmark"
PLAIN = (0, 1, 2, 9)
CONTROLS = {"half labelled": (9,), "a quarter labelled": (29,)}
# with P(novel) above this a row counts as surely novel, and the false share that `select` is asked for
SURE, FALSE_SHARE = 0.9, 0.1
Row = dict[str, Any]


def bench() -> Any:
    """Return the benchmark's module."""
    if not BENCH.is_dir():
        sys.exit("the team's benchmark is not beside this clone")
    spec = importlib.util.spec_from_file_location("bench_run", BENCH / "run.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def names_in(folder: str) -> list[str]:
    return sorted(path.stem for path in (BENCH / folder).glob("*.npz"))


# --- one task: a set, a split, a detector ---


def tested(detector: VBrand, dataset: str, split: int, max_n: int) -> Row:
    """Return how good an answer is, how honest its probabilities are, and the CPU seconds of fit and discovery."""
    module = bench()
    train, labels, test, truth, novel = module.make_task(dataset, split, max_n)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        detector.fit(train, labels)
        middle = time.process_time()
        found = detector.discover(test)
        seconds = {"fit_seconds": middle - start, "seconds": time.process_time() - middle}

    groups = np.array([f"novel {k}" for k in found.clusters], dtype=object)
    answers = np.where(found.clusters < found.classes.size, found.labels.astype(object), groups)
    scores = module.evaluate(answers, found.novelty_score, labels, truth, novel)
    return {"rows": truth.size, "novel": int(novel.sum()), **scores, **honesty(found, novel), **seconds}


def honesty(found: Discovery, novel: Any) -> Row:
    """Return what probabilities and check promised, beside the truth: counts of rows."""
    called = found.clusters >= found.classes.size
    sure, chosen = found.novelty_probability > SURE, found.select(false_share=FALSE_SHARE)
    low, high = (np.nan, np.nan) if found.check is None else found.check.interval
    bins = np.minimum((found.novelty_probability * BINS).astype(int), BINS - 1)
    return {
        "called": int(called.sum()),
        "called_false": int((called & ~novel).sum()),
        "promised_false": np.nan if found.check is None else found.check.false_rows,
        "low": low,
        "high": high,
        "sure": int(sure.sum()),
        "sure_false": int((sure & ~novel).sum()),
        "selected": int(chosen.sum()),
        "selected_false": int((chosen & ~novel).sum()),
        **{f"rows_{k}": count for k, count in enumerate(np.bincount(bins, minlength=BINS))},
        **{f"novel_{k}": count for k, count in enumerate(np.bincount(bins[novel], minlength=BINS))},
        **{f"mass_{k}": mass for k, mass in enumerate(np.bincount(bins, found.novelty_probability, BINS))},
    }


def both_ways(job: tuple[str, str, int, int]) -> list[Row]:
    """Return the results of one task with the check and without, one after the other."""
    arm, dataset, split, max_n = job
    detectors = {CHECKED: VBrand(random_state=0), UNCHECKED: VBrand(check=0, random_state=0)}
    return [
        {"arm": arm, "dataset": dataset, "split": split, "method": name, **tested(detector, dataset, split, max_n)}
        for name, detector in detectors.items()
    ]


def with_constants(job: tuple[dict[str, Tuning], str, int]) -> list[Row]:
    """Return the results of one plain task with settings of constants that neither fit nor folds depend on."""
    tunings, dataset, split = job
    rows = list[Row]()
    with ExitStack() as stack:
        for module, name in ((learning, "learn_modes"), (variational, "find"), (check, "hidden_fits")):
            stack.enter_context(patch.object(module, name, Once(getattr(module, name))))
        for name, tuning in tunings.items():
            found = tested(VBrand.tuned(tuning, random_state=0), dataset, split, bench().MAX_N)
            rows.append(
                {"setting": name, "arm": "plain", "dataset": dataset, "split": split, "method": CHECKED} | found
            )
    return rows


class Once:
    """A function that is run the first time; afterwards it has the same answer, and leaves generators as it did."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.done: tuple[Any, list[Any]] | None = None

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Return the answer."""
        generators = [value.bit_generator for value in given if isinstance(value, np.random.Generator)]
        if self.done is None:
            self.done = self.function(*given, **named), [each.state for each in generators]
        answer, states = self.done
        for generator, state in zip(generators, states, strict=True):
            generator.state = state
        return answer


def each_of(task: Callable[..., list[Row]], jobs: list[Any], workers: int) -> Iterator[list[Row]]:
    """Yield the results of all jobs, in their order, and say how far it is."""
    tested(VBrand(random_state=0), "iris", 0, 0)  # compiles; workers inherit it
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for done, rows in enumerate(pool.imap(task, jobs), start=1):
            print(f"\r{done} of {len(jobs)} tasks", end="", file=sys.stderr, flush=True)
            yield rows
    print(file=sys.stderr)


def stored(name: str, rows: list[Row]) -> None:
    STORE.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(STORE / f"{name}.csv", index=False, float_format="%.5g")


# --- what is run ---


def run_arms(workers: int) -> None:
    """Store results on all arms and controls, on SS1 and on Statlog."""
    module = bench()
    arms = {"plain": PLAIN, **{arm: tuple(map(int, splits.split(","))) for arm, splits in module.ARMS.items()}}
    jobs = [(arm, name, split, module.MAX_N) for arm in arms for name in names_in("data") for split in arms[arm]]
    jobs += [
        (arm, name, split, module.MAX_N)
        for arm, splits in CONTROLS.items()
        for name in names_in("controls")
        for split in splits
    ]
    rows = [row for rows in each_of(both_ways, jobs, workers) for row in rows]
    stored("arms", [*rows, *simulated(), *satellite()])


def run_whole(workers: int) -> None:
    """Store results with all rows: the controls, and the two sets that answers are known to suffer on."""
    jobs = [(arm, name, split, 0) for arm, (split,) in CONTROLS.items() for name in names_in("controls")]
    jobs += [("plain", name, split, 0) for name in ("rbf", "shuttle") for split in PLAIN]
    stored("whole", [row for rows in each_of(both_ways, jobs, workers) for row in rows])


def run_constants(workers: int) -> None:
    """Store results on the plain splits for each setting of the constants."""
    of_check, of_fit = settings()
    places = [(name, split) for name in names_in("data") for split in PLAIN]
    jobs = [(of_check, *place) for place in places]
    jobs += [({name: tuning}, *place) for name, tuning in of_fit.items() for place in places]
    rows = list[Row]()
    for done, found in enumerate(each_of(with_constants, jobs, workers), start=1):
        rows += found
        if done % len(places) == 0:  # a run that is stopped leaves whole settings
            stored("choose", rows)


def settings() -> tuple[dict[str, Tuning], dict[str, Tuning]]:
    """Return settings in which a constant that a set could have chosen is halved or doubled, one at a time.

    First the defaults and constants of the check that neither fit nor folds depend on, then those of the fit.
    """
    tuning = Tuning()
    of_check, of_fit = {"defaults": tuning}, dict[str, Tuning]()
    for word, factor in (("halved", 0.5), ("doubled", 2.0)):
        for name in ("cells", "cell_rows", "cell_witnesses", "vague", "shift", "novel_share"):
            value = getattr(tuning.check, name)
            changed = replace(tuning.check, **{name: type(value)(factor * value)})
            of_check[f"{name} {word}"] = replace(tuning, check=changed)
        for name in ("nothing_in_known",):
            value = getattr(tuning.check, name)
            odds = factor * value / (1.0 - value)
            changed = replace(tuning.check, **{name: odds / (1.0 + odds)})
            of_check[f"odds of {name} {word}"] = replace(tuning, check=changed)
        for name in ("strength", "columns_per_row"):
            of_stage1 = replace(tuning.stage1, **{name: factor * getattr(tuning.stage1, name)})
            of_fit[f"{name} {word}"] = replace(tuning, stage1=of_stage1)
        (student,) = KERNELS["student"]
        assert isinstance(student, Student)
        of_fit[f"tail {word}"] = replace(tuning, kernels={**KERNELS, "student": (Student(factor * student.dof),)})
    return of_check, of_fit


def bayes_rule(data: Simulated) -> Any:
    """Return the likeliest class of each test row under the true parameters of SS1."""
    design = DESIGNS["ss1"]
    scores = [
        np.log(size) + stats.multivariate_normal(design.means[k], design.covariances[k]).logpdf(data.test)
        for k, size in enumerate(design.test_sizes)
    ]
    return np.argmax(scores, axis=0)


def simulated() -> list[Row]:
    """Return ARI on SS1 (five published sets, twenty simulated, q .5, p 2) beside the Bayes rule."""
    sets = {f"published {seed}": published(seed) for seed in PUBLISHED}
    sets |= {f"simulated {seed}": simulate("ss1", seed, size=0.5) for seed in range(20)}
    rows = list[Row]()
    for name, data in sets.items():
        found = VBrand(random_state=0).fit(data.train, data.train_classes).discover(data.test)
        for method, clusters in ((CHECKED, found.clusters), ("Bayes rule", bayes_rule(data))):
            ari = adjusted_rand_score(data.test_classes, clusters)
            rows.append({"arm": "ss1", "dataset": name, "split": 0, "method": method, "ari": ari})
    return rows


def satellite() -> list[Row]:
    """Return ARI and F1 on the satellite data as the paper has them."""
    soils = statlog()
    found = VBrand(random_state=0).fit(soils.train, soils.train_classes).discover(soils.test)
    scores = evaluate(soils.test_classes, found)
    where = {"arm": "statlog", "dataset": "statlog", "split": 0, "method": CHECKED}
    return [{**where, "ari": scores.ari, "f1": scores.novelty_f1}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--choose", dest="run", action="store_const", const=run_constants)
    what.add_argument("--whole", dest="run", action="store_const", const=run_whole)
    what.add_argument("--page", dest="run", action="store_const", const=lambda workers: None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.set_defaults(run=run_arms)
    given = parser.parse_args()

    given.run(given.jobs)
    peers = pd.read_csv(BENCH / "peers.csv")
    write_page(STORE, peers, ROOT / "docs" / "benchmark.md", ROOT / "README.md")
    print("\n".join(wanted(pd.read_csv(STORE / "arms.csv"))))


if __name__ == "__main__":
    main()
