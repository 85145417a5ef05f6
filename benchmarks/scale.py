"""Tables larger than memory: a folder of Parquet files, fitted in a process that is allowed an eighth of its size.

    python benchmarks/scale.py limit [MB]    # the table in MB; the process that fits it may take an eighth of that
    python benchmarks/scale.py rates         # rows per second: in memory, .npy, Parquet, Dask

The child measures its own address space after imports and a small fit (compiled code is loaded by then), adds what it
is allowed, and sets that as a hard limit (RLIMIT_AS). Its answer must be that of a fit in memory.
"""

import json
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
    """Return the labels: of three classes one row in 500 has one."""
    given = (np.arange(member.size) % 500 < 3) & (member < 3)
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

folder, columns, allowed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
known = np.repeat(rng.normal(0, 4, (2, columns)), 500, axis=0) + rng.normal(size=(1000, columns))
warm = VBrand(random_state=0).fit(known, np.repeat(["oat", "rye"], 500)).discover(np.tile(known, (10, 1)))
resting = status("VmSize") * 1024
if allowed:
    resource.setrlimit(resource.RLIMIT_AS, (resting + allowed, resting + allowed))
before = status("VmRSS")
found = VBrand(random_state=0).fit(folder, "class").discovery_
labels, count = np.unique(found.labels, return_counts=True)
import hashlib
digest = hashlib.sha256(np.ascontiguousarray(found.clusters).tobytes()).hexdigest()
print(json.dumps({"bound": found.elbo.hex(), "clusters": digest, "peak": status("VmHWM") - before, "said": str(found)}))
"""


def child(folder, columns, allowed):
    """Return what a process says that fits a folder and may take so many bytes beside its imports."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(folder), str(columns), str(allowed)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])


def in_memory(rows, columns):
    """Return the bound and a digest of the clusters of the same rows in memory."""
    import hashlib

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
        began = time.perf_counter()
        allowed = megabytes * 10**6 // share if share else 0
        found = child(folder, columns, allowed)
        seconds = time.perf_counter() - began
    print(f"{rows:,} rows x {columns}: {megabytes} MB; {allowed // 10**6} MB allowed above the import")
    print(f"{found['said']}  {seconds:.0f} s, largest resident memory above the import {found['peak'] // 1000} MB")
    return found, rows


if __name__ == "__main__":
    what, *numbers = sys.argv[1:] or ["limit"]
    if what == "limit":
        size, share = (*map(int, numbers), 1024, 8)[:2] if len(numbers) < 2 else map(int, numbers)
        found, rows = limit(size, share)
        same = in_memory(rows, COLUMNS) == (found["bound"], found["clusters"])
        print(f"bit-identical with the fit in memory: {same}")
