"""
Wine: a cultivar that nobody labelled
=====================================

Two cultivars of wine are labelled, the third is not. ``discover`` finds it, says how it differs, and how far to
trust the answer.
"""

from sklearn.datasets import load_wine

from vbrand import VBrand

table = load_wine(as_frame=True)
rows = table.data[["alcohol", "flavanoids", "color_intensity", "hue", "proline"]]
cultivar = table.target_names[table.target]
labelled = (cultivar != "class_2") & (rows.index % 2 == 0)

detector = VBrand(random_state=0).fit(rows[labelled], cultivar[labelled])
found = detector.discover(rows[~labelled])
print(found.summary())

# %%
# In a notebook ``found`` as the last line of a cell shows all of it: the sentence, the check, the groups, the map.
found

# %%
# The map shows rows in units of the scatter within known classes; labelled rows are hollow.
found.plot.map()

# %%
# ``found.check`` holds the numbers behind the first sentence of the summary.
print(found.check)

# %%
# New rows need no new fit: known classes and the novel group are predicted.
print(detector.predict(rows[~labelled].head()))
print(detector.predict_proba(rows[~labelled].head()).round(2))
