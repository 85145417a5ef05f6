"""The slice sampler: cost of a sweep beside one of the variational fit, what splits and merges are worth, Statlog.

Costs are ratios in one run, one thread: the sides take turns on the same rows, from the same components. A sweep is
all of an iteration: of the fit rows to statistics, posterior and bound; of the sampler every conditional, and its
splits and merges. Statlog's data are the team's. Writes benchmarks/sampler.json.
"""

import json
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from kernel import our_sweep, simulated
from sklearn.datasets import load_wine
from threadpoolctl import threadpool_limits

from vbrand import BrandSampler, VBrand, compare
from vbrand.discovery.diagnostics import effective_size
from vbrand.estimators.tuning import TUNED
from vbrand.inference.rows import Rows
from vbrand.inference.sampler import Target, state_of, step
from vbrand.metrics import evaluate
from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian
from vbrand.model.prior import Prior, with_novelties
from vbrand.model.weights import prior_weights

# rows, columns, known components, live novel ones
CASES = (
    (500, 2, 2, 3),
    (5_000, 2, 3, 4),
    (200_000, 2, 3, 10),
    (100_000, 10, 3, 10),
    (2_000, 36, 4, 4),
    (20_000, 36, 4, 10),
    (10_000, 64, 4, 10),
)
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "statlog"


def half_known(p, known, novel, centres):
    """Return a prior whose known components lie at the first centres."""
    components = Components(
        mean=np.vstack([centres[:known], np.zeros((1, p))]),
        precision=np.append(np.full(known, 100.0), 0.01),
        dof=np.append(np.full(known, p + 101.0), p + 2.0),
        scale=np.concatenate([np.repeat(100.0 * np.eye(p)[None], known, axis=0), np.eye(p)[None]]),
        kernels=(Gaussian(),) * (known + 1),
    )
    weights = prior_weights(np.ones(known + 1), 1.0, novel + 1)
    return Prior(components, weights, np.arange(known))


def sampler_sweep(rows, prior, labels):
    """Return a function that does one sweep of the sampler and goes on from there, and the chain that it changes."""
    target, generator = Target(prior, 1.0, 0.25), np.random.default_rng(0)
    chain = {"state": state_of(rows, prior.known, labels, 1.0)}

    def sweep():
        chain["state"], _ = step(rows, target, chain["state"], generator)

    sweep()
    return sweep, chain


def seconds_of_each(steps, rounds=12, sweeps=5):
    """Return the mean seconds of steps that take turns, a few sweeps in a row each."""
    times = np.zeros(len(steps))
    for _ in range(rounds):
        for side, one in enumerate(steps):
            start = time.perf_counter()
            for _ in range(sweeps):
                one()
            times[side] += time.perf_counter() - start
    return times / (rounds * sweeps)


def ratios(spread_of, title):
    print(f"\n{title}")
    print(f"{'rows':>8}{'p':>5}{'known':>7}{'novel':>7}{'at the end':>12}{'sampler ms':>12}{'fit ms':>9}{'ratio':>7}")
    lines = []
    for n, p, known, novel in CASES:
        data, labels = simulated(n, p, known + novel, 0, spread_of(p))
        centres = np.stack([data[labels == k].mean(axis=0) for k in range(known)])
        rows, prior = Rows.plain(data), half_known(p, known, novel, centres)
        with threadpool_limits(1):
            sampled_sweep, chain = sampler_sweep(rows, prior, labels)
            fitted_sweep = our_sweep(rows, with_novelties(prior, novel), labels, 1)
            sampled, fitted = seconds_of_each((sampled_sweep, fitted_sweep))
        left = chain["state"].statistics.counts.size - known
        print(f"{n:8}{p:5}{known:7}{novel:7}{left:12}{1e3 * sampled:12.2f}{1e3 * fitted:9.2f}{sampled / fitted:7.2f}")
        lines.append({"rows": n, "columns": p, "known": known, "novel": novel, "ratio": sampled / fitted})
    return lines


def mixing():
    """Return what splits and merges do to the wine example: effective draws, and how far chains disagree."""
    table = load_wine(as_frame=True)
    rows = table.data[["alcohol", "flavanoids", "color_intensity", "hue", "proline"]]
    labelled = (table.target != 2) & (rows.index % 2 == 0)
    lines = []
    print("\nWine, four chains of 1,000 + 5,000 sweeps: novel clusters")
    for name, most in (("without splits and merges", 0), ("with them", TUNED.sampler.most_moves)):
        tuning = replace(TUNED, sampler=replace(TUNED.sampler, most_moves=most))
        start = time.perf_counter()
        detector = BrandSampler.tuned(tuning, n_draws=5_000, random_state=0).fit(rows[labelled], table.target[labelled])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = detector.discover(rows[~labelled])
        seconds = time.perf_counter() - start
        clusters = next(each for each in found.diagnostics if each.name == "clusters, any size")
        rows_novel = effective_size(found.chains.novel_rows().astype(float))
        print(
            f"  {name}: R-hat {clusters.rhat:.2f}, mean {clusters.mean:.2f}, ESS {clusters.effective_size:.0f} "
            f"(novel rows {rows_novel:.0f}), {seconds:.0f} s"
        )
        lines.append({"moves": name, "rhat": clusters.rhat, "ess": clusters.effective_size, "seconds": seconds})
    return lines


def statlog():
    """Return time and scores of 20,000 sweeps on Statlog, two chains on two cores, beside the variational fit."""
    train, test = (np.loadtxt(SHARED / f"sat.{part}") for part in ("trn", "tst"))
    train = train[~np.isin(train[:, 36], [2, 5])]
    rows, classes = train[:, :36], train[:, 36].astype(int)
    paper = VBrand.paper(rows, search="moves").fit(rows, classes)
    start = time.perf_counter()
    fitted = paper.discover(test[:, :36])
    fit_seconds = time.perf_counter() - start
    words = {name: value for name, value in paper.get_params().items() if name in BrandSampler().get_params()}
    words |= {"init": "variational", "reduce": None, "n_jobs": 2, "random_state": 0}
    detector = BrandSampler(**words | {"n_draws": 10_000, "n_burn": 10_000, "n_chains": 2}).fit(rows, classes)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = detector.discover(test[:, :36])
    seconds = time.perf_counter() - start
    print(
        f"\nStatlog, the paper's priors: two chains of 20,000 sweeps took {seconds:.0f} s, the fit {fit_seconds:.1f} s"
    )
    for name, answer in (("fit", fitted), ("sampler", found)):
        scores = evaluate(test[:, 36].astype(int), answer)
        print(f"  {name:8} ARI {scores.ari:.3f}, novelty F1 {scores.novelty_f1:.3f}; {answer!r}")
    print(found.summary())
    print(compare(fitted, found))
    return {"seconds": seconds, "fit_seconds": fit_seconds}


def main():
    result = {
        "apart": ratios(lambda p: 4.0 if p <= 5 else 2.0, "Components apart (wanted: a ratio of 3 at most)"),
        "overlapping": ratios(lambda p: 0.5, "Overlapping components: the sampler merges many of them"),
        "mixing": mixing(),
        "statlog": statlog() if SHARED.is_dir() else None,
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
