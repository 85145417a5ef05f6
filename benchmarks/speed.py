"""Speed as ratios: this tree against a named commit and against scikit-learn, in one run; writes docs/speed.md.

    python benchmarks/speed.py --against 03f89ea                     # all of it: some six minutes of a core
    python benchmarks/speed.py --against 03f89ea --only first,tables     # these parts anew, the others as they were

The commit is checked out into a git worktree of its own, which is taken away at the end. Each side runs in a process of
its own, with one thread and warm, and the sides take turns: what disturbs the machine disturbs both. Times are CPU
seconds of the process, medians of rounds; where threads are compared they are seconds of the clock. Ratios above 1 mean
that this tree is faster. All figures of a part are of one run; benchmarks/speed.json keeps them, and docs/speed.md and
docs/speed.svg are drawn from the parts that are there.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "bench"
STORED = Path(__file__).with_suffix(".json")

ROUNDS = 3
# rows, columns, components of one sweep
CASES = ((200_000, 2, 23), (200_000, 5, 23), (100_000, 10, 23), (20_000, 36, 14), (10_000, 64, 20), (5_000, 128, 20))
# one of the three grows, the others stay
CURVES = {
    "rows": [(n, 10, 20) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)],
    "columns": [(20_000, p, 20) for p in (2, 4, 8, 16, 32, 64)],
    "components": [(50_000, 10, k) for k in (5, 10, 20, 40, 80)],
}
# scikit-learn keeps shares of all rows in all components in memory
MOST_FOR_PEER = 300_000
TABLES = ("vowel", "yeast", "shuttle", "fruit", "segment")
SIDES = ("this tree", "commit", "scikit-learn")


def apart(p):
    return 4.0 if p <= 5 else 2.0


def overlapping(p):
    return 0.5


# ---- the worker: one side, in a process of its own


def work():
    """Answer requests, one JSON object per line, until the input ends."""
    step = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "prepare":
            step, answer = prepared(**request["what"]), None
        else:
            answer = seconds_of(step, request["times"], request["clock"])
        print(json.dumps(answer), flush=True)


def prepared(kind, **what):
    return {"sweep": sweep_step, "peer": peer_step, "table": table_step, "first": first_step}[kind](**what)


def seconds_of(step, times, clock):
    """Return the median of so many runs."""
    now = getattr(time, clock)
    seen = []
    for _ in range(times):
        start = now()
        step()
        seen.append(now() - start)
    return float(np.median(seen))


def sweep_step(rows, columns, components, spread, threads=1):
    import kernel  # that of the side's own tree

    data, labels = kernel.simulated(rows, columns, components, 0, spread)
    return kernel.our_sweep(kernel.Rows.plain(data), kernel.flat_prior(columns, components), labels, threads)


def peer_step(rows, columns, components, spread):
    import kernel

    data, labels = kernel.simulated(rows, columns, components, 0, spread)
    return kernel.their_sweep(data, labels, components)


def table_step(name, checked):
    sys.path.insert(0, str(SHARED))
    from run import make_task

    from vbrand import VBrand

    known, labels, new, *_ = make_task(name, 0)
    settings = {"check": 0} if "check" in VBrand().get_params() and not checked else {}  # older commits check nothing

    kernels = sys.modules.get("vbrand.model.kernels")
    kept = getattr(kernels, "_kept_lattice", None)  # older commits keep nothing

    def step():
        if kept is not None:
            kept.cache_clear()  # a user's table is another one than the last
        VBrand(random_state=0, **settings).fit(known, labels).discover(new)

    step()  # loads compiled code
    return step


def first_step():
    """Return what a new user does first: 120 labelled rows of two classes, 200 more of three, 5 columns."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    known = rng.normal(size=(120, 5)) + 4.0 * labels[:, None]
    new = rng.normal(size=(200, 5)) + np.repeat([0.0, 4.0, 8.0], [60, 60, 80])[:, None]
    from vbrand import VBrand

    return lambda: VBrand(random_state=0).fit(known, labels).discover(new)


# ---- the other end


