"""Mixed tables with missing cells told in another way: rows, columns or levels in another order, other units."""

import numpy as np
import pandas as pd
from attack.judge import want, want_answer

from vbrand import VBrand

# which change is made
WAYS = ("rows", "columns", "levels", "units")


def table_of(generator):
    """Return labelled and unlabelled rows of a random mixed table, and the labels; one class is not labelled."""
    numbers, named, classes = (int(generator.integers(*ends)) for ends in ((0, 5), (0, 4), (2, 4)))
    numbers = max(numbers, 1 - named)
    n, m = int(generator.integers(12, 40)) * classes, int(generator.integers(20, 120))
    place = np.append(np.arange(n) % classes, generator.integers(classes + 1, size=m))
    centres = generator.normal(0.0, 10.0 ** generator.uniform(-0.5, 1.0), (classes + 1, numbers))
    values = centres[place] + generator.normal(size=(n + m, numbers)) @ generator.normal(size=(numbers, numbers))
    table = pd.DataFrame(values, columns=[f"x{j}" for j in range(numbers)])
    for j in range(named):
        levels = int(generator.integers(2, 6))
        shares = generator.dirichlet(np.full(levels, 0.5), classes + 1).cumsum(axis=1)
        codes = (generator.random((n + m, 1)) > shares[place]).sum(axis=1).clip(max=levels - 1)
        table[f"c{j}"] = np.array([f"level {k}" for k in range(levels)], dtype=object)[codes]
    gone = generator.random(table.shape) < generator.choice([0.0, 0.1, 0.3])
    return table.mask(gone), n, place[:n]


def told_again(generator, table, n, way):
    """Return the same table told in another way, and where its unlabelled rows stand in it."""
    order = np.arange(len(table))
    if way == "rows":
        order[n:] = n + generator.permutation(len(table) - n)
        table = table.iloc[order].reset_index(drop=True)
    elif way == "columns":
        table = table[generator.permutation(table.columns)]
    elif way == "levels":
        names = {f"level {k}": f"{place} of them" for k, place in enumerate(generator.permutation(6).tolist())}
        table = table.assign(**{c: table[c].map(names, na_action="ignore") for c in table if c[0] == "c"})
    else:
        size, shift = 10.0 ** generator.uniform(-3, 3, len(table.columns)), generator.normal(size=len(table.columns))
        own = {c: size[j] * (table[c] + shift[j]) for j, c in enumerate(table) if c[0] == "x"}
        table = table.assign(**own)
    return table, order[n:] - n


def tell(generator, folder):
    """Fit a table and the same told in another way: the bound never falls, and rows are labelled alike."""
    table, n, labels = table_of(generator)
    way, check = generator.choice(WAYS).item(), int(generator.choice([0, 3]))
    detector = VBrand(random_state=0, check=check).fit(table[:n], labels)
    found = detector.discover(table[n:])
    want_answer(detector, found, table[n:])

    other, places = told_again(generator, table, n, way)
    again = VBrand(random_state=0, check=check).fit(other[:n], labels).discover(other[n:])
    apart = float(np.mean(again.labels != found.labels[places]))
    want(apart == 0.0, f"{apart:.0%} of {len(places)} rows have other labels after a change of {way}, check={check}")
