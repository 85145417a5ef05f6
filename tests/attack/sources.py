"""Tables that stay where they are: files, folders, memory maps and Dask, whole and damaged, answer as in memory."""

import functools
import shutil

import numpy as np
import pandas as pd
from attack.judge import want, want_answer
from attack.tables import mutated
from dask import array, dataframe
from distributed import Client

from vbrand import VBrand

_COLUMNS = ("a", "b", "c")
_DIGITS = 1e-6


@functools.cache
def _client():
    """Return a cluster within this process, which ends with it."""
    return Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None, set_as_default=False)


def _written(table, place, kind, generator):
    """Write a table in one file or several; return what names it."""
    cuts = np.sort(generator.integers(0, len(table) + 1, int(generator.integers(0, 3))))
    for i, part in enumerate(np.split(np.arange(len(table)), cuts)):
        path, rows = place / f"{i}.{kind}", table.iloc[part]
        {"csv": rows.to_csv, "parquet": rows.to_parquet}[kind](path, index=False)
        if generator.random() < 0.15:
            path.write_bytes(mutated(path.read_bytes(), generator))
    return generator.choice([str(place), str(place / f"*.{kind}")]).item()


def _given(table, kind, place, generator):
    """Return a source of the rows of a table, of some kind."""
    if kind in ("csv", "parquet"):
        return _written(table, place, kind, generator)
    rows = table[list(_COLUMNS)].to_numpy()
    if kind == "npy":
        with np.errstate(over="ignore", invalid="ignore"):  # wild cells do not fit into every type
            rows = rows.astype(generator.choice([np.float32, np.float64, np.int64]))
        np.save(place / "rows.npy", rows)
        if generator.random() < 0.3:
            (place / "rows.npy").write_bytes(mutated((place / "rows.npy").read_bytes(), generator))
        return place / "rows.npy"
    if kind == "map":
        np.save(place / "map.npy", rows)
        return np.load(place / "map.npy", mmap_mode="r")
    if kind == "dask array":
        return array.from_array(rows, chunks=(int(generator.integers(1, len(rows) + 1)), int(generator.integers(1, 4))))
    return dataframe.from_pandas(table, npartitions=int(generator.integers(1, 5)), sort=False)


def _want_same(found, again, threshold, complaint):
    """Fail an attempt whose answer is another one.

    The last digits of probabilities may be others, for rows without any value are taken out in memory; and so may be
    the label of a row of which those tell it, as of such rows, which two classes of a size have alike.
    """
    want(np.allclose(found.probabilities, again.probabilities, rtol=0.0, atol=_DIGITS), complaint)
    first, second = np.sort(again.class_probabilities[:, :-1], axis=1)[:, :-3:-1].T
    tied = (first - second < _DIGITS) | (np.abs(again.novelty_probability - threshold) < _DIGITS)
    want((again.labels == found.labels)[~tied].all(), complaint)


def stay(generator, folder):
    """Discover rows that are not in memory; the answer is that of rows in memory."""
    place = folder / "source"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    member, n = np.repeat([0, 1], 30), int(generator.integers(1, 120))
    rows = np.array([[0.0] * 3, [9.0] * 3])[member] + generator.normal(size=(60, 3))
    unknown = np.array([[0.0] * 3, [9.0] * 3, [-9.0] * 3])[generator.integers(3, size=n)] + generator.normal(
        size=(n, 3)
    )
    if generator.random() < 0.15:
        unknown[generator.integers(n)] = generator.choice([np.nan, np.inf, 1e300, 1e12])
    kind = generator.choice(["csv", "parquet", "npy", "map", "dask array", "dask frame"]).item()
    detector = VBrand(random_state=0, check=int(generator.choice([0, 3])), engine=_client() if kind[0] == "d" else None)
    table = pd.DataFrame(unknown, columns=_COLUMNS)

    if kind in ("csv", "parquet", "dask frame") and generator.random() < 0.4:  # labelled rows lie there, too
        both = pd.concat([pd.DataFrame(rows, columns=_COLUMNS).assign(label=np.array(["oat", "rye"])[member]), table])
        both = both.sample(frac=1.0, random_state=int(generator.integers(100))).reset_index(drop=True)
        detector.fit(_given(both, kind, place, generator), "label", store=place / "answers")
        found = detector.discovery_
        want(np.isfinite(found.novelty_probability).all(), "P(novel) is missing")
    else:
        names = kind not in ("npy", "map", "dask array")
        detector.fit(pd.DataFrame(rows, columns=_COLUMNS) if names else rows, member)
        found = detector.discover(_given(table, kind, place, generator), store=place / "answers")
        if len(found.labels) == n and kind not in ("csv", "npy"):
            again = VBrand(**{**detector.get_params(), "engine": None}).fit(rows, member).discover(unknown)
            if kind != "parquet":  # a file that was changed may hold other rows
                _want_same(found, again, detector.threshold, f"{kind}: another answer than in memory")
                want_answer(detector, again, unknown)
    want(not list(place.rglob(".*")), "halves were left")
