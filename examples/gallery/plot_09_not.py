"""
When not to use it
==================

A class is a cloud, or a few clouds. Where labelled rows are hardly more than columns, or where the new class lies
within a known one, there is nothing to see, and the answer says so rather than guess.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from vbrand import VBrand
from vbrand.metrics import evaluate

# %%
# A new class inside a known one
# ------------------------------
# Every row of the new class is where rows of the known class are, too. Nothing is called novel, and nothing could be.
rng = np.random.default_rng(0)
labelled = rng.normal(size=(200, 4))
unlabelled = np.vstack([rng.normal(size=(300, 4)), rng.normal(scale=0.7, size=(60, 4))])
found = VBrand(random_state=0).fit(labelled, ["known"] * 200).discover(unlabelled)
print(found.summary())

# %%
# One known class, many skewed columns
# ------------------------------------
# Benign tumours are known, malignant ones are not; thirty columns, most of them with long tails. Malignant ones are
# found, but some benign ones are called novel with them: a tail of theirs reaches that far.
rows, benign = load_breast_cancer(return_X_y=True)
labelled = (benign == 1) & (np.arange(benign.size) % 2 == 0)
found = VBrand(random_state=0).fit(rows[labelled], benign[labelled]).discover(rows[~labelled])
print(found.summary())
print(evaluate(benign[~labelled], found))

# %%
# What the check says of the rows called novel, and what the truth is:
novel = found.labels == -1
false = int((novel & (benign[~labelled] == 1)).sum())
print(f"{found.check.false_rows:.0f} of them are expected to be known; {false} are.")
