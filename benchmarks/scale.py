"""Tables larger than memory: a folder of Parquet files, fitted in a process that is allowed an eighth of its size.

    python benchmarks/scale.py limit [MB [COLUMNS]]   # the table in MB; who fits it may take an eighth of that
    python benchmarks/scale.py rates [ROWS [COLUMNS]]  # seconds of the same fit: in memory, .npy, Parquet folder, Dask

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
import json, resource, sys, warnings
from pathlib import Path
import numpy as np
import pyarrow.parquet, pyarrow.csv, pandas
from vbrand import VBrand

def status(name):
    return next(int(l.split()[1]) for l in Path("/proc/self/status").read_text().splitlines() if l.startswith(name))

folder, small, allowed = sys.argv[1], sys.argv[2], int(sys.argv[3])
VBrand(random_state=0).fit(small, "class")
resting = status("VmData") * 1024
if allowed:
    resource.setrlimit(resource.RLIMIT_DATA, (resting + allowed, resting + allowed))
before = status("RssAnon")
import threading, time
peak, over = [0, 0], threading.Event()
def watch():
    while not over.wait(0.005):
        peak[0] = max(peak[0], status("RssAnon")); peak[1] = max(peak[1], status("VmData"))
watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
found = VBrand(random_state=0).fit(folder, "class").discovery_
labels, count = np.unique(found.labels, return_counts=True)
import hashlib
over.set()
digest = hashlib.sha256(np.ascontiguousarray(found.clusters).tobytes()).hexdigest()
taken = {"peak": peak[0] - before, "data": peak[1] - resting // 1024}
print(json.dumps({"bound": found.elbo.hex(), "clusters": digest, **taken, "said": str(found)}))
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


def limit(megabytes, share=8, columns=COLUMNS):
    rows = megabytes * 10**6 // (8 * columns)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "big"
        write_folder(folder, rows, columns)
        write_folder(Path(place) / "small", 10_000, columns)
        began = time.perf_counter()
        allowed = megabytes * 10**6 // share if share else 0
        found = child(folder, Path(place) / "small", allowed)
        seconds = time.perf_counter() - began
    print(f"{rows:,} rows x {columns}: {megabytes} MB; {allowed // 10**6} MB allowed above the import")
    print(f"{found['said']}  {seconds:.0f} s, largest resident memory above the import {found['peak'] // 1000} MB")
    return found, rows


def timed(name, fit, expected=None):
    """Return how long a fit takes, how often it looked at all rows, and its answer."""
    began = time.perf_counter()
    found = fit()
    seconds = time.perf_counter() - began
    answer = found.elbo.hex(), hashlib.sha256(np.ascontiguousarray(found.clusters).tobytes()).hexdigest()
    same = "" if expected is None else f"  {seconds / expected[0]:.2f} x, bit-identical: {answer == expected[1]}"
    print(f"{name:24} {seconds:7.1f} s{same}", flush=True)
    return seconds, answer


def rates(rows, columns):
    """Print how long the same fit takes wherever its rows lie; imports and compiled code are loaded before."""
    from distributed import Client, LocalCluster

    from vbrand import VBrand

    parts = [rows_of(part, rows // FILES, columns) for part in range(FILES)]
    table = np.concatenate([part for part, _ in parts])
    labels = np.concatenate([labels_of(member) for _, member in parts])
    known = VBrand(random_state=0, n_jobs=-1).fit(table[labels != ""], labels[labels != ""])
    rest = table[labels == ""]
    known.discover(rest[:30_000])
    print(f"{rest.shape[0]:,} rows x {columns}")
    expected = timed("in memory, threads", lambda: known.discover(rest))

    with tempfile.TemporaryDirectory() as place:
        np.save(Path(place) / "rows.npy", rest)
        timed(".npy", lambda: known.discover(Path(place) / "rows.npy"), expected)
        write_folder(Path(place) / "big", rows, columns)
        again = VBrand(random_state=0, n_jobs=-1)
        timed("Parquet folder, with fit", lambda: again.fit(Path(place) / "big", "class").discovery_, expected)
        for workers in (1, 2, 4):
            on_workers(Path(place) / "big", workers, expected, LocalCluster, Client)


def on_workers(folder, workers, expected, local_cluster, client_of):
    """Print how long the same fit takes on so many processes, which read the files themselves."""
    from dask import dataframe

    from vbrand import VBrand

    with (
        local_cluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        client_of(cluster) as client,
    ):
        detector = VBrand(random_state=0, n_jobs=-1, engine=client)
        part = dataframe.read_parquet(folder / "part-0.parquet")
        detector.fit(part, "class")  # workers load compiled code
        whole = dataframe.read_parquet(folder)
        timed(f"Dask, {workers} processes", lambda: detector.fit(whole, "class").discovery_, expected)


if __name__ == "__main__":
    what, *numbers = sys.argv[1:] or ["limit"]
    if what == "limit":
        size, columns = [*map(int, numbers), *(1024, COLUMNS)[len(numbers) :]]
        found, rows = limit(size, columns=columns)
        same = in_memory(rows, columns) == (found["bound"], found["clusters"])
        print(f"bit-identical with the fit in memory: {same}")
        sys.exit(0 if same else 1)
    if what == "rates":
        rows, columns = [*map(int, numbers), *(10_000_000, 10)[len(numbers) :]]
        rates(rows, columns)
