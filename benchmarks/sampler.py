"""Speed of the slice sampler: one of its sweeps against one of the variational fit, and Statlog from end to end.

Times in one run, one thread: the sides take turns on the same rows with the same live components. A sweep is all of an
iteration: of the fit rows to statistics, posterior and bound; of the sampler every conditional. Also: what `kappa` does
to cost and mixing. Statlog needs the team's data. Writes benchmarks/sampler.json.
"""

import json
import time
from pathlib import Path

import numpy as np
from kernel import median_seconds_of_each, our_sweep, simulated
from threadpoolctl import threadpool_limits

from vbrand.inference.kernel import Rows
from vbrand.inference.sampler import Target, state_of, step
from vbrand.model.components import Components
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
        tail=np.full(known + 1, np.inf),
    )
    weights = prior_weights(np.ones(known + 1), 1.0, novel + 1)
    return Prior(components, weights, np.arange(known))


def sampler_sweep(rows, prior, labels):
    """Return a function that does one sweep of the sampler and goes on from there."""
    target, generator = Target(prior, 1.0, 0.25), np.random.default_rng(0)
    chain = {"state": state_of(rows, prior.known, labels, 1.0)}

    def sweep():
        chain["state"], _ = step(rows, target, chain["state"], generator)

    sweep()
    return sweep


def ratios(spread_of, title):
    print(f"\n{title}")
    print(
        f"{'rows':>8}{'p':>5}{'known':>7}{'novel':>7}{'sampler ms':>12}{'fit ms':>9}{'ratio':>7}   (wanted: 3 at most)"
    )
    lines = []
    for n, p, known, novel in CASES:
        data, labels = simulated(n, p, known + novel, 0, spread_of(p))
        centres = np.stack([data[labels == k].mean(axis=0) for k in range(known)])
        rows, prior = Rows.plain(data), half_known(p, known, novel, centres)
        with threadpool_limits(1):
            steps = (sampler_sweep(rows, prior, labels), our_sweep(rows, with_novelties(prior, novel), labels, 1))
            sampled, fitted = median_seconds_of_each(steps, 7)
        print(f"{n:8}{p:5}{known:7}{novel:7}{1e3 * sampled:12.2f}{1e3 * fitted:9.2f}{sampled / fitted:7.2f}")
        lines.append({"rows": n, "columns": p, "known": known, "novel": novel, "ratio": sampled / fitted})
    return lines


if __name__ == "__main__":
    apart = ratios(lambda p: 4.0 if p <= 5 else 2.0, "Components apart")
    over = ratios(lambda p: 0.5, "Overlapping components")
