"""
From week to week: penguins arrive, a group gets a name
=======================================================

Samples arrive in batches. Two species of penguins are labelled, the third (package ``palmerpenguins``) turns up from
the second week on. ``update`` keeps what earlier weeks taught, groups keep their names, and once somebody knows what a
group is, it becomes a known class.
"""

import numpy as np
from palmerpenguins import load_penguins

from vbrand import VBrand

birds = load_penguins().dropna().sample(frac=1, random_state=0)
rows = birds[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]].to_numpy(float)
species = birds["species"].to_numpy(str)
labelled = np.isin(species, ["Adelie", "Chinstrap"]) & (np.arange(species.size) % 3 == 0)

detector = VBrand(random_state=0).fit(rows[labelled], species[labelled])
others = np.flatnonzero(~labelled)
first = others[species[others] != "Gentoo"][:40]
weeks = [first, *np.array_split(np.setdiff1d(others, first), 3)]

for number, week in enumerate(weeks, start=1):
    print(f"week {number}:", detector.update(rows[week]))

# %%
# Somebody looks at the new birds:
detector.name("novel 1", "Gentoo")
print(detector.classes_)
print(np.mean(detector.predict(rows[others]) == species[others]), "of all rows have their own species")

# %%
# What happened, and when:
for event in detector.events():
    print(event.batch, event.kind, event.group, event.rows)
