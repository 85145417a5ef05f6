"""Tables larger than memory and larger than one process: what they take, and that answers are those in memory.

    python benchmarks/scale.py limit [MB [COLUMNS]]  # a folder of Parquet files; who fits it may take an eighth of that
    python benchmarks/scale.py same [ROWS [COLUMNS [WORKERS ..]]]  # bit by bit: memory, memory map, Parquet, Dask
    python benchmarks/scale.py rates [ROWS [COLUMNS [WORKERS ..]]]  # what the same fit takes on disk, and with Dask
    python benchmarks/scale.py estimate              # what a thousand million rows of 20 columns would take

Each writes its section of docs/scale.md.

The child of `limit` measures its memory after imports and a small fit (compiled code is loaded by then), adds what it
is allowed, and sets that as a hard limit. The limit is RLIMIT_DATA: whatever the process may write and nobody else
sees, touched or not, which is more than it really takes. RLIMIT_AS would count files that are mapped, too, answers
above all, which the system takes back when it needs room. What is compared with block and model is what is really taken
of it (RssAnon), by a look every millisecond.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, FILES = 16, 8
# rows of the shortest table that has all that a long one has: it is searched through a sample, its files hold several
# row groups, and it is cut into as many pieces, 64 of 8,192 rows
SHORTEST = 64 * 8_192


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


def may_write():
    """Return what this process may write and nobody else sees, touched or not, in bytes: what RLIMIT_DATA limits."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmData"))


@contextmanager
def largest():
    """Yield a list that holds, in the end, by how much the memory of this process has grown at the most (RssAnon)."""
    page, file = os.sysconf("SC_PAGE_SIZE"), os.open("/proc/self/statm", os.O_RDONLY)

    def taken():
        _, resident, of_files = os.pread(file, 200, 0).split()[:3]
        return page * (int(resident) - int(of_files))

    before, peak, over, ready = taken(), [0], threading.Event(), threading.Event()
    sys.setswitchinterval(5e-4)  # who computes lets the one who looks have a turn

    def look():
        while not over.wait(0.001):
            peak[0] = max(peak[0], taken() - before)
            ready.set()

    looking = threading.Thread(target=look)
    looking.start()
    ready.wait()
    try:
        yield peak
    finally:
        over.set()
        looking.join()
        os.close(file)


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
    with largest() as peak:  # its thread has its stack by then
        if allowed:
            most = may_write() + allowed
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

    Block and model are what the shortest table takes that has all that a long one has but its length. (Not if it is to
    be quick: what else is at rest in memory makes some MB, which is little only beside the sample that users have.)
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
    written(
        "limit",
        f"A folder of Parquet files of {found['rows']:,} rows in {columns} columns, {megabytes} MB of numbers, was "
        f"fitted with settings as they come in a process that was allowed {found['allowed'] / 1e6:.0f} MB above its "
        f"imports as a hard limit, in {found['seconds']:.0f} s. Labels as in memory: {yes(found['same labels'])}; "
        f"bounds differ by {found['bounds differ']:.0e} of their size. It took {found['peak'] / 1e6:.1f} MB at the "
        f"most, {ratio:.2f} times as much as block and model, {found['block and model'] / 1e6:.1f} MB: what a table of "
        f"{SHORTEST:,} rows takes.",
    )
    return found["same labels"] and found["bounds differ"] <= 1e-9 and ratio <= 1.2


def yes(fact):
    return "yes" if fact else "no"


def written(part, text):
    """Print what was seen, and write it to its section of docs/scale.md."""
    given = [text] if isinstance(text, str) else text
    indents = ["  " if line.startswith("- ") else "" for line in given]
    lines = [
        textwrap.fill(line, 128, subsequent_indent=indent, break_on_hyphens=False)
        for line, indent in zip(given, indents, strict=True)
    ]
    shown = text if isinstance(text, str) and text.startswith("|") else "\n".join(lines)
    print(shown, flush=True)
    page, marks = ROOT / "docs" / "scale.md", (f"<!-- written by scale.py {part} -->", f"<!-- end of {part} -->")
    before, _, after = re.split(f"({marks[0]}.*?{marks[1]})", page.read_text(), maxsplit=1, flags=re.DOTALL)
    page.write_text(f"{before}{marks[0]}\n\n{shown}\n\n{marks[1]}{after}")


