"""Tables larger than memory: a folder of Parquet files, fitted in a process that is allowed an eighth of its size.

    python benchmarks/scale.py limit [MB [COLUMNS]]     # the table in MB; who fits it may take an eighth of that
    python benchmarks/scale.py rates [ROWS [COLUMNS [WORKERS ..]]]  # the same fit in memory, .npy, Parquet, Dask
    python benchmarks/scale.py estimate                 # what a thousand million rows of 20 columns would take

The child measures its memory after imports and a small fit (compiled code is loaded by then), adds what it is allowed,
and sets that as a hard limit (RLIMIT_DATA: whatever it allocates; files that are mapped into memory, which the system
takes back when it needs room, are none of it). Its answer must be that of a fit in memory.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS, FILES = 32, 8
# rows of a table that is just long enough to be searched through a sample, of which some have labels
SHORTEST = 112_000


def centres(columns=COLUMNS):
    return np.random.default_rng(0).normal(0, 4, (5, columns))


def rows_of(part, rows, columns=COLUMNS):
    """Return some rows of five classes, and which they are of."""
    rng = np.random.default_rng(1 + part)
    member = rng.integers(0, 5, rows)
    return centres(columns)[member] + rng.normal(size=(rows, columns)), member


def labels_of(member):
    """Return the labels: the first rows of three classes have one, as many in a large table as in a small one."""
    given = (np.arange(member.size) < 300) & (member < 3)
    return np.where(given, np.array(["oat", "rye", "hop", "", ""])[member], "")


def write_folder(folder, rows, columns=COLUMNS):
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir()
    for part in range(FILES):
        table, member = rows_of(part, rows // FILES, columns)
        labels = [name or None for name in labels_of(member).tolist()]
        data = {f"x{j}": table[:, j] for j in range(columns)} | {"class": pa.array(labels, pa.string())}
        parquet.write_table(pa.table(data), folder / f"part-{part}.parquet", row_group_size=16_384)


CHILD = """
import hashlib, json, resource, sys, threading
from pathlib import Path
import numpy as np
import pyarrow.parquet, pyarrow.csv, pandas
from vbrand import VBrand

def status(name):
    return next(int(l.split()[1]) for l in Path("/proc/self/status").read_text().splitlines() if l.startswith(name))

folder, small, allowed = sys.argv[1], sys.argv[2], int(sys.argv[3])
peak, over = [0, 0], threading.Event()
def watch():
    while not over.wait(0.005):
        peak[0] = max(peak[0], status("RssAnon")); peak[1] = max(peak[1], status("VmData"))
VBrand(random_state=0).fit(small, "class")
threading.Thread(target=watch, daemon=True).start()
resting, before = status("VmData"), status("RssAnon")
peak[:] = [0, 0]
if allowed:
    resource.setrlimit(resource.RLIMIT_DATA, (1024 * resting + allowed, 1024 * resting + allowed))
found = VBrand(random_state=0).fit(folder, "class").discovery_
over.set()
digest = hashlib.sha256()
for first in range(0, found.clusters.size, 100_000):
    digest.update(np.ascontiguousarray(found.clusters[first : first + 100_000]).tobytes())
taken = {"peak": peak[0] - before, "data": peak[1] - resting}
print(json.dumps({"bound": found.elbo.hex(), "clusters": digest.hexdigest(), **taken, "said": str(found)}))
"""


def child(folder, small, allowed):
    """Return what a process says that fits a folder and may take so many bytes beside its imports and a small fit.

    Arrow's own allocators reserve memory ahead, which counts as taken: here it has none of them.
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(folder), str(small), str(allowed)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])


