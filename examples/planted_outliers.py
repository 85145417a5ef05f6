"""MRCD finds planted outliers that hide from the ordinary covariance, with more columns than rows."""

import numpy as np
from sklearn.covariance import LedoitWolf

from vbrand import MRCD

rng = np.random.default_rng(0)
rows = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 100)) + rng.normal(size=(60, 100))  # 60 spectra, 100 channels
rows[:15] += 3 * rng.normal(size=100)  # 15 of them from somewhere else

print("60 rows, 100 columns, 15 planted outliers. Of the 15 rows with the largest distance, planted are:")
for name, estimator in (("shrunk covariance (Ledoit-Wolf)", LedoitWolf()), ("MRCD", MRCD())):
    farthest = np.argsort(estimator.fit(rows).mahalanobis(rows))[-15:]
    print(f"  {name:32} {(farthest < 15).sum():2} of 15")
