"""The attack at length: `make attack N=10000` makes so many attempts, shared out among the areas."""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from attack.areas import AREAS, RARE, attack
from attack.disks import no_disks

SHOWN = 20


def main(attempts, first, areas):
    failed = 0
    for area in areas:
        if area == "disks" and no_disks():
            print(f"{area}: not tried, {no_disks()}")
            continue
        began = time.perf_counter()
        count = max(1, attempts // 100 if area in RARE else attempts // (len(AREAS) - len(RARE)))
        failures = attack(area, count, first)
        failed += len(failures)
        took = time.perf_counter() - began
        print(f"{area}: {count:,} attempts, {len(failures):,} failures, {took:.0f} s", flush=True)
        for line in list(failures)[:SHOWN]:
            print(f"  {line}", flush=True)
    return failed > 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attempts", type=int)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first attempt in each area")
    parser.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS))
    given = parser.parse_args()
    sys.exit(main(given.attempts, given.first, given.areas))
