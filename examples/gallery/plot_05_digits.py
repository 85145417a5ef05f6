"""
Images: handwritten digits
==========================

Images become columns by any embedding; here 30 principal components of the pixels. Eight of the ten digits are
labelled.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from vbrand import VBrand

pixels, digit = load_digits(return_X_y=True)
labelled = ~np.isin(digit, [3, 8]) & (np.arange(digit.size) % 2 == 0)
embed = PCA(30, random_state=0).fit(pixels[labelled])  # by labelled rows alone

detector = VBrand(random_state=0).fit(embed.transform(pixels[labelled]), digit[labelled])
found = detector.discover(embed.transform(pixels[~labelled]))
print(found)

# %%
# What the novel groups look like: the rows of each with the largest P of that group.
novel = [k for k, group in enumerate(found.groups) if group.kind == "novel group"]
figure, axes = plt.subplots(len(novel), 10, figsize=(10, len(novel) + 0.3), squeeze=False, layout="constrained")
for line, k in zip(axes, novel, strict=True):
    nearest = np.argsort(-found.probabilities[:, k])[:10]
    for axis, i in zip(line, nearest, strict=True):
        axis.imshow(pixels[~labelled][i].reshape(8, 8), cmap="gray_r")
        axis.set_axis_off()
    line[0].set_title(f"{found.groups[k].name}: {found.groups[k].rows} rows", loc="left", fontsize="small")
