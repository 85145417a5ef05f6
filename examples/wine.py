"""Two known cultivars of wine, one that nobody has labelled, and the picture of the README.

python examples/wine.py      (from any folder; writes docs/wine.png)
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from vbrand import VBrand

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "wine.png"
COLUMNS = ["alcohol", "flavanoids", "color_intensity", "hue", "proline"]

table = load_wine(as_frame=True)
rows, cultivar = table.data[COLUMNS], table.target_names[table.target]
labelled = (cultivar != "class_2") & (np.arange(len(rows)) % 2 == 0)

detector = VBrand(random_state=0).fit(rows[labelled], cultivar[labelled])
found = detector.discover(rows[~labelled])
print(found)
print(found.summary())

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharex=True, sharey=True, layout="constrained")
x, y = rows["flavanoids"], rows["color_intensity"]
for name, marker in (("class_0", "o"), ("class_1", "s")):
    chosen = labelled & (cultivar == name)
    axes[0].scatter(x[chosen], y[chosen], marker=marker, label=f"{name}, labelled")
axes[0].scatter(x[~labelled], y[~labelled], c="lightgrey", marker=".", zorder=0, label="unlabelled")
for k, (group, marker) in enumerate(zip(found.groups, "os^vDX", strict=False)):
    inside = found.clusters == k
    axes[1].scatter(x[~labelled][inside], y[~labelled][inside], marker=marker, label=f"{group.name} ({group.rows})")
axes[0].set(title="what is known", xlabel="flavanoids", ylabel="color intensity")
axes[1].set(title="what was found", xlabel="flavanoids")
for panel in axes:
    panel.legend(frameon=False)
figure.savefig(PICTURE, dpi=110)
