"""What labelled rows teach about columns of categories: how often each level is seen, and how alike classes are."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from vbrand.model.components import Components
from vbrand.model.kernels import Kernel
from vbrand.model.levels import Levels, added_up, codes_of, level_evidence, starts_of
from vbrand.model.predictive import log_component_densities
from vbrand.stage1.classes import KnownClasses, check_sizes
from vbrand.stage1.tuning import TUNED, Stage1Tuning
from vbrand.types import BoolArray, FloatArray, IntArray


def learn_levels(
    known: KnownClasses,
    rows: FloatArray,
    member: IntArray,
    sizes: tuple[int, ...],
    kernel: Kernel,
    tuning: Stage1Tuning = TUNED,
) -> KnownClasses:
    """Return known classes with how often their labelled rows, (n, q + c), have each level.

    `member` is the class of each. A row counts as far as it is likelier to be of its own class than of another one: a
    wrong label hardly moves a class.
    """
    p = known.centres.shape[1]
    codes, home = codes_of(rows[:, p:], sizes), _homes(known, member)
    of_numbers = _log_densities(rows[:, :p], known, kernel)  # (n, K)
    shares = (home >= 0).astype(np.float64)
    known = replace(known, levels=_counted(codes, home, shares, known.rows.size, sizes), level_sizes=sizes)
    for _ in range(tuning.level_steps):
        densities = of_numbers + _log_chances(known, codes, tuning)
        shares = np.where(home >= 0, _own_shares(densities, known, member, home, tuning.wrong_labels), 0.0)
        known = replace(known, levels=_counted(codes, home, shares, known.rows.size, sizes))
    lessons = None if known.lessons is None else replace(known.lessons, shares=shares)
    return replace(known, lessons=lessons)


def classes_without_numbers(labels: NDArray[Any], kernel: Kernel) -> KnownClasses:
    """Return the known classes of a table of categories only: one component each, whose number is always 0.

    Its scatter is such that a 0 has density 1: it has no part in any answer.
    """
    classes, rows = np.unique(labels, return_counts=True)
    check_sizes(classes, rows)
    count, scatter = classes.size, np.exp(2.0 * kernel.log_density(np.zeros(1), 1))[:, None]  # (1, 1)
    return KnownClasses(
        labels=classes,
        class_of=np.arange(count),
        rows=rows,
        rows_used=rows,
        centres=np.zeros((count, 1)),
        scatters=np.tile(scatter, (count, 1, 1)),
        conditions=np.ones(count),
        rhos=np.zeros(count),
        average=scatter,
        alike=1.0,
        numbers=False,
    )


def levels_without(known: KnownClasses, rows: FloatArray, hidden: BoolArray, kept: IntArray) -> FloatArray | None:
    """Return how often the labelled rows of the components that are left have each level, without the hidden ones."""
    lessons = known.lessons
    if known.levels is None or lessons is None or lessons.shares is None:
        return known.levels
    p, sizes = known.centres.shape[1], known.level_sizes
    codes, home = codes_of(rows[hidden, p:], sizes), lessons.mode_of[hidden]
    gone = _counted(codes, home, np.where(home >= 0, lessons.shares[hidden], 0.0), known.rows.size, sizes)
    return np.maximum(known.levels - gone, 0.0)[kept]


def base_levels(known: KnownClasses, tuning: Stage1Tuning = TUNED) -> Levels | None:
    """Return one Dirichlet per column: what is expected of a class before any of its rows."""
    if known.levels is None:
        return None
    sizes = known.level_sizes
    count, starts = known.rows.size, starts_of(sizes)
    parts = list[FloatArray]()
    for first, size in zip(starts.tolist(), sizes, strict=True):
        seen = known.levels[:, first : first + size]
        # (3.31)  average = mean over components of (n + 1 / L) / (sum n + 1)
        average = ((seen + 1.0 / size) / (seen.sum(axis=1, keepdims=True) + 1.0)).mean(axis=0)

        def log_evidence(alike: float, average: FloatArray = average, seen: FloatArray = seen) -> float:
            one = Levels(alike * average[None], (average.size,), np.zeros(1, dtype=bool))
            return float(level_evidence(one, seen, np.zeros(count, dtype=np.int64)).sum())

        # (3.32)  a = argmax of the evidence of all components given Dirichlet(a average)
        most = max(tuning.most_alike, float(seen.sum()) / count)  # more than its rows no class can show
        alike = max(np.geomspace(1.0, most, tuning.alike_steps).tolist(), key=log_evidence)
        parts.append(alike * average)
    return Levels(np.concatenate(parts)[None], sizes, np.zeros(1, dtype=bool))


def known_levels(known: KnownClasses, base: Levels | None, *, fixed: bool) -> Levels | None:
    """Return the Dirichlets of the known components; `fixed`: their means, known exactly."""
    if known.levels is None or base is None:
        return None
    # (4.9)  a_k = a_0 + n_k
    own = Levels(base.counts + known.levels, base.sizes, np.zeros(known.rows.size, dtype=bool))
    return replace(own, counts=own.counts / own.totals, fixed=~own.fixed) if fixed else own


def _homes(known: KnownClasses, member: IntArray) -> IntArray:
    """Return the component that each labelled row belongs to, -1 for none."""
    if known.lessons is not None:
        return known.lessons.mode_of
    component = np.zeros(known.labels.size, dtype=np.int64)
    component[known.class_of] = np.arange(known.class_of.size)
    return np.asarray(component[member])


def _counted(
    codes: IntArray, home: IntArray, shares: FloatArray, components: int, sizes: tuple[int, ...]
) -> FloatArray:
    """Return how often each level is seen in the rows of each component, rows counted by their shares, (K, L)."""
    levels = sum(sizes)
    at = np.maximum(home, 0)[:, None] * (levels + 1) + codes
    weights = np.repeat(shares, codes.shape[1])
    seen = np.bincount(at.ravel(), weights, components * (levels + 1)).reshape(components, -1)[:, :levels]
    return seen.astype(np.float64)


def _log_densities(rows: FloatArray, known: KnownClasses, kernel: Kernel) -> FloatArray:
    """Return how likely the numbers of rows are in each component as it was learned, (n, K)."""
    count, p = known.centres.shape
    exact = Components(
        known.centres, np.full(count, np.inf), np.full(count, p + 2.0), known.scatters, (kernel,) * count
    )
    return log_component_densities(rows, exact)


def _log_chances(known: KnownClasses, codes: IntArray, tuning: Stage1Tuning) -> FloatArray:
    """Return how likely the levels of rows are in each component, (n, K)."""
    own = known_levels(known, base_levels(known, tuning), fixed=True)
    assert own is not None
    return added_up(np.column_stack([np.log(own.counts), np.zeros(own.fixed.size)]), codes)


def _own_shares(
    densities: FloatArray, known: KnownClasses, member: IntArray, home: IntArray, wrong: float
) -> FloatArray:
    """Return how probable it is that rows bear the right label, if a share of labels is wrong, (n,)."""
    weights = np.log(known.rows / known.rows.sum())
    other = known.class_of != member[:, None]  # (n, K)
    if not other.any():
        return np.ones(member.size)
    elsewhere = logsumexp(np.where(other, densities + weights, -np.inf), axis=1)
    elsewhere -= logsumexp(np.where(other, weights, -np.inf), axis=1)
    own = densities[np.arange(member.size), np.maximum(home, 0)]
    # (3.30)  share = (1 - e) p(y | own) / ((1 - e) p(y | own) + e p(y | other classes))
    return np.asarray(expit(np.log((1.0 - wrong) / wrong) + own - elsewhere))
