"""Known classes that move: where rows of a batch lie, beside labelled rows that are shared out in the same way."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from scipy.stats import f

from vbrand.model.posterior import Posterior
from vbrand.model.predictive import log_predictive_parts
from vbrand.stage1.lessons import Witnesses
from vbrand.types import FloatArray, IntArray

# the chance that a stream in which no class moves, however long it is, is ever said to drift
_ERROR = 0.01


@dataclass(frozen=True)
class Drift:
    """A known class whose rows are not where its labelled rows were."""

    member: int  # which class
    rows: float  # of the batch that it has
    distance: float  # between their means, in standard deviations of the class


@dataclass(frozen=True)
class _Sample:
    """Weighted rows of one component."""

    size: float  # (sum of weights)^2 / sum of squared weights
    mean: FloatArray  # (q,)
    scatter: FloatArray  # (q, q)


def drifts(
    rows: FloatArray, witnesses: Witnesses, posterior: Posterior, class_of: IntArray, held: FloatArray, batch: int
) -> tuple[Drift, ...]:
    """Return the classes that have moved, by the rows of a batch, the first of which has the number 1.

    `class_of` are the classes of the components that labelled rows made, which come first; `held` are the rows of the
    batch that each class has.
    """
    known, numbers = class_of.size, posterior.components.columns  # levels of categories come after them
    rows, witnesses = _complete(rows, witnesses)
    now, then = _shares(rows, posterior)[:, :known], _shares(witnesses.rows, posterior)[:, :known]
    # labelled rows count as often as rows of their class come in the batch: what leaks from class to class is the same
    labelled = np.bincount(witnesses.member, minlength=held.size)
    then = then * (held / np.maximum(labelled, 1))[witnesses.member, None]

    found = dict[int, Drift]()
    for k in range(known):
        first, second = _sample(witnesses.rows[:, :numbers], then[:, k]), _sample(rows[:, :numbers], now[:, k])
        if first is None or second is None:
            continue
        chance, distance = _moved(first, second, posterior.components.reordered(np.array([k])).expected_scatter[0])
        # (14.8)  p < .01 / (known components x b (b + 1)) in batch b: the sum over b is .01
        own = int(class_of[k])
        if chance < _ERROR / (known * batch * (batch + 1)) and (own not in found or distance > found[own].distance):
            found[own] = Drift(own, float(held[own]), distance)
    return tuple(found[j] for j in sorted(found))


def _complete(rows: FloatArray, witnesses: Witnesses) -> tuple[FloatArray, Witnesses]:
    """Return the rows of both kinds that have all cells."""
    whole = ~np.isnan(witnesses.rows).any(axis=1)
    return rows[~np.isnan(rows).any(axis=1)], Witnesses(witnesses.rows[whole], witnesses.member[whole])


def _shares(rows: FloatArray, posterior: Posterior) -> FloatArray:
    parts = log_predictive_parts(rows, posterior)
    return np.asarray(np.exp(parts - logsumexp(parts, axis=1, keepdims=True)))


def _sample(rows: FloatArray, weights: FloatArray) -> _Sample | None:
    """Return rows that belong to a component as far as weights say; None if they are hardly any."""
    total, squares = weights.sum(), np.square(weights).sum()
    size = float(total**2 / squares) if squares > 0.0 else 0.0
    if size < 2.0:
        return None
    share = weights / total
    mean = share @ rows
    apart = rows - mean
    return _Sample(size, mean, (apart * share[:, None]).T @ apart * size / (size - 1.0))


def _moved(first: _Sample, second: _Sample, scatter: FloatArray) -> tuple[float, float]:
    """Return how likely two means are so far apart by chance, and how far that is, both in units of a scatter."""
    white = np.linalg.inv(np.linalg.cholesky(scatter))
    parts = [white @ each.scatter @ white.T / each.size for each in (first, second)]
    spread = parts[0] + parts[1]  # V
    apart = white @ (second.mean - first.mean)  # d

    # (14.6)  V = C1 / n1 + C2 / n2;  d'd / tr V ~ F(h, g),  h = (tr V)^2 / tr V^2
    squared, trace = float(apart @ apart), float(np.trace(spread))
    if trace == 0.0:  # rows that are all the same
        return 1.0, 0.0
    freedom = trace**2 / np.square(spread).sum()
    # (14.7)  g = (tr V)^2 / sum of tr (C / n)^2 / (n - 1) of both
    of_both = [np.square(part).sum() / (each.size - 1.0) for part, each in zip(parts, (first, second), strict=True)]
    chance = f.sf(squared / trace, freedom, trace**2 / sum(of_both))
    return float(chance), float(np.sqrt(max(squared - trace, 0.0)))
