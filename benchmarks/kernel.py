"""Speed of one sweep of coordinate ascent against scikit-learn's BayesianGaussianMixture.

Ratios in one run, medians of repeated sweeps: above 1 means that vbrand is faster. A sweep is all of an iteration: rows
to statistics, statistics to posterior, the bound. Also: two threads against one, growth with rows, memory of a long
fit, and the share of the speed of a large matrix product. Writes benchmarks/kernel.json.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits

from vbrand.inference.cavi import ascend
from vbrand.inference.kernel import sweep
from vbrand.inference.rows import Rows
from vbrand.inference.starts import from_labels, one_novelty
from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian
from vbrand.model.posterior import bound_of, scores_of, updated
from vbrand.model.prior import Prior
from vbrand.model.weights import prior_weights

# rows, columns, components, and the least ratio that is wanted
CASES = (
    (200_000, 2, 23, 12),
    (200_000, 5, 23, 12),
    (100_000, 10, 23, 10),
    (20_000, 36, 14, 8),
    (10_000, 64, 20, 8),
    (5_000, 128, 20, 8),
)
SEEDS = (0, 1, 2)


def simulated(n, p, k, seed, spread):
    rng = np.random.default_rng(seed)
    centres = rng.normal(0.0, spread, size=(k, p))
    labels = rng.integers(0, k, n)
    return centres[labels] + rng.normal(size=(n, p)), labels


def flat_prior(p, k):
    base = Components(np.zeros((1, p)), np.array([0.1]), np.array([p + 2.0]), np.eye(p)[None], (Gaussian(),))
    return Prior(base.reordered(np.zeros(k, int)), prior_weights(np.ones(1), 1.0, k), np.zeros(0, int))


def median_seconds(step, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def median_seconds_of_each(steps, rounds):
    """Return medians of steps that take turns, a few sweeps in a row each as in a fit: noise hits all alike."""
    times = [[median_seconds(step, 5) for step in steps] for _ in range(rounds)]
    return np.median(times, axis=0).tolist()


def our_sweep(rows, prior, labels, threads):
    """Return a function that does one sweep and goes on from there."""
    state = {"posterior": from_labels(rows, prior, labels), "winners": None}

    def step():
        swept = sweep(rows, scores_of(state["posterior"]), state["winners"], threads)
        bound_of(prior, state["posterior"], swept.statistics.evidence)
        state["posterior"], state["winners"] = updated(prior, swept.statistics), swept.winners

    step()
    return step


def their_sweep(rows, labels, k):
    model = BayesianGaussianMixture(n_components=k, max_iter=1, random_state=0)
    model._check_parameters(rows)
    model._initialize(rows, np.eye(k)[labels])

    def step():
        _, log_shares = model._e_step(rows)
        model._m_step(rows, log_shares)
        model._compute_lower_bound(log_shares, 0.0)

    step()
    return step


def matrix_product_flops():
    a = np.random.default_rng(0).normal(size=(1500, 1500))
    return 2 * 1500**3 / median_seconds(lambda: a @ a, 5)


def ratios(spread_of, title):
    print(f"\n{title}")
    print(f"{'rows':>8}{'p':>5}{'K':>4}{'seed':>6}{'ours ms':>9}{'sklearn ms':>12}{'ratio':>7}{'2 threads':>11}")
    lines = []
    for n, p, k, wanted in CASES:
        for seed in SEEDS:
            data, labels = simulated(n, p, k, seed, spread_of(p))
            rows, prior = Rows.plain(data), flat_prior(p, k)
            with threadpool_limits(1):
                steps = (
                    our_sweep(rows, prior, labels, 1),
                    our_sweep(rows, prior, labels, 2),
                    their_sweep(data, labels, k),
                )
                ours, both, theirs = median_seconds_of_each(steps, 3)
            print(
                f"{n:8}{p:5}{k:4}{seed:6}{1e3 * ours:9.1f}{1e3 * theirs:12.1f}{theirs / ours:7.1f}{ours / both:11.2f}"
            )
            lines.append(
                {"rows": n, "columns": p, "components": k, "seed": seed, "ratio": theirs / ours, "wanted": wanted}
                | {"two_threads": ours / both, "dense_flops_per_second": 2 * n * k * p * (p + 1) / ours}
            )
    return lines


def growth():
    """Return the slope of log time in log rows at p = 10."""
    sizes, times = (10_000, 30_000, 100_000, 300_000, 1_000_000), []
    for n in sizes:
        data, labels = simulated(n, 10, 23, 0, 2.0)
        with threadpool_limits(1):
            times.append(median_seconds(our_sweep(Rows.plain(data), flat_prior(10, 23), labels, 1), 5))
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    print(f"\nTime grows as rows ^ {slope:.3f} (p = 10, {sizes[0]:,} to {sizes[-1]:,} rows)")
    return slope


def memory():
    """Print, in a process of its own, how much the peak grows during a fit of 2,000,000 x 10."""
    data = np.random.default_rng(0).normal(size=(2_000_000, 10))
    data[:500_000] += 8.0
    prior = flat_prior(10, 20)
    small = Rows.plain(data[:1000])
    ascend(small, prior, one_novelty(small, prior), max_iter=2)  # load compiled code
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from the present level
    before = peak_megabytes()
    rows = Rows.plain(data)
    ascend(rows, prior, one_novelty(rows, prior), max_iter=5, threads=2)
    print(json.dumps({"grown_mb": peak_megabytes() - before, "table_mb": data.nbytes / 2**20}))


def peak_megabytes():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def memory_in_a_process_of_its_own():
    printed = subprocess.run([sys.executable, __file__, "memory"], capture_output=True, text=True, check=True).stdout
    result = json.loads(printed)
    grown, table = result["grown_mb"], result["table_mb"]
    print(f"Fit of 2,000,000 x 10: peak memory grows by {grown:.0f} MB; the table has {table:.0f} MB")
    return result


def main():
    with threadpool_limits(1):
        peak = matrix_product_flops()
    apart = ratios(lambda p: 4.0 if p <= 5 else 2.0, "Components apart: N(0, 16 I) for p <= 5, else N(0, 4 I)")
    overlapping = ratios(lambda p: 0.5, "Overlapping components, N(0, I / 4): nothing can be left out")
    print(f"\nA matrix product runs at {peak / 1e9:.0f} GFlop/s; a sweep does as many useful flops as a dense one at:")
    for line in apart:
        if line["seed"] == 0:
            line["share_of_peak"] = line["dense_flops_per_second"] / peak
            print(f"  {line['rows']:8} x {line['columns']:<4} {line['share_of_peak']:.0%}")
    result = {"apart": apart, "overlapping": overlapping, "slope": growth(), "memory": memory_in_a_process_of_its_own()}
    Path(__file__).with_suffix(".json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    {"memory": memory}.get("".join(sys.argv[1:]), main)()
