"""Trees that tell unlabelled rows from labelled ones: how unlike the labelled rows a row is, without any kernel."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from vbrand.samples import evenly
from vbrand.trust.trees import Grower, Trees, grown, wrong_with_trees
from vbrand.trust.tuning import CheckTuning
from vbrand.types import FloatArray, IntArray

# how often missing cells may seem to differ between labelled and unlabelled rows by chance
_BY_CHANCE = 1e-3


@dataclass(frozen=True)
class Contrast:
    """The trees, and what their leaves say."""

    trees: Trees
    share: FloatArray  # (m,) of the weight in a node that unlabelled rows have

    def log_odds(self, rows: FloatArray) -> FloatArray:
        """Return the log odds that rows in working coordinates are unlabelled ones, (n,)."""
        sums, asked = self.trees.sums(rows, np.zeros(self.share.size, dtype=np.int64), self.share, 1)
        total = sums[:, 0]
        # (9.17)  t(y) = log (1/2 + sum of shares) - log (1/2 + sum of 1 - shares), of trees without y
        return np.asarray(np.log(0.5 + total) - np.log(0.5 + asked - total))


def missing_alike(rows: FloatArray, labelled: FloatArray, categories: int = 0) -> bool:
    """Return whether cells are missing in labelled rows as often as in unlabelled ones, column by column.

    Missing numbers are NaN; the last columns are so many categories, of which missing ones are -1.
    """
    numbers = np.arange(rows.shape[1]) < rows.shape[1] - categories
    here, there = (np.isnan(table) | (~numbers & (table < 0.0)) for table in (rows, labelled))
    share = np.vstack([here, there]).mean(axis=0)
    # (9.24)  |f - g| <= z (h (1 - h) (1 / n + 1 / m))^1/2 in all p columns,  z exceeded in 1/1000 of tables by chance
    most = -ndtri(0.5 * _BY_CHANCE / share.size)
    spread = np.sqrt(share * (1.0 - share) * (1.0 / len(rows) + 1.0 / len(labelled)))
    return bool((np.abs(here.mean(axis=0) - there.mean(axis=0)) <= most * spread).all())


def contrast_of(
    rows: FloatArray,
    labelled: FloatArray,
    member: IntArray,
    shares: FloatArray,
    levels: tuple[int, ...],
    generator: np.random.Generator,
    tuning: CheckTuning,
) -> Contrast:
    """Return trees grown from unlabelled and from labelled rows, both in working coordinates.

    `member` are the classes of the labelled rows, which count for as much as the `shares` of the classes, (J,), say;
    `levels` are the numbers of levels of the last columns, which are categories.
    """
    some, few = evenly(rows.shape[0], tuning.tree_rows), evenly(labelled.shape[0], tuning.tree_rows)
    kind = np.append(np.zeros(some.size, dtype=np.int64), 1 + member[few])  # 0: unlabelled
    worth = np.append(1.0, shares / shares[np.unique(member[few])].sum())
    side = (np.arange(worth.size) == 0).astype(np.int64)
    table = np.vstack([rows[some], labelled[few]])
    trees, held = grown(Grower(table, kind, worth, side, levels, tuning.leaf_rows), generator)
    total = held.sum(axis=1)
    share = np.divide(held[:, 1], total, out=np.full(total.size, 0.5), where=total > 0.0)
    return Contrast(trees, share)


def wrong_with_contrast(contrast: Contrast, columns: int) -> str:
    """Return what is wrong with what was read from a file, for rows of so many numbers; nothing if all is well."""
    wrong = wrong_with_trees(contrast.trees, columns)
    if wrong:
        return wrong
    share = contrast.share
    if share.shape != contrast.trees.column.shape or not ((share >= 0.0) & (share <= 1.0)).all():
        return "a share is not between 0 and 1"
    return ""
