"""Write docs/settings.png: what the five settings do that are worth a thought. Needs matplotlib.

python examples/settings.py      (from any folder)
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from vbrand import VBrand

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "settings.png"
COLOURS = {"known class": "#0072b2", "novel group": "#d55e00", "outlier group": "#7f7f7f"}


def clouds(*clouds_of, seed=0):
    """Return rows of round clouds, each given by its centre, its spread, its rows and its tails."""
    rng = np.random.default_rng(seed)
    return np.vstack([np.add(centre, spread * rng.standard_t(dof, (n, 2))) for centre, spread, n, dof in clouds_of])


def skewed(n, seed):
    """Return rows of two clouds with a long tail each: no bell curves."""
    centres = np.repeat([[-6, -4], [2, -4]], n, axis=0)
    return centres + np.random.default_rng(seed).gamma(1.0, 1.6, (2 * n, 2))


KNOWN = ((-3, 0), 1.0, 80, 50), ((3, 0), 1.0, 80, 50)
LABELS = np.repeat([0, 1], 80)
BETWEEN = clouds(*KNOWN, ((0, 3.2), 1.1, 60, 50), seed=1)
TINY = clouds(*KNOWN, ((0, 6), 0.4, 8, 50), seed=2)
MOVED = clouds(((-3, 0.8), 1.0, 80, 50), KNOWN[1], ((0, 7), 0.7, 40, 50), seed=3)

# labelled rows, unlabelled rows, two settings
COLUMNS = [
    (clouds(*KNOWN), BETWEEN, {}, {"max_false_novelty": 0.01}),
    (clouds(*KNOWN), BETWEEN, {"threshold": 0.5}, {"threshold": 0.8}),
    (clouds(*KNOWN), TINY, {"min_group": 5}, {"min_group": 20}),
    (
        skewed(80, seed=0),
        np.vstack([skewed(400, seed=1), clouds(((0, 8), 0.7, 60, 50))]),
        {"check": "auto"},
        {"check": 0},
    ),
    (clouds(*KNOWN), MOVED, {"update_known": True}, {"update_known": False}),
]

figure, axes = plt.subplots(2, len(COLUMNS), figsize=(16, 6.4), layout="constrained")
for panels, (labelled, unlabelled, *both) in zip(axes.T, COLUMNS, strict=True):
    for panel, settings in zip(panels, both, strict=True):
        found = VBrand(random_state=0, **settings).fit(labelled, LABELS).discover(unlabelled)
        kinds = np.array([str(group.kind) for group in found.groups])[found.clusters]
        for kind, colour in COLOURS.items():
            rows = unlabelled[kinds == kind]
            panel.scatter(*rows.T, s=14, color=colour, alpha=0.7, lw=0, label=f"{kind} ({len(rows)})")
        ((name, value),) = settings.items() or (("max_false_novelty", None),)
        panel.set(title=f"{name} = {value}", xlim=(-9, 9), ylim=(-11, 11), xticks=[], yticks=[])
        panel.legend(fontsize="small", loc="lower left", frameon=False, handletextpad=0.1)
        print(settings, found)
figure.savefig(PICTURE, dpi=75)
