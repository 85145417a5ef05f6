"""Labels as other processors give them: other vector instructions add in another order.

    python benchmarks/processors.py [tables]

Each kind of processor is a process of its own (numba and OpenBLAS are told which one they are on), with a numba cache
of its own. Printed: the share of rows with the same label as here, and where it is less than 1 how bounds differ. From
50 tables on, what was seen goes into SECURITY.md.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from seen import seen

KINDS = {
    "generic, Nehalem": {"NUMBA_CPU_NAME": "generic", "OPENBLAS_CORETYPE": "Nehalem"},
    "haswell, Haswell": {"NUMBA_CPU_NAME": "haswell", "OPENBLAS_CORETYPE": "Haswell"},
}
# what must hold: mean share of rows with the same label, and nats between bounds where labels differ
AGREE, NATS = 0.995, 2.0
TABLES = 50


def table(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labelled rows, labels and unlabelled rows of overlapping, skewed or rounded classes."""
    generator = np.random.default_rng(seed)
    p, classes = int(generator.integers(2, 9)), int(generator.integers(1, 4))
    centres = generator.normal(0.0, 3.0, (classes + 2, p))
    turn = generator.normal(size=(p, p))
    member = np.repeat(np.arange(classes), generator.integers(15, 100, classes))
    place = generator.integers(classes + 2, size=int(generator.integers(50, 400)))
    noise = [generator.normal, lambda size: generator.gamma(2.0, 1.0, size), lambda size: generator.standard_t(4, size)]
    draw = noise[seed % 3]
    rows = (
        np.vstack([draw(size=(member.size, p)), draw(size=(place.size, p))]) + centres[np.append(member, place)]
    ) @ turn
    rows = np.round(rows, 1) if seed % 2 else rows
    return rows[: member.size], member, rows[member.size :]


def answers(tables: int) -> list[tuple[list[int], float]]:
    """Return clusters and bound of each table."""
    from vbrand import VBrand

    found = []
    for seed in range(tables):
        known, member, unknown = table(seed)
        discovery = VBrand(random_state=0).fit(known, member).discover(unknown)
        found.append((discovery.clusters.tolist(), discovery.elbo))
    return found


def elsewhere(kind: dict[str, str], tables: int) -> list[tuple[list[int], float]]:
    """Return the answers of a process on another processor."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, **kind, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, __file__, str(tables), "--answers"]
        return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)


def main(tables: int) -> bool:
    here, failed = answers(tables), False
    for name, kind in KINDS.items():
        shares, far, apart = list[float](), list[str](), 0.0
        for seed, ((own, bound), (other, other_bound)) in enumerate(zip(here, elsewhere(kind, tables), strict=True)):
            shares.append(float(np.mean(np.array(own) == np.array(other))))
            if shares[-1] < 1.0:
                far.append(f"table {seed}: {shares[-1]:.3f} the same, bounds {other_bound - bound:+.3g} apart")
                apart = max(apart, abs(other_bound - bound))
        failed |= float(np.mean(shares)) < AGREE or apart >= NATS
        told = f"{np.mean(shares):.4f} of the rows of {tables} tables have the same label"
        print(f"{name}: {told}", *far, sep="\n  ", flush=True)
        if tables >= TABLES:
            others = f"; in the {len(far)} where some differ, bounds are up to {apart:.2g} nats apart" if far else ""
            seen("benchmarks", f"labels as on another processor ({name})", told + others)
    return failed


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else TABLES
    if "--answers" in sys.argv:
        print(json.dumps(answers(count)))
    else:
        sys.exit(main(count))
