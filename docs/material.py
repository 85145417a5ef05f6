"""The tables that the pages speak of: grains, known and new, by their ash, fat and fibre."""

from pathlib import Path

import numpy as np
import pandas as pd

PLACES = {"oat": 20.0, "rye": 28.0, "millet": 12.0}


def grains(rng: np.random.Generator, **rows: int) -> pd.DataFrame:
    """Return so many rows of each grain, in turn."""
    kinds = [kind for kind, count in rows.items() for _ in range(count)]
    places = np.array([PLACES[kind] for kind in kinds])[:, None]
    measured = pd.DataFrame(rng.normal(places, 1.0, (len(kinds), 3)).round(2), columns=["ash", "fat", "fibre"])
    return pd.concat([pd.Series(kinds, name="variety"), measured], axis=1)


def write_tables(folder: Path) -> None:
    """Write known and new grains, two weeks of them, a spreadsheet, and a folder of files."""
    rng = np.random.default_rng(0)
    known, *weeks = (grains(rng, oat=50, rye=50), *(grains(rng, oat=30, rye=20, millet=15) for _ in range(2)))
    everything = pd.concat([known, *weeks], ignore_index=True)
    everything.insert(0, "sample", [f"g{i}" for i in range(len(everything))])
    known, first, second = np.split(np.arange(len(everything)), [100, 165])

    everything.loc[known].to_csv(folder / "known.csv", index=False)
    for names, rows in ((("unknown", "week1"), first), (("week2", "more"), second)):
        for name in names:
            everything.loc[rows].drop(columns="variety").to_csv(folder / f"{name}.csv", index=False)
    everything.loc[known].rename(columns={"variety": "species"}).to_excel(folder / "plants.xlsx", index=False)

    (folder / "measured").mkdir()
    measured = everything.rename(columns={"variety": "class"})
    measured.loc[first[0] :, "class"] = None
    for number, rows in enumerate(np.array_split(np.arange(len(measured)), 3)):
        measured.loc[rows].to_parquet(folder / "measured" / f"part-{number}.parquet", index=False)