class Timed:
    """Seconds on the clock, and of all processors, that fits take wherever their rows lie, beside that of another."""

    def __init__(self):
        self.lines, self.answer = [], None

    def run(self, name, fit, beside=None, elsewhere=lambda: 0.0):
        """Note how long a fit takes; `elsewhere` are the seconds that processors of other processes have worked."""
        began = time.perf_counter(), time.process_time() + elsewhere()
        found = fit()
        wall, work = time.perf_counter() - began[0], time.process_time() + elsewhere() - began[1]
        answer = found.elbo.hex(), digest_of(found.labels), digest_of(found.clusters)
        self.answer = self.answer or answer
        other = next((line for line in self.lines if line["name"] == beside), None)
        line = {"name": name, "wall": wall, "work": work, "same": answer == self.answer}
        line["ratio"] = None if other is None else work / other["work"]
        line["ratio on the clock"] = None if other is None else wall / other["wall"]
        self.lines.append(line)
        print(line, flush=True)

    def table(self, title):
        """Return all that was seen as a table."""
        lines = [
            f"| {title} | seconds | of processors | beside memory | labels and bound |",
            "|---|---:|---:|---:|---|",
        ]
        for line in self.lines:
            ratio = "" if line["ratio"] is None else f"{line['ratio']:.2f}"
            same = "bit for bit the same" if line["same"] else "**differ**"
            lines.append(f"| {line['name']} | {line['wall']:.0f} | {line['work']:.0f} | {ratio} | {same} |")
        return "\n".join(lines)


class Tables:
    """The same rows in a folder of Parquet files and in a .npy file, and fits of them; compiled code is loaded."""

    def __init__(self, place, rows, columns):
        import pandas as pd

        from vbrand import VBrand

        self.folder, self.file = Path(place) / "big", Path(place) / "rows.npy"
        write_folder(self.folder, rows, columns)
        table = pd.read_parquet(self.folder)
        labels = table.pop("class")
        self.labels = np.array([None if pd.isna(name) else name for name in labels], dtype=object)
        np.save(self.file, np.ascontiguousarray(table.to_numpy()))
        self.new = lambda jobs, engine=None: VBrand(random_state=0, n_jobs=jobs, engine=engine)
        self.new(1).fit(table[:30_000], self.labels[:30_000])

    def in_memory(self, jobs):
        """Return what is found of rows that are read whole."""
        import pandas as pd

        table = pd.read_parquet(self.folder)
        labels = table.pop("class")
        return self.new(jobs).fit(table, labels).discovery_

    def mapped(self, jobs):
        """Return what is found of a memory map."""
        return self.new(jobs).fit(np.load(self.file, mmap_mode="r"), self.labels).discovery_

    def on_disk(self, jobs):
        """Return what is found of the folder of Parquet files."""
        return self.new(jobs).fit(self.folder, "class").discovery_

    def on_workers(self, workers, timed, beside):
        """Note how long the same fit takes on so many processes, which read the files themselves."""
        from dask import dataframe
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            detector = self.new(workers, client)
            first = dataframe.read_parquet(self.folder / "part-0.parquet")
            detector.fit(first.partitions[0].loc[:20_000], "class")  # workers load compiled code
            whole = dataframe.read_parquet(self.folder)

            def elsewhere():
                return sum(client.run(time.process_time).values())

            timed.run(f"Dask, {called(workers)}", lambda: detector.fit(whole, "class").discovery_, beside, elsewhere)


def called(workers):
    return "1 process" if workers == 1 else f"{workers} processes"


