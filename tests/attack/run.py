"""The attack at length: `make attack N=10000` makes so many attempts, shared out among the areas.

They are made in turns. From 10,000 on, the table in SECURITY.md is written after each turn: a run that is stopped has
made the attempts that stand there. Areas that are not named keep their lines.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))  # last: names there are those of tests, too

from attack.areas import AREAS, RARE, attack
from attack.disks import no_disks
from seen import seen

TURNS = 100
# attempts that are worth a line in SECURITY.md
MANY = 10_000


def main(attempts, first, areas):
    if "disks" in areas and no_disks():
        print(f"disks: not tried, {no_disks()}")
        areas = [area for area in areas if area != "disks"]
    wanted = {area: max(1, attempts // 100 if area in RARE else attempts // (len(AREAS) - len(RARE))) for area in areas}
    made, failed = dict.fromkeys(areas, 0), dict.fromkeys(areas, 0)
    for turn in range(1, TURNS + 1):
        for area in areas:
            more = wanted[area] * turn // TURNS - made[area]
            failures = attack(area, more, first + made[area], ready=made[area] > 0) if more else ()
            for line in failures:
                print(f"{area}: {line}", flush=True)
            made[area] += more
            failed[area] += len(failures)
            if attempts >= MANY:
                seen("tests/attack/run.py", area, f"{made[area]:,}", f"{failed[area]:,}", f"{first:,}")
    for area in areas:
        print(f"{area}: {made[area]:,} attempts, {failed[area]:,} failures", flush=True)
    return any(failed.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attempts", type=int)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first attempt in each area")
    parser.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS))
    given = parser.parse_args()
    sys.exit(main(given.attempts, given.first, given.areas))
