"""Tables as they are: rounded, with copies, with replicates, skewed; simulated classes. Writes docs/tables.md.

    python benchmarks/tables.py --seeds 3

Four known classes of 200 labelled rows and one novel one, in four columns. Rounded tables have 30,000 unlabelled rows,
skewed ones 35,000, those with copies or replicates 2,000 samples.
"""

import argparse
import sys
import warnings
from typing import Any

import numpy as np
from real import ROOT
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from vbrand import VBrand

KNOWN, LABELLED, COLUMNS = 4, 200, 4
# standard deviations between centres of classes, along a column; of the error of replicates
APART, ERROR = 6.0, 0.05
# of the logarithms of scales of skewed classes
SKEWED_APART = 2.0
INTRODUCTION = """# Tables as they are

Written by `python benchmarks/tables.py`: Gaussian classes of standard deviations between .6 and 1.6, four known and one
novel, 200 labelled rows per class, means over {seeds} simulated tables. "Same labels": the share of rows with the label
that they have in the table as it was measured. Columns of skewed classes are independent Gamma(2) variables, or
log-normal ones (standard deviation .8 of the logarithm); classes differ in their scales, whose logarithms are Gaussian
with standard deviation {skewed_apart:g}.

| table | false novelty | novel rows found | ARI | same labels |
|---|---|---|---|---|"""
Table = tuple[Any, Any, Any, Any]


def simulated(seed: int, rows: int) -> Table:
    """Return labelled rows, their classes, unlabelled rows, and theirs; the last class is novel."""
    rng = np.random.default_rng([18, seed])
    means = rng.normal(0.0, APART / np.sqrt(2.0), (KNOWN + 1, COLUMNS))
    roots = [
        np.linalg.qr(rng.normal(size=(COLUMNS, COLUMNS)))[0] * rng.uniform(0.6, 1.6, COLUMNS) for _ in range(KNOWN + 1)
    ]
    labels, truth = np.repeat(np.arange(KNOWN), LABELLED), np.repeat(np.arange(KNOWN + 1), rows // (KNOWN + 1))
    known, new = (
        np.stack([means[k] + roots[k] @ rng.normal(size=COLUMNS) for k in of.tolist()]) for of in (labels, truth)
    )
    return known, labels, new, truth


def skewed(seed: int, rows: int, kind: str) -> Table:
    """Return the same of classes whose columns are skewed and positive."""
    rng = np.random.default_rng([20, seed])
    scales = np.exp(rng.normal(0.0, SKEWED_APART, (KNOWN + 1, COLUMNS)))
    labels, truth = np.repeat(np.arange(KNOWN), LABELLED), np.repeat(np.arange(KNOWN + 1), rows // (KNOWN + 1))

    def drawn(of: Any) -> Any:
        shape = of.size, COLUMNS
        return scales[of] * (rng.gamma(2.0, size=shape) if kind == "Gamma(2)" else np.exp(0.8 * rng.normal(size=shape)))

    return drawn(labels), labels, drawn(truth), truth


def found_in(table: Table, transforms: Any = "auto", **named: Any) -> Any:
    known, labels, new, _ = table
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = VBrand(random_state=0, transforms=transforms)
        groups = named.get("groups")
        detector.fit(known, labels, groups=None if groups is None else np.arange(labels.size) // groups)
        return detector.discover(new, groups=None if groups is None else np.arange(new.shape[0]) // groups)


def figures(found: Any, truth: Any, usual: Any) -> list[float]:
    called = found.clusters >= KNOWN
    known = truth < KNOWN
    return [
        float(called[known].mean()),
        float(called[~known].mean()),
        float(adjusted_rand_score(truth, found.clusters)),
        float((found.labels == usual).mean()),
    ]


def cases(seed: int) -> dict[str, list[float]]:
    """Return the figures of each kind of table."""
    large, small = simulated(seed, 30_000), simulated(seed, 2_000)
    once = found_in(large)
    results = {"30,000 rows as measured": figures(once, large[3], once.labels)}
    for step in (0.25, 0.5, 1.0):
        known, labels, new, truth = large
        rounded = np.round(known / step) * step, labels, np.round(new / step) * step, truth
        results[f"rounded to {step:g}"] = figures(found_in(rounded), truth, once.labels)

    once = found_in(small)
    results["2,000 rows as measured"] = figures(once, small[3], once.labels)
    for times in (2, 3, 10):
        again = tuple(np.repeat(part, times, axis=0) for part in small)
        results[f"every row {times} times"] = figures(found_in(again), again[3], np.repeat(once.labels, times))

    rng = np.random.default_rng([19, seed])
    known, labels, new, truth = (np.repeat(part, 3, axis=0) for part in small)
    near = known + ERROR * rng.normal(size=known.shape), labels, new + ERROR * rng.normal(size=new.shape), truth
    usual = np.repeat(once.labels, 3)
    results[f"3 replicates, error {ERROR:g}, named"] = figures(found_in(near, groups=3), truth, usual)
    results[f"3 replicates, error {ERROR:g}, not named"] = figures(found_in(near), truth, usual)

    for kind in ("Gamma(2)", "log-normal"):
        table = skewed(seed, 35_000, kind)
        bent = found_in(table)
        results[f"{kind}, 35,000 rows"] = figures(bent, table[3], bent.labels)
        results[f"{kind}, `transforms=None`"] = figures(found_in(table, transforms=None), table[3], bent.labels)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    found = list[dict[str, list[float]]]()
    for seed in range(given.seeds):
        found.append(cases(seed))
        print(f"{seed + 1} of {given.seeds} tables", found[-1], file=sys.stderr, flush=True)
    lines = [INTRODUCTION.format(seeds=given.seeds, skewed_apart=SKEWED_APART)]
    for name in found[0]:
        means = np.mean([one[name] for one in found], axis=0)
        lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in means)} |")
    (ROOT / "docs" / "tables.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