class Side:
    """A process that measures one tree."""

    def __init__(self, tree, cache):
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        path = os.pathsep.join([str(tree / "src"), str(tree / "benchmarks")])
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, "--worker"],
            env={**os.environ, **threads, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request):
        """Return the answer to a request."""
        print(json.dumps(request), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a worker stopped; its error stands above")
        return json.loads(line)

    def prepare(self, kind, **what):
        """Get ready to measure something."""
        self.ask(do="prepare", what={"kind": kind, **what})

    def seconds(self, times=3, clock="process_time"):
        """Return the median seconds of what was prepared."""
        return self.ask(do="run", times=times, clock=clock)

    def close(self):
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


def taking_turns(sides, times=1, clock="process_time"):
    """Return the median of each side over rounds."""
    return np.median([[side.seconds(times, clock) for side in sides] for _ in range(ROUNDS)], axis=0).tolist()


@contextmanager
def checked_out(commit):
    """Yield the folder of a git worktree with a commit."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def measured_first(trees, folder):
    """Return what the first use of a fresh installation costs beyond that of the next process, in CPU seconds."""
    print("\nFirst use, 200 x 5 rows: CPU seconds of compilation", flush=True)
    seconds = {}
    for name, tree in trees.items():
        cold, warm = (first_use(tree, folder / f"first use of {name}") for _ in range(2))
        seconds[name] = cold - warm
        print(f"  {name:12}{seconds[name]:8.1f}", flush=True)
    return seconds


def first_use(tree, cache):
    side = Side(tree, cache)
    side.prepare("first")
    seconds = side.seconds(times=1)
    side.close()
    return seconds


def measured_sweeps(sides, cases, spread_of, title, names=SIDES):
    print(f"\n{title}: one sweep, ms of CPU time, and how many times that of this tree", flush=True)
    print(f"{'rows':>10}{'p':>5}{'K':>4}" + "".join(f"{name:>14}" for name in names), flush=True)
    lines = []
    for rows, columns, components in cases:
        what = {"rows": rows, "columns": columns, "components": components, "spread": spread_of(columns)}
        part = {name: side for name, side in zip(names, sides, strict=True) if fits(name, rows)}
        for name, side in part.items():
            side.prepare("peer" if name == "scikit-learn" else "sweep", **what)
            side.seconds(times=1)  # loads compiled code
        seen = dict(zip(part, taking_turns(part.values()), strict=True))
        lines.append({**what, **{name: seen.get(name) for name in names}})
        cells = [f"{1e3 * seconds:8.1f}{seconds / seen['this tree']:6.1f}" for seconds in seen.values()]
        print(f"{rows:10,}{columns:5}{components:4}" + "".join(cells), flush=True)
    return lines


def fits(name, rows):
    return name != "scikit-learn" or rows <= MOST_FOR_PEER


def measured_threads(sides):
    """Return how many times faster two threads are than one, by the clock: of this tree and of the commit."""
    print("\nTwo threads against one, 200,000 rows, 23 components: this tree, commit", flush=True)
    lines = []
    for columns in (2, 5, 10):
        what = {"rows": 200_000, "columns": columns, "components": 23, "spread": apart(columns)}
        seconds = np.full((2, len(sides)), np.inf)
        for _ in range(ROUNDS):
            for threads in (1, 2):
                for at, side in enumerate(sides):
                    side.prepare("sweep", **what, threads=threads)
                    seen = side.seconds(times=3, clock="perf_counter")
                    seconds[threads - 1, at] = min(seen, seconds[threads - 1, at])
        here, there = (seconds[0] / seconds[1]).tolist()
        lines.append({"columns": columns, "this tree": here, "commit": there})
        print(f"  {columns:4} columns{here:8.2f}{there:8.2f}", flush=True)
    return lines


def measured_tables(here, there, also):
    if not SHARED.is_dir():
        print("\nThe team's tables are not beside the clone: fit + discover is not measured.")
        return []
    print(
        "\nfit + discover, CPU seconds: unchecked, checked, commit, and how many times faster than the commit",
        flush=True,
    )
    lines = []
    for name in TABLES:
        for side, checked in ((here, False), (also, True), (there, False)):
            side.prepare("table", name=name, checked=checked)
        plain, checked, commit = taking_turns((here, also, there))
        lines.append({"table": name, "this tree": plain, "checked": checked, "commit": commit})
        ratios = f"{commit / plain:7.1f}{commit / checked:7.1f}"
        print(f"  {name:10}{plain:8.2f}{checked:8.2f}{commit:8.2f}{ratios}", flush=True)
    return lines


PARTS = ("first", "apart", "overlapping", "threads", "curves", "tables")


def measured(commit, only):
    """Yield the parts that were asked for, or all, and what was measured."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        tree = stack.enter_context(checked_out(commit))
        here, there, peer = (Side(each, folder / str(i)) for i, each in enumerate((ROOT, tree, ROOT)))
        for side in (here, there, peer):
            stack.callback(side.close)
        sides = (here, there, peer)
        measures = {
            "first": lambda: measured_first({"this tree": ROOT, "commit": tree}, folder),
            "apart": lambda: measured_sweeps(sides, CASES, apart, "Components apart"),
            "overlapping": lambda: measured_sweeps(sides, CASES, overlapping, "Overlapping components"),
            "threads": lambda: measured_threads((here, there)),
            "curves": lambda: {
                name: measured_sweeps((here, peer), cases, lambda p: 2.0, f"Time against {name}", SIDES[::2])
                for name, cases in CURVES.items()
            },
            "tables": lambda: measured_tables(*sides),
        }
        for name in only or PARTS:
            yield name, measures[name]()


# ---- the page

README = """```{include} ../README.md
:start-after: "## Speed"
:end-before: "## How it works"
```"""


def slope(lines, axis, side):
    points = [(line[axis], line[side]) for line in lines if line[side]]
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def drawn(result):
    """Write docs/speed.svg: time of one sweep against rows, columns and components."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "speed"  # the same figures give the same file
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
    looks = {
        "this tree": ("#0072b2", "o", "-"),
        "scikit-learn": ("#595959", "^", ":"),
    }
    for panel, (axis, lines) in zip(panels, result["curves"].items(), strict=True):
        for side, (colour, marker, style) in looks.items():
            points = [(line[axis], line[side]) for line in lines if line[side]]
            label = f"{side}: slope {slope(lines, axis, side):.2f}"
            panel.loglog(*zip(*points, strict=True), color=colour, marker=marker, ls=style, label=label)
        panel.set_xlabel(axis)
        panel.legend(fontsize=8)
    panels[0].set_ylabel("CPU seconds of one sweep")
    figure.savefig(ROOT / "docs" / "speed.svg", metadata={"Date": None})


def page(result):
    """Return docs/speed.md."""
    commit = result["commit"]
    head = (
        f"Written by `python benchmarks/speed.py --against {commit}` (`make bench`); do not edit. All figures are"
        " ratios seen on one machine, those of a section in one run, with one thread unless said otherwise: this tree"
        f" against commit `{commit}` and a sweep of scikit-learn's `BayesianGaussianMixture` (full covariances). The"
        " sides take turns; CPU time, medians of rounds. Above 1: this tree is faster. What long tables take, in time"
        " and in memory, is under [scale](scale.md#what-it-takes); why it is fast, and what was tried, under"
        " [decisions](decisions.md)."
    )
    sections = {"first": first_use_words, "apart": sweeps, "threads": threads, "curves": growth, "tables": tables}
    parts = [words(result) for name, words in sections.items() if result.get(name)]
    return "\n\n".join(["# Speed", README, head, *parts]) + "\n"


def first_use_words(result):
    commit, first = result["commit"], result["first"]
    return (
        "## First use\n\n"
        f"The first `fit` and `discover` after an installation (200 x 5 rows) compile for {first['this tree']:.1f} CPU"
        f" seconds; commit `{commit}`, which checked no answer, did for {first['commit']:.1f}. Later processes load"
        " what was compiled."
    )


def sweeps(result):
    lines = ["## One sweep", "", "Components apart: centres N(0, 16 I) up to 5 columns, N(0, 4 I) beyond. Overlapping:"]
    lines[-1] += " N(0, I / 4), so that nothing can be left out."
    lines += ["", "| rows | columns | components | apart: commit | scikit-learn | overlapping: commit | scikit-learn |"]
    lines.append("|---:|---:|---:|---:|---:|---:|---:|")
    for far, near in zip(result["apart"], result.get("overlapping", result["apart"]), strict=True):
        ratios = [
            f"{case[side] / case['this tree']:.1f}" for case in (far, near) for side in ("commit", "scikit-learn")
        ]
        sizes = [f"{far[name]:,}" for name in ("rows", "columns", "components")]
        lines.append("| " + " | ".join(sizes + ratios) + " |")
    return "\n".join(lines)


def threads(result):
    seen = ", ".join(
        f"{line['this tree']:.2f} at {line['columns']} columns (commit: {line['commit']:.2f})"
        for line in result["threads"]
    )
    return f"Two threads against one, by the clock: {seen}; 200,000 rows, a machine of two cores that others may use."


def growth(result):
    lines = [
        "## Growth",
        "",
        "![Time of one sweep against rows, columns and components, on logarithmic axes](speed.svg)",
    ]
    lines += ["", "| one of them grows | this tree | scikit-learn |", "|---|---:|---:|"]
    for axis, cases in result["curves"].items():
        cells = [f"{axis} ^ {slope(cases, axis, side):.2f}" for side in SIDES[::2]]
        lines.append(f"| {axis}, {cases[0][axis]:,} to {cases[-1][axis]:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def tables(result):
    lines = [
        "## Tables",
        "",
        "`fit` and `discover` of the team's tables of at most 2,000 rows, warm. The commit checks",
    ]
    lines[-1] += " no answer and bends no column. The last column: how many unchecked runs a checked one takes."
    lines += ["", "| table | unchecked: times faster than the commit | checked | checked / unchecked |"]
    lines.append("|---|---:|---:|---:|")
    for line in result["tables"]:
        plain, checked, commit = (line[name] for name in ("this tree", "checked", "commit"))
        lines.append(f"| {line['table']} | {commit / plain:.1f} | {commit / checked:.1f} | {checked / plain:.1f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Speed against a commit and against scikit-learn, as ratios.")
    parser.add_argument("--against", default="03f89ea", metavar="COMMIT")
    parser.add_argument("--only", default="", metavar="PARTS", help=",".join(PARTS))
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work()
        return
    only = [part for part in given.only.split(",") if part]
    result = json.loads(STORED.read_text()) if STORED.exists() else {}
    if result.get("commit") != given.against:
        result = {"commit": given.against}
    for name, seen in measured(given.against, only):
        result[name] = seen
        STORED.write_text(json.dumps(result, indent=1) + "\n")
    if "curves" in result:
        drawn(result)
    (ROOT / "docs" / "speed.md").write_text(page(result))


if __name__ == "__main__":
    main()