def in_memory(rows, columns):
    """Return the bound and a digest of the clusters of the same rows in memory."""
    from vbrand import VBrand

    parts = [rows_of(part, rows // FILES, columns) for part in range(FILES)]
    table = np.concatenate([part for part, _ in parts])
    labels = np.concatenate([labels_of(member) for _, member in parts])
    found = VBrand(random_state=0).fit(table[labels != ""], labels[labels != ""]).discover(table[labels == ""])
    return found.elbo.hex(), hashlib.sha256(found.clusters.tobytes()).hexdigest()


def limit(megabytes, columns=COLUMNS, share=8):
    """Fit a table that is so many times larger than the memory allowed; return whether all that must hold holds.

    Block and model are what the shortest table takes that is searched through a sample: it has all that a long one has
    but its length.
    """
    rows, allowed = megabytes * 10**6 // (8 * columns), megabytes * 10**6 // share
    with tempfile.TemporaryDirectory() as place:
        for name, count in (("small", 10_000), ("short", SHORTEST), ("big", rows)):
            write_folder(Path(place) / name, count, columns)
        short = child(Path(place) / "short", Path(place) / "small", 0)
        began = time.perf_counter()
        found = child(Path(place) / "big", Path(place) / "small", allowed)
        seconds = time.perf_counter() - began

    same = in_memory(rows, columns) == (found["bound"], found["clusters"])
    print(
        f"{rows:,} rows x {columns}: {megabytes} MB; {allowed / 1e6:.0f} MB allowed above the import, as a hard limit"
    )
    print(f"{found['said']}  {seconds:.0f} s; bit-identical with the fit in memory: {same}")
    ratio = found["peak"] / short["peak"]
    print(
        f"block and model {short['peak'] / 1e3:.1f} MB, largest {found['peak'] / 1e3:.1f} MB: {ratio:.2f} x", flush=True
    )
    return same and ratio <= 1.2


class Timed:
    """Seconds, and seconds of processors, that fits take wherever their rows lie; each beside that of another one."""

    def __init__(self):
        self.seconds, self.answer, self.same = {}, None, True

    def run(self, name, fit, beside=None, elsewhere=lambda: 0.0):
        """Print how long a fit takes; `elsewhere` are the seconds that processors of other processes have worked."""
        began = time.perf_counter(), time.process_time() + elsewhere()
        found = fit()
        wall, work = time.perf_counter() - began[0], time.process_time() + elsewhere() - began[1]
        self.seconds[name] = wall, work

        answer = found.elbo.hex(), hashlib.sha256(np.ascontiguousarray(found.clusters).tobytes()).hexdigest()
        self.answer = self.answer or answer
        self.same &= answer == self.answer
        ratio = (
            ""
            if beside is None
            else "  {:.2f} x, work {:.2f} x".format(
                *(own / other for own, other in zip((wall, work), self.seconds[beside], strict=True))
            )
        )
        print(f"{name:38} {wall:7.1f} s, work {work:7.1f} s{ratio}, same: {answer == self.answer}", flush=True)


def rates(rows, columns, workers=(1, 2, 4)):
    """Print how long the same fit takes wherever its rows lie; imports and compiled code are loaded before.

    Beside the time on the clock stands the work of all processors: on a busy machine only that compares.
    """
    import pandas as pd

    from vbrand import VBrand

    timed, cores = Timed(), os.cpu_count()
    with tempfile.TemporaryDirectory() as place:
        folder, file = Path(place) / "big", Path(place) / "rows.npy"
        write_folder(folder, rows, columns)
        table = pd.read_parquet(folder)
        given = table["class"].notna()
        known = VBrand(random_state=0, n_jobs=cores).fit(table[given].drop(columns="class"), table["class"][given])
        np.save(file, table[~given].drop(columns="class").to_numpy())
        del table
        known.discover(np.load(file, mmap_mode="r")[:120_000].copy())

        print(f"{rows:,} rows x {columns}, {cores} threads")
        timed.run("in memory, of .npy", lambda: known.discover(np.load(file)))
        timed.run("on disk, .npy", lambda: known.discover(file), "in memory, of .npy")

        def read(jobs):
            whole = pd.read_parquet(folder)
            labels = whole.pop("class")
            return VBrand(random_state=0, n_jobs=jobs).fit(whole, labels).discovery_

        timed.run("in memory, of Parquet", lambda: read(cores))
        on_disk = VBrand(random_state=0, n_jobs=cores)
        timed.run("on disk, Parquet", lambda: on_disk.fit(folder, "class").discovery_, "in memory, of Parquet")
        for count in workers:
            timed.run(f"in memory, of Parquet, {count} threads", lambda count=count: read(count))
            on_workers(folder, count, timed)
    return timed.same


def on_workers(folder, workers, timed):
    """Print how long the same fit takes on so many processes, which read the files themselves."""
    from dask import dataframe
    from distributed import Client, LocalCluster

    from vbrand import VBrand

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        detector = VBrand(random_state=0, n_jobs=workers, engine=client)
        first = dataframe.read_parquet(folder / "part-0.parquet")
        detector.fit(first.partitions[0], "class")  # workers load compiled code
        whole = dataframe.read_parquet(folder)

        def elsewhere():
            return sum(client.run(time.process_time).values())

        beside = f"in memory, of Parquet, {workers} threads"
        timed.run(f"Dask, {workers} processes", lambda: detector.fit(whole, "class").discovery_, beside, elsewhere)


def spent(module, name, worth=lambda *_: True):
    """Let a function of a module note what each call takes of the processor, if it is worth it; return the notes."""
    notes, plain = [], getattr(module, name)

    def noted(*arguments, **options):
        began = time.process_time()
        found = plain(*arguments, **options)
        if worth(*arguments):
            notes.append(time.process_time() - began)
        return found

    setattr(module, name, noted)
    return notes


def estimate(rows=300_000, columns=20, wanted=10**9):
    """Print what so many rows would take, from what fewer take of one core."""
    from vbrand import VBrand
    from vbrand.discovery import variational
    from vbrand.inference import cavi

    table, member = rows_of(0, rows, columns)
    labels = labels_of(member)
    known = VBrand(random_state=0).fit(table[labels != ""], labels[labels != ""])
    rest = table[labels == ""]
    known.discover(rest[:20_000])  # compiled code is loaded
    sweeps, answers = spent(cavi, "sweep", lambda own, *_: len(own) == len(rest)), spent(variational, "_tallied")
    known.discover(rest)

    sweep, answer = 1e6 * sum(sweeps) / len(sweeps) / len(rest), 1e6 * sum(answers) / len(rest)
    print(f"{columns} columns, one core: {sweep:.2f} s for a sweep over a million rows, {len(sweeps)} sweeps;")
    print(f"{answer:.2f} s for the answers of a million rows")
    core = wanted / 1e6 * (len(sweeps) * sweep + answer) / 3600
    memory, answers_size = 8e-9 * wanted * columns, 1e-9 * wanted * (3 * 8 + 4 * 5)
    print(f"{wanted:,} rows: {core:.1f} hours of one core, {core / 64:.2f} of 64; {memory:.0f} GB of rows on workers;")
    print(f"{2e-9 * wanted * 2:.0f} GB of winners and {answers_size:.0f} GB of answers on the disk of the client")


if __name__ == "__main__":
    what, *numbers = sys.argv[1:] or ["limit"]
    if what == "limit":
        size, columns = [*map(int, numbers), *(1024, COLUMNS)[len(numbers) :]]
        sys.exit(0 if limit(size, columns) else 1)
    if what == "estimate":
        estimate(*map(int, numbers))
    if what == "rates":
        rows, columns, *workers = [*map(int, numbers), *(10_000_000, 10)[len(numbers) :]]
        sys.exit(0 if rates(rows, columns, workers or (1, 2, 4)) else 1)
