"""The attack at length: `make attack N=10000` makes so many attempts, shared out among the areas."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from attack.areas import AREAS, attack

SHOWN = 20


def main(attempts, first):
    failed = 0
    for area in AREAS:
        began = time.perf_counter()
        count = max(1, attempts // len(AREAS))
        failures = attack(area, count, first)
        failed += len(failures)
        took = time.perf_counter() - began
        print(f"{area}: {count:,} attempts, {len(failures):,} failures, {took:.0f} s", flush=True)
        for line in list(failures)[:SHOWN]:
            print(f"  {line}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
