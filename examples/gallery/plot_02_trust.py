"""
How far to trust it: classes that are no bell curves
====================================================

Two classes with long tails, and nothing novel at all. A mixture of bell-shaped components needs several of them for
each class, and would call some of those novel. Labelled rows that are hidden among the unlabelled ones end up
there, too, and that is how the check knows better.
"""

import matplotlib.pyplot as plt
import numpy as np

from vbrand import VBrand


def two_classes(n, seed):
    """Return rows of two classes with a long tail each."""
    centres = np.repeat([[-6.0, -4.0], [2.0, -4.0]], n, axis=0)
    return centres + np.random.default_rng(seed).gamma(1.0, 1.6, (2 * n, 2))


labelled, unlabelled = two_classes(80, seed=0), two_classes(400, seed=1)
labels = np.repeat(["left", "right"], 80)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for axis, check in zip(axes, (0, "auto"), strict=True):
    found = VBrand(check=check, random_state=0).fit(labelled, labels).discover(unlabelled)
    novel = found.labels == "novel"
    axis.scatter(*unlabelled.T, s=8, c=np.where(novel, "tab:red", "tab:blue"))
    axis.set_title(f"check={check!r}: {novel.sum()} of {len(novel)} rows called novel")
    print(f"check={check!r}:", found)

# %%
# P(novel) means what it says
# ---------------------------
# With a novel class between the two, rows with a P(novel) of about a half are novel about half of the time.
rng = np.random.default_rng(2)
new = rng.normal([-1.0, 2.0], 1.0, (200, 2))
found = VBrand(random_state=0).fit(labelled, labels).discover(np.vstack([unlabelled, new]))
truth = np.arange(1000) >= 800
print(found.summary())
for low, high in ((0.0, 0.1), (0.1, 0.9), (0.9, 1.0)):
    inside = (found.novelty_probability >= low) & (found.novelty_probability <= high)
    if inside.any():
        print(f"P(novel) from {low} to {high}: {inside.sum()} rows, {truth[inside].mean():.2f} of them novel")

# %%
# Rows to look at first, if a tenth of them may be known after all:
print(found.select(false_share=0.1).sum(), "rows")
