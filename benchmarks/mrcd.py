"""Speed of MRCD against scikit-learn's MinCovDet, and its bias on clean Gaussian data.

Ratios in one run, one thread each: above 1 means that MRCD is faster. Writes benchmarks/mrcd.json.
"""

import json
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from sklearn.covariance import MinCovDet
from threadpoolctl import threadpool_limits

from vbrand import MRCD

STATLOG = Path(__file__).resolve().parents[2] / "shared" / "data" / "statlog" / "sat.trn"


def seconds(fit, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        fit()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def tables():
    if STATLOG.exists():
        table = np.loadtxt(STATLOG)
        for code in (1, 3, 4, 7):
            yield f"statlog class {code}", table[table[:, 36] == code][:, :36], 7
    rows = np.random.default_rng(0).normal(size=(50_000, 20))
    rows[:5_000] += 5.0
    yield "gaussian, 10 % outliers", rows, 3


def speed():
    MRCD().fit(np.random.default_rng(0).normal(size=(50, 2)))  # compile
    lines = []
    print(f"{'table':26}{'rows':>8}{'p':>4}{'MRCD s':>9}{'MinCovDet s':>13}{'ratio':>7}{'peak MB':>9}{'table MB':>10}")
    for name, rows, repeats in tables():
        ours = seconds(lambda rows=rows: MRCD().fit(rows), repeats)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = seconds(lambda rows=rows: MinCovDet(random_state=0).fit(rows), repeats)
        tracemalloc.start()
        MRCD().fit(rows)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        n, p = rows.shape
        size = rows.nbytes / 1e6
        print(f"{name:26}{n:8}{p:4}{ours:9.3f}{theirs:13.3f}{theirs / ours:7.1f}{peak:9.1f}{size:10.1f}")
        lines.append(
            {"table": name, "rows": n, "columns": p, "ratio": theirs / ours, "peak_mb": peak, "table_mb": size}
        )
    return lines


def bias():
    print("\nClean N(0, I): mean over 20 samples of trace/p and det^(1/p) of the covariance, and of rho")
    print(f"{'rows':>8}{'p':>4}{'trace/p':>9}{'det^1/p':>9}{'rho':>10}")
    lines = []
    for n in (50, 100, 200, 500, 1000, 5000):
        for p in (2, 5, 10, 20):
            fits = [MRCD().fit(np.random.default_rng(seed).normal(size=(n, p))) for seed in range(20)]
            trace = float(np.mean([np.trace(fit.covariance_) / p for fit in fits]))
            root = float(np.mean([np.exp(fit.log_determinant_ / p) for fit in fits]))
            rho = float(np.mean([fit.rho_ for fit in fits]))
            print(f"{n:8}{p:4}{trace:9.3f}{root:9.3f}{rho:10.2g}")
            lines.append({"rows": n, "columns": p, "trace": trace, "determinant_root": root, "rho": rho})
    return lines


if __name__ == "__main__":
    with threadpool_limits(1):
        result = {"speed": speed(), "bias": bias()}
    Path(__file__).with_suffix(".json").write_text(json.dumps(result, indent=1))
