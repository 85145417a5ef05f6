"""Tables larger than memory: a folder of Parquet files, fitted in a process that is allowed an eighth of its size.

    python benchmarks/scale.py limit [MB [COLUMNS]]     # the table in MB; who fits it may take an eighth of that
    python benchmarks/scale.py rates [ROWS [COLUMNS [WORKERS ..]]]  # the same fit in memory, .npy, Parquet, Dask
    python benchmarks/scale.py estimate                 # what a thousand million rows of 20 columns would take

The child measures its memory after imports and a small fit (compiled code is loaded by then), adds what it is allowed,
and sets that as a hard limit. The limit is RLIMIT_DATA: whatever the process may write and nobody else sees, touched or
not, which is more than it really takes. RLIMIT_AS would count files that are mapped, too, answers above all, which the
system takes back when it needs room. What is compared with block and model is what is really taken of it (RssAnon), by
a look every millisecond. The answer must be that of a fit in memory.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

COLUMNS, FILES = 32, 8
# rows of a table that is long enough to be searched through a sample and to have files of more than a row group
SHORTEST = 160_000


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


def detector(quick=False):
    """Return who fits: as users have it, or with a smaller sample and no check, so that a test need not be long."""
    from vbrand import VBrand

    if not quick:
        return VBrand(random_state=0)
    from vbrand.estimators.tuning import Tuning
    from vbrand.inference.tuning import SearchTuning

    search = SearchTuning(many_rows=9_000, sample=2_000, local_rows=1_000)
    return VBrand.tuned(Tuning(search=search), random_state=0, kernel="gaussian", check=0)


def status(name):
    """Return what the system says of the memory of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


@contextmanager
def largest(name):
    """Yield a list that holds, in the end, by how much the memory of this process has grown at the most."""
    before, peak, over, ready = status(name), [0], threading.Event(), threading.Event()
    sys.setswitchinterval(5e-4)  # who computes lets the one who looks have a turn

    def look():
        while not over.wait(0.001):
            peak[0] = max(peak[0], status(name) - before)
            ready.set()

    looking = threading.Thread(target=look)
    looking.start()
    ready.wait()
    try:
        yield peak
    finally:
        over.set()
        looking.join()


def digest_of(numbers):
    """Return a fingerprint of numbers, a part at a time."""
    digest = hashlib.sha256()
    for first in range(0, numbers.size, 100_000):
        digest.update(np.ascontiguousarray(numbers[first : first + 100_000]).tobytes())
    return digest.hexdigest()


def limited(folder, small, allowed, quick, whole):
    """Fit a folder in this process, which may take so many bytes from here on; as a `whole` it is read into memory."""
    import resource

    import pandas as pd
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401

    def fit(path):
        if not whole:
            return detector(quick).fit(path, "class").discovery_
        table = pd.read_parquet(path)
        labels = table.pop("class")
        return detector(quick).fit(table, labels).discovery_

    fit(small)
    with largest("RssAnon") as peak:  # its thread has its stack by then
        if allowed:
            most = status("VmData") + allowed
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        found = fit(folder)
    answer = {"bound": found.elbo, "clusters": digest_of(found.clusters), "said": str(found)}
    print(json.dumps({**answer, "peak": peak[0]}))


def child(folder, small, allowed, quick=False, whole=False):
    """Return what a process says that fits a folder and may take so many bytes beside its imports and a small fit.

    Arrow's own allocators reserve memory ahead, which counts as taken: here it has none of them. That of C is told to
    give back what is freed: else how it is scattered would count, too.
    """
    thrifty = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    single = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    words = [__file__, "child", folder, small, allowed, int(quick), int(whole)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **thrifty, **single, "ARROW_DEFAULT_MEMORY_POOL": "system"},
    )
    if done.returncode:
        raise MemoryError(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])


def in_memory(rows, columns, quick=False):
    """Return the bound and a digest of the clusters of the same rows in memory."""
    parts = [rows_of(part, rows // FILES, columns) for part in range(FILES)]
    table = np.concatenate([part for part, _ in parts])
    labels = np.concatenate([labels_of(member) for _, member in parts])
    known = detector(quick).fit(table[labels != ""], labels[labels != ""])
    found = known.discover(table[labels == ""])
    return found.elbo, digest_of(found.clusters)


def compared(place, megabytes, columns, share=8, quick=False):
    """Return what is found of a table that is so many times larger than the memory allowed, and beside what.

    Block and model are what the shortest table takes that is searched through a sample and whose files are longer than
    a block: it has all that a long one has but its length. (Not if it is to be quick: what else is at rest in memory
    makes some MB, which is little only beside the sample that users have.)
    """
    rows = megabytes * 10**6 // (8 * columns)
    allowed = 8 * columns * rows // share
    for name, count in (("small", 10_000), *(() if quick else (("short", SHORTEST),)), ("big", rows)):
        write_folder(Path(place) / name, count, columns)
    folders = {name: Path(place) / name for name in ("small", "short", "big")}
    short = None if quick else child(folders["short"], folders["small"], 0)["peak"]
    began = time.perf_counter()
    found = child(folders["big"], folders["small"], allowed, quick)
    seconds = time.perf_counter() - began
    bound, clusters = in_memory(rows, columns, quick)
    return {
        **found,
        "rows": rows,
        "allowed": allowed,
        "seconds": seconds,
        "same labels": clusters == found["clusters"],
        "bounds differ": abs(found["bound"] - bound) / abs(bound),
        "block and model": short,
    }


def limit(megabytes, columns=COLUMNS):
    """Fit a table that is eight times larger than the memory allowed; return whether all that must hold holds."""
    with tempfile.TemporaryDirectory() as place:
        found = compared(place, megabytes, columns)
    ratio = found["peak"] / found["block and model"]
    print(f"{found['rows']:,} rows x {columns}: {megabytes} MB; {found['allowed'] / 1e6:.0f} MB allowed, a hard limit")
    print(
        f"{found['said']}  {found['seconds']:.0f} s; labels as in memory: {found['same labels']}, bounds differ by "
        f"{found['bounds differ']:.0e}"
    )
    print(
        f"block and model {found['block and model'] / 1e6:.1f} MB, largest {found['peak'] / 1e6:.1f} MB: {ratio:.2f} x",
        flush=True,
    )
    return found["same labels"] and found["bounds differ"] <= 1e-9 and ratio <= 1.2


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
        np.save(file, np.ascontiguousarray(table[~given].drop(columns="class").to_numpy()))
        del table
        known.discover(np.load(file, mmap_mode="r")[:20_000].copy())

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
    if what == "child":
        limited(*numbers[:2], *map(int, numbers[2:]))
    if what == "limit":
        size, columns = [*map(int, numbers), *(1024, COLUMNS)[len(numbers) :]]
        sys.exit(0 if limit(size, columns) else 1)
    if what == "estimate":
        estimate(*map(int, numbers))
    if what == "rates":
        rows, columns, *workers = [*map(int, numbers), *(10_000_000, 10)[len(numbers) :]]
        sys.exit(0 if rates(rows, columns, workers or (1, 2, 4)) else 1)
