"""
Cytometry-like: a rare population
=================================

Simulated, with the shapes that flow cytometry has: log-normal intensities of six markers, classes of very different
size, and two hundred cells of a population that nobody has gated, among twenty thousand.
"""

import numpy as np

from vbrand import VBrand
from vbrand.metrics import confusion

MARKERS = ["CD3", "CD4", "CD8", "CD19", "CD56", "CD14"]
POPULATIONS = {
    "T helper": [3.0, 3.0, 0.5, 0.4, 0.4, 0.5],
    "T killer": [3.0, 0.5, 3.0, 0.4, 0.6, 0.5],
    "B": [0.5, 0.5, 0.5, 3.0, 0.4, 0.5],
    "monocyte": [0.5, 1.5, 0.5, 0.4, 0.5, 3.5],
    "NK": [0.5, 0.4, 1.2, 0.4, 3.0, 0.5],
}
rng = np.random.default_rng(0)


def cells(name, n):
    """Return log intensities of so many cells."""
    return np.log1p(np.exp(rng.normal(POPULATIONS[name], 0.35, (n, len(MARKERS))) + 0.15 * rng.normal(size=(n, 1))))


names = ["T helper", "T killer", "B", "monocyte"]
train = np.vstack([cells(name, 150) for name in names])
labels = np.repeat(names, 150)
sizes = {"T helper": 9_000, "T killer": 6_000, "B": 3_000, "monocyte": 1_800, "NK": 200}
test = np.vstack([cells(name, n) for name, n in sizes.items()])
truth = np.repeat(list(sizes), list(sizes.values()))

found = VBrand(random_state=0).fit(train, labels).discover(test)
print(found.summary())
print(confusion(truth, found))

# %%
found.plot.map()