def same(rows, columns, workers=(1, 2, 4)):
    """Compare the answers of the same rows wherever they lie; return whether all are the same, bit for bit."""
    timed = Timed()
    with tempfile.TemporaryDirectory() as place:
        tables = Tables(place, rows, columns)
        timed.run("in memory", lambda: tables.in_memory(1))
        timed.run("memory map", lambda: tables.mapped(1), "in memory")
        timed.run("folder of Parquet files", lambda: tables.on_disk(1), "in memory")
        for count in workers:
            tables.on_workers(count, timed, "in memory")
    written("same", timed.table(f"{rows:,} rows x {columns}"))
    return all(line["same"] for line in timed.lines)


def rates(rows, columns, workers=(2,)):
    """Compare what the same fit takes in memory, on disk and on processes, as many threads as processes.

    Seconds of processors compare on a busy machine, not those on the clock. Return whether all that must hold holds.
    """
    timed, limits = Timed(), {}
    with tempfile.TemporaryDirectory() as place:
        tables = Tables(place, rows, columns)
        for count in workers:
            threads = "1 thread" if count == 1 else f"{count} threads"
            here, disk = f"in memory, {threads}", f"folder of Parquet files, {threads}"
            timed.run(here, lambda count=count: tables.in_memory(count))
            tables.on_workers(count, timed, here)
            timed.run(disk, lambda count=count: tables.on_disk(count), here)
            limits |= {disk: 1.3, f"Dask, {called(count)}": 1.2}
    written("rates", timed.table(f"{rows:,} rows x {columns}"))
    held = [line["ratio"] <= limits[line["name"]] for line in timed.lines if line["name"] in limits]
    return all(held) and all(line["same"] for line in timed.lines)


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


def estimate(rows=150_000, columns=20, wanted=10**9):
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
    core = wanted / 1e6 * (len(sweeps) * sweep + answer) / 3600
    labels_size = 4 * max(map(len, np.unique(labels).tolist()), default=0) + 8
    tasks, gigabyte = -(-wanted // 2**20), 1e-9 * wanted
    lines = [
        f"On one core a sweep over a million rows of {columns} columns (five classes, two of them novel) took "
        f"{sweep:.2f} s, of which there were {len(sweeps)}, and their answers {answer:.1f} s: seen with {rows:,} rows. "
        f"For {wanted:,} rows that makes",
        f"- {core:.1f} hours of one core, {60 * core / 64:.0f} minutes on 64 cores if all goes in parallel;",
        f"- {8 * gigabyte * columns:.0f} GB of rows in the memory of the workers, or on their disks;",
        f"- {4 * gigabyte:.0f} GB of winners (two bytes per row, before and after a sweep) and "
        f"{gigabyte * (24 + labels_size):.0f} GB of answers on the disk of the client, and for --resume two bytes per "
        f"row and pass: {2 * gigabyte * len(sweeps):.0f} GB;",
        f"- {2 * gigabyte:.0f} GB to and from the client in each pass, a byte per row and direction, and {tasks:,} "
        f"tasks of some 10 ms of the client: {tasks * 0.01:.0f} s per pass, {tasks * 0.01 * len(sweeps) / 60:.0f} "
        "minutes in all.",
    ]
    written("estimate", lines)


if __name__ == "__main__":
    what, *numbers = sys.argv[1:] or ["limit"]
    if what == "child":
        limited(*numbers[:2], *map(int, numbers[2:]))
    if what == "limit":
        size, columns = [*map(int, numbers), *(192, COLUMNS)[len(numbers) :]]
        sys.exit(0 if limit(size, columns) else 1)
    if what == "estimate":
        estimate(*map(int, numbers))
    if what in ("same", "rates"):
        compare, usual = (same, (1_000_000, 10)) if what == "same" else (rates, (10_000_000, 10))
        rows, columns, *workers = [*map(int, numbers), *usual[len(numbers) :]]
        sys.exit(0 if compare(rows, columns, *([workers] if workers else [])) else 1)
