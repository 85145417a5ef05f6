"""
Food authenticity: spectra of coffee
====================================

Infrared spectra of ground coffee, 1,841 wavelengths (in the package ``chemotools``). Coffees of two countries are
labelled; the third country is new. Tables with far more columns than rows are reduced to principal components and
the size of what those leave over, by the labelled rows alone.
"""

import numpy as np
from chemotools.datasets import load_coffee

from vbrand import VBrand
from vbrand.metrics import confusion

spectra, labels = load_coffee()
country = labels.iloc[:, 0].to_numpy()
known = np.isin(country, ["Ethiopia", "Brasil"]) & (np.arange(country.size) % 2 == 0)

found = VBrand(random_state=0).fit(spectra[known], country[known]).discover(spectra[~known])
print(found.summary())
print(confusion(country[~known], found))

# %%
# The spectrum of each group, beside those of the known classes:
found.plot.profile()
