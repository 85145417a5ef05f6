"""A million rows in 45 groups, as if they had been discovered: what pictures of long tables are tested on."""

import numpy as np

from vbrand import VBrand
from vbrand.facts.check import check_of
from vbrand.facts.facts import facts_of
from vbrand.facts.groups import GroupCount, describe_groups

KNOWN, NOVEL, COLUMNS = 25, 20, 4


def crowd_facts(rows=1_000_000):
    """Return the facts of so many rows: 25 known classes, 20 novel groups, two of them doubtful, and two outliers."""
    rng = np.random.default_rng(0)
    centres = 5.0 * rng.normal(size=(KNOWN + NOVEL, COLUMNS))
    labels = np.repeat([f"species number {k}" for k in range(KNOWN)], 20)
    known = np.repeat(centres[:KNOWN], 20, axis=0) + rng.normal(size=(20 * KNOWN, COLUMNS))
    found = VBrand(random_state=0, search="none", kernel="gaussian").fit(known, labels).discover(known[::2])

    clusters = np.sort(rng.integers(0, KNOWN + NOVEL, rows))
    table = centres[clusters] + rng.normal(size=(rows, COLUMNS))
    clusters, table = np.append(clusters, [45, 45]), np.vstack([table, [[3e3] * COLUMNS, [-3e3] * COLUMNS]])
    novelty = np.where(clusters < KNOWN, rng.beta(0.3, 5.0, rows + 2), rng.beta(5.0, 0.3, rows + 2))
    classes = np.eye(KNOWN + 1)[np.minimum(clusters, KNOWN)]

    sizes = np.bincount(clusters)
    names = tuple(f"novel {k + 1}" for k in range(NOVEL + 1))
    draws = np.tile(np.append(np.full(NOVEL - 2, 0.97), [0.4, 0.3, 0.97]), (100, 1))
    told = {"agreement": 0.98, "hidden_novelty": rng.beta(0.3, 5.0, 500), "unchecked": ()}
    cells = np.diag(sizes[KNOWN:].astype(float))
    check = check_of(names, sizes[KNOWN:], cells, np.zeros(NOVEL + 1), draws, **told)
    yardstick = found.context.yardstick
    groups = describe_groups(
        table, clusters, sizes / rows, novelty, yardstick.classes, 5, yardstick, doubtful=check.doubtful
    )
    return facts_of(
        table,
        clusters,
        novelty,
        np.log(novelty + 1e-9) - np.log1p(1e-9 - novelty),
        lambda chosen: classes[chosen],
        groups,
        yardstick,
        sentence="a million rows",
        count=GroupCount(20.0, 19, 21),
        notes=("tails: Gaussian.",),
        threshold=0.5,
        climb=None,
        check=check,
        witnesses=found.context.witnesses,
    )
