"""
A table that does not fit into memory
=====================================

A folder of Parquet files goes in by its name. Rows are read block by block, answers are memory maps, and both are the
same to the last bit as in memory. (Here the table is small, so that the page is made quickly.)
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from vbrand import VBrand

rng = np.random.default_rng(0)
names = np.array(["oat", "rye", "millet"])
folder = tempfile.TemporaryDirectory()
for part in range(4):
    kind = rng.integers(0, 3, 10_000)
    table = pd.DataFrame(rng.normal(6.0 * kind[:, None], 1.0, (kind.size, 5)), columns=list("abcde"))
    table["class"] = np.where((rng.random(kind.size) < 0.02) & (kind < 2), names[kind], None)
    table.to_parquet(Path(folder.name) / f"part {part}.parquet")

# %%
# ``y`` is the name of the column of labels; rows without one are discovered.
detector = VBrand(random_state=0).fit(folder.name, "class")
found = detector.discovery_
print(found)
print(type(found.labels), found.labels.shape)
