"""One detector in one process for long, in little: memory after each tenth of 2,000 calls.

    python benchmarks/endurance.py [calls]

From 2,000 calls on, what was seen goes into SECURITY.md.
"""

import gc
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from seen import seen

import vbrand
from vbrand import VBrand

# megabytes by which memory may differ between the fifth tenth and the last: what the allocator keeps goes up and down
SLACK = 4.0
CALLS = 2_000
WORK = ("discover", "update", "predict", "update", "file")


def resident() -> float:
    """Return the memory that the process has, in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main(calls: int) -> bool:
    generator = np.random.default_rng(0)
    rows = np.vstack([generator.normal(0, 1, (40, 3)), generator.normal(8, 1, (40, 3))])
    detector = VBrand(random_state=0).fit(rows, np.repeat(["oat", "rye"], 40))
    had = list[float]()
    with tempfile.TemporaryDirectory() as folder:
        for call in range(calls):
            place = generator.choice([0.0, 8.0, -8.0], (int(generator.integers(5, 60)), 1))
            unknown = place + generator.normal(size=(place.size, 3))
            # a detector learns anew now and then; in between it goes from batch to batch, and through a file
            work = "fit" if call % 100 == 99 else WORK[call % len(WORK)]
            if work == "fit":
                detector.fit(rows + 0.01 * generator.normal(size=rows.shape), np.repeat(["oat", "rye"], 40))
            elif work == "file":
                detector.save(Path(folder) / "model.vbrand")
                detector = vbrand.load(Path(folder) / "model.vbrand")
            else:
                getattr(detector, work)(unknown)
            if (call + 1) % (calls // 10) == 0:
                gc.collect()
                had.append(resident())
                print(f"{call + 1:,} calls: {had[-1]:.1f} MB", flush=True)
    grown = had[-1] - had[4]
    print(f"from the fifth tenth to the last: {grown:+.1f} MB ({'more than' if grown > SLACK else 'within'} {SLACK})")
    if calls >= CALLS:
        told = f"{calls:,} calls: {had[4]:.1f} MB after half of them, {had[-1]:.1f} MB at the end"
        seen("benchmarks", "memory of one process", told)
    return grown > SLACK


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS))
