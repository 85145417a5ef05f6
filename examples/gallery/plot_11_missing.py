"""
Missing cells
=============

A fifth of the cells of a table are empty. None is filled in: a row is compared by the cells that it has.
"""

import numpy as np
from sklearn.datasets import load_wine

from vbrand import VBrand
from vbrand.metrics import evaluate

rows, cultivar = load_wine(return_X_y=True, as_frame=True)
truth = np.array(["Barolo", "Grignolino", "Barbera"])[cultivar]
labelled = (truth != "Barbera") & (np.arange(truth.size) % 2 == 0)

rng = np.random.default_rng(0)
for share in (0.0, 0.1, 0.2, 0.3):
    holes = rows.mask(rng.random(rows.shape) < share)
    found = VBrand(random_state=0).fit(holes[labelled], truth[labelled]).discover(holes[~labelled])
    scores = evaluate(truth[~labelled], found)
    print(f"{share:.0%} missing: ARI {scores.ari:.2f}, F1 of novelty {scores.novelty_f1:.2f}")

# %%
# What the summary says of the last of them:
print(found.summary())
