"""Known classes that move: where rows of a batch lie, beside labelled rows that are shared out in the same way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import f

from vbrand.model.posterior import Posterior
from vbrand.model.predictive import log_predictive_parts
from vbrand.stage1.lessons import Witnesses
from vbrand.sums import log_sum
from vbrand.types import FloatArray, IntArray

# the chance that a stream in which no class moves, however long it is, is ever said to drift
_ERROR = 0.01


@dataclass(frozen=True)
class Batch:
    """The rows of a batch, in working coordinates, and what is known of them."""

    number: int  # 1 is the first
    rows: FloatArray  # (n, q)
    member: IntArray  # (n,) the class of rows that have a label, -1 for the others
    held: FloatArray  # (J,) rows of each class, by the answer


@dataclass(frozen=True)
class Drift:
    """A known class whose rows are not where its labelled rows were."""

    member: int  # which class
    rows: int  # of the batch that tell it
    distance: float  # between their means, in standard deviations of the class


@dataclass(frozen=True)
class _Sample:
    """Weighted rows of one component."""

    size: float  # (sum of weights)^2 / sum of squared weights
    mean: FloatArray  # (q,)
    scatter: FloatArray  # (q, q)


def drifts(batch: Batch, witnesses: Witnesses, posterior: Posterior, class_of: IntArray) -> tuple[Drift, ...]:
    """Return the classes that have moved: by rows of the batch whose class is known, the others by all of its rows.

    `class_of` are the classes of the components that labelled rows made, which come first.
    """
    batch, witnesses = _complete(batch, witnesses)
    numbers = posterior.components.columns  # levels of categories come after them
    now, then = batch.rows[:, :numbers], witnesses.rows[:, :numbers]
    found = dict[int, Drift]()
    for j, k, own, labelled in _compared(batch, witnesses, posterior, class_of):
        first, second = _sample(then, labelled), _sample(now, own)
        if first is None or second is None:
            continue
        chance, distance = _moved(first, second, posterior.components.reordered(np.array([k])).expected_scatter[0])
        # (14.8)  p < .01 / (known components x b (b + 1)) in batch b: the sum over b is .01
        sure = chance < _ERROR / (class_of.size * batch.number * (batch.number + 1))
        if sure and (j not in found or distance > found[j].distance):
            rows = own.sum() if (batch.member == j).any() else batch.held[j]
            found[j] = Drift(j, round(float(rows)), distance)
    return tuple(found[j] for j in sorted(found))


def _compared(
    batch: Batch, witnesses: Witnesses, posterior: Posterior, class_of: IntArray
) -> Iterator[tuple[int, int, FloatArray, FloatArray]]:
    """Return classes, a component of each, and how far rows of the batch and labelled ones count for it."""
    told = np.unique(batch.member[batch.member >= 0])
    for j in np.intersect1d(told, class_of).tolist():
        k = int(np.flatnonzero(class_of == j)[0])
        yield j, k, (batch.member == j).astype(np.float64), (witnesses.member == j).astype(np.float64)

    now, then = _shares(batch.rows, posterior), _shares(witnesses.rows, posterior)
    # labelled rows count as often as rows of their class come in the batch: what leaks from class to class is the same
    labelled = np.bincount(witnesses.member, minlength=batch.held.size)
    often = (batch.held / np.maximum(labelled, 1))[witnesses.member]
    for k in np.flatnonzero(~np.isin(class_of, told)).tolist():
        yield int(class_of[k]), k, now[:, k], then[:, k] * often


def _complete(batch: Batch, witnesses: Witnesses) -> tuple[Batch, Witnesses]:
    """Return the rows of both kinds that have all cells."""
    whole = ~np.isnan(batch.rows).any(axis=1)
    rows = ~np.isnan(witnesses.rows).any(axis=1)
    own = replace(batch, rows=batch.rows[whole], member=batch.member[whole])
    return own, Witnesses(witnesses.rows[rows], witnesses.member[rows])


def _shares(rows: FloatArray, posterior: Posterior) -> FloatArray:
    parts = log_predictive_parts(rows, posterior)
    return np.asarray(np.exp(parts - log_sum(parts, axis=1, keepdims=True)))


def _sample(rows: FloatArray, weights: FloatArray) -> _Sample | None:
    """Return rows that belong to a component as far as weights say; None if they are hardly any."""
    total, squares = weights.sum(), np.square(weights).sum()
    size = float(total**2 / squares) if squares > 0.0 else 0.0
    if min(size, total) < 2.0:  # tiny shares of many rows are no rows, however alike they are
        return None
    share = weights / total
    mean = share @ rows
    apart = rows - mean
    return _Sample(size, mean, (apart * share[:, None]).T @ apart * size / (size - 1.0))


def _moved(first: _Sample, second: _Sample, scatter: FloatArray) -> tuple[float, float]:
    """Return how likely two means are so far apart by chance, and how far that is, both in units of a scatter.

    Few rows tell little of their scatter, and one far row moves their mean: the larger of two chances counts, with
    the scatter of each sample and with that of both.
    """
    white = np.linalg.inv(np.linalg.cholesky(scatter))
    sizes = np.array([first.size, second.size])
    own = np.stack([white @ each.scatter @ white.T for each in (first, second)])  # (2, q, q)
    apart = white @ (second.mean - first.mean)  # d
    squared = float(apart @ apart)

    # (14.6)  C = ((n1 - 1) C1 + (n2 - 1) C2) / (n1 + n2 - 2)
    pooled = np.tensordot(sizes - 1.0, own, 1) / (sizes.sum() - 2.0)
    chance = max(_chance(squared, own, sizes), _chance(squared, np.stack([pooled, pooled]), sizes))
    spread = float((np.trace(pooled) / sizes).sum())
    return chance, float(np.sqrt(max(squared - spread, 0.0)))


def _chance(squared: float, scatters: FloatArray, sizes: FloatArray) -> float:
    """Return how likely two means are so far apart, given the scatters of their rows, (2, q, q)."""
    parts = scatters / sizes[:, None, None]
    trace, squares = float(np.trace(parts.sum(axis=0))), np.square(parts).sum(axis=(1, 2))
    if trace == 0.0:  # rows that are all the same
        return 1.0
    # (14.7)  V = C1 / n1 + C2 / n2,  d'd / tr V ~ F(h, g),  h = (tr V)^2 / tr V^2,
    #         g = (tr V)^2 / sum of tr (C / n)^2 / (n - 1) of both
    h = trace**2 / float(np.square(parts.sum(axis=0)).sum())
    return float(f.sf(squared / trace, h, trace**2 / float((squares / (sizes - 1.0)).sum())))
