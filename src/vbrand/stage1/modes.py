"""Stage 1: known classes, each a small mixture of components that all mean that class.

Classes are compared in coordinates whitened by the pooled scatter within them. There the rows of each class are split
into modes by the machinery of stage 2; modes that are no part of the class (its outliers, rows with a wrong label)
are left out; and centre and scatter of each mode are those of one component, drawn to the average scatter as far as
the scatters of the table are alike.
"""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import solve_triangular

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.growth import grow
from vbrand.inference.rows import Rows
from vbrand.inference.starts import from_labels
from vbrand.model.components import Components, evidence
from vbrand.model.kernels import Gaussian, Kernel
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics, joined
from vbrand.model.weights import prior_weights
from vbrand.robust.columns import column_scales
from vbrand.robust.mrcd import fit_mrcd
from vbrand.stage1.classes import MOST_ALIKE, KnownClasses, check_sizes, pooled_scales, stand_in_scales
from vbrand.types import BoolArray, FloatArray, IntArray

# the pooled scatter is that of the rows and of so many spherical ones
_SPHERICAL_ROWS = 5.0
# rows farther from the robust centre of their class than 99.9 % of a t with 5 degrees of freedom do not whiten
_OUTLYING = 0.999
_FAR_OUT = 10.0
# coordinates count as at most this far from the median
_FARTHEST = 1e6
_OUTLIER_TAIL = 5.0
# modes: places for them and for outliers, the least share of a class that is one, and what a mode is believed to be:
# vague about its place, and as alike to the average as so many rows make it
_PLACES = 8
_LEAST_SHARE = 0.1
_VAGUE = 0.01
_MODE_ALIKE = 9.0
# a smaller share of a class is doubted: it goes if it is wider than the class, by this factor in the logarithm of its
# variance a column, or if most of its rows lie within another class
_DOUBTED_SHARE = 0.25
_MUCH_WIDER = 2.0
_WITHIN = 0.99
# the halves of one Gaussian, cut through its middle, have centres 2.65 of their own standard deviations apart
_ONE_HUMP = 3.0
_ALIKE = np.geomspace(1.0, MOST_ALIKE, 20)


@dataclass(frozen=True)
class _Mode:
    member: int  # the class
    fit: Ascent  # one component, in whitened coordinates
    rows: FloatArray  # (n, p)

    @property
    def scatter(self) -> FloatArray:
        return np.asarray(self.fit.posterior.components.expected_scatter[0])

    @property
    def log_width(self) -> float:
        return float(np.linalg.slogdet(self.scatter)[1] / self.rows.shape[1])

    def holds(self, rows: FloatArray) -> BoolArray:
        """Return which rows lie within it: nearer than 99 % of its own."""
        root = np.linalg.cholesky(self.scatter)
        unit = solve_triangular(root, (rows - self.fit.posterior.components.mean[0]).T, lower=True)
        edge = self.fit.posterior.components.kernels[0].edge(_WITHIN, rows.shape[1])
        return np.asarray(np.square(unit).sum(axis=0) <= edge)


def learn_modes(
    rows: FloatArray,
    labels: NDArray[np.generic],
    *,
    kernel: Kernel,
    support_fraction: float = 0.75,
    max_modes: int = 4,
    n_jobs: int | None = None,
) -> KnownClasses:
    """Return the known classes with at most `max_modes` components each, rows about them as the kernel says.

    Rows are in working coordinates: centred, and of order one.
    """
    classes, member = np.unique(labels, return_inverse=True)
    check_sizes(classes, np.bincount(member))
    rows = np.clip(rows, -_FARTHEST, _FARTHEST)
    deviations, unit = _clean_deviations(rows, member, support_fraction, n_jobs)
    root, inverse = _pooled_root(deviations, unit, kernel)
    modes = _all_modes(rows @ inverse.T, member, kernel, max_modes, n_jobs)
    if len(modes) > classes.size:
        # the scatter of classes spans their modes: again, in units of the scatter within modes
        deviations = np.concatenate([mode.rows - mode.fit.posterior.components.mean[0] for mode in modes]) @ root.T
        root, inverse = _pooled_root(deviations / unit, unit, kernel)
        modes = _all_modes(rows @ inverse.T, member, kernel, max_modes, n_jobs)
    used = joined([mode.fit.statistics for mode in modes])
    centres, scatters, average, alike = _alike_scatters(used)
    count = used.counts
    return KnownClasses(
        labels=classes,
        class_of=np.array([mode.member for mode in modes]),
        rows=np.array([mode.rows.shape[0] for mode in modes]),
        rows_used=np.array([mode.rows.shape[0] for mode in modes]),
        centres=centres @ root.T,
        scatters=root @ scatters @ root.T,
        conditions=np.linalg.cond(scatters),
        rhos=alike / (alike + count),
        average=root @ average @ root.T,
        alike=alike,
    )


def _all_modes(white: FloatArray, member: IntArray, kernel: Kernel, max_modes: int, n_jobs: int | None) -> list[_Mode]:
    """Return the modes of all classes, those of a class largest first, without doubtful ones."""
    middle = np.median(white, axis=0)
    white = np.clip(white, middle - _FARTHEST, middle + _FARTHEST)
    by_class = [white[member == j] for j in range(int(member.max()) + 1)]
    found = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_modes)(j, own, kernel, max_modes) for j, own in enumerate(by_class)
    )
    return _plausible([mode for own in found for mode in own], by_class, kernel)


def _clean_deviations(
    rows: FloatArray, member: IntArray, support_fraction: float, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return deviations from the robust centre of each class, without rows far out, in units of columns, and these."""
    stand_in = stand_in_scales(rows, member)
    unit = pooled_scales(rows, member, stand_in)
    sizes = np.bincount(member)
    clean = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_clean_of_class)(rows[member == j] / unit, stand_in / unit, support_fraction) for j in range(sizes.size)
    )
    return np.concatenate(clean), unit


def _clean_of_class(rows: FloatArray, stand_in: FloatArray, support_fraction: float) -> FloatArray:
    """Return the deviations of a class's rows from its robust centre, without those that lie far out."""
    p = rows.shape[1]
    try:
        fit = fit_mrcd(rows, column_scales(rows, stand_in), support_fraction=support_fraction)
    except ValueError:  # most rows lie on one point or in one plane: none is far out for sure
        return np.asarray(np.clip(rows - np.median(rows, axis=0), -_FAR_OUT, _FAR_OUT))
    deviation = rows - fit.centre
    unit = solve_triangular(np.linalg.cholesky(fit.scatter), deviation.T, lower=True)
    distance = np.square(unit).sum(axis=0)
    typical = max(float(np.median(distance)), np.finfo(float).tiny)  # should be the median of chi2
    edge = p * stats.f.ppf(_OUTLYING, p, _OUTLIER_TAIL) * typical / stats.chi2.median(p)
    return np.asarray(deviation[distance <= edge])


def _pooled_root(deviations: FloatArray, unit: FloatArray, kernel: Kernel) -> tuple[FloatArray, FloatArray]:
    """Return a root R of the scatter R R' of deviations, which are in units of columns, by a Student fit, and R^-1.

    The symmetric root: neither scales nor the order of columns matter.
    """
    p = unit.size
    sphere = Components(
        np.zeros((1, p)), np.array([1e-6]), np.array([p + 2.0]), _SPHERICAL_ROWS * np.eye(p)[None], (kernel,)
    )
    pooled = _one_component(deviations, sphere).posterior.components
    size, axes = np.linalg.eigh(pooled.expected_scatter[0])
    root, inverse = (axes * np.sqrt(size)) @ axes.T, (axes / np.sqrt(size)) @ axes.T
    return unit[:, None] * root, inverse / unit


def _modes(member: int, rows: FloatArray, kernel: Kernel, most: int) -> list[_Mode]:
    """Return the modes of a class, largest first; shares below a tenth are left out."""
    p = rows.shape[1]
    vague = Components(
        np.median(rows, axis=0)[None],
        np.array([_VAGUE]),
        np.array([p + 1.0 + _MODE_ALIKE]),
        _MODE_ALIKE * np.eye(p)[None],
        (kernel,),
    )
    label = np.zeros(rows.shape[0], dtype=np.int64)
    if most > 1:
        places = vague.reordered(np.zeros(_PLACES, dtype=np.int64))
        prior = Prior(places, prior_weights(np.ones(1), 1.0, _PLACES), np.zeros(0, dtype=np.int64))
        label = grow(Rows.plain(rows), prior).ascent.winners.astype(np.int64)
    sizes = np.bincount(label)
    order = np.argsort(-sizes, kind="stable")
    kept = [k for k in order if sizes[k] >= _LEAST_SHARE * rows.shape[0]] or [order[0]]
    modes = list[_Mode]()
    for k in kept:
        mode = _Mode(member, _one_component(rows[label == k], vague), rows[label == k])
        near = next((number for number, other in enumerate(modes) if not _apart(mode, other)), None)
        if near is None:
            modes.append(mode)
        else:
            both = np.concatenate([modes[near].rows, mode.rows])
            modes[near] = _Mode(member, _one_component(both, vague), both)
    return sorted(modes, key=lambda mode: -mode.rows.shape[0])[:most]


def _apart(mode: _Mode, larger: _Mode) -> bool:
    """Return whether a mode is farther from the centre of a larger one than its rows are: if not, they are one."""
    between = mode.fit.posterior.components.mean[0] - larger.fit.posterior.components.mean[0]
    root = np.linalg.cholesky(larger.scatter)
    unit = solve_triangular(root, between, lower=True)
    return bool(np.square(unit).sum() > max(_ONE_HUMP**2, between.size))


def _one_component(rows: FloatArray, prior: Components) -> Ascent:
    alone = Prior(prior, prior_weights(np.ones(1), 1.0, 1), np.zeros(0, dtype=np.int64))
    plain = Rows.plain(np.ascontiguousarray(rows))
    return ascend(plain, alone, from_labels(plain, alone, np.zeros(rows.shape[0], dtype=np.int64)))


def _plausible(modes: list[_Mode], by_class: list[FloatArray], kernel: Kernel) -> list[_Mode]:
    """Return the modes without doubtful ones: outliers that found together, and rows that bear a wrong label."""
    largest = {mode.member: mode for mode in reversed(modes)}  # modes of a class come largest first
    doubted = [
        mode is not largest[mode.member] and mode.rows.shape[0] < _DOUBTED_SHARE * by_class[mode.member].shape[0]
        for mode in modes
    ]
    sure = [mode for mode, doubt in zip(modes, doubted, strict=True) if not doubt]
    kept = list[_Mode]()
    for mode, doubt in zip(modes, doubted, strict=True):
        if doubt:
            whole = _modes(mode.member, by_class[mode.member], kernel, 1)[0]
            elsewhere = np.zeros(mode.rows.shape[0], dtype=bool)
            for other in sure:
                if other.member != mode.member:
                    elsewhere |= other.holds(mode.rows)
            if mode.log_width > whole.log_width + _MUCH_WIDER or elsewhere.mean() > 0.5:
                continue
        kept.append(mode)
    return kept


def _alike_scatters(used: Statistics) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return centres, scatters, their average, and how alike they are, by the evidence of the labelled rows.

    Sigma_k ~ InverseWishart with E[Sigma_k] = average: the degrees of freedom that make the modes most likely say how
    far each is drawn to the average, and how far a novel class may be expected to be like it.
    """
    count, p = used.sums.shape
    # W = sum phi tau (y - o)(y - o)' - N d d'
    drift = used.sums / used.weights[:, None]
    within = used.squares - used.weights[:, None, None] * drift[:, :, None] * drift[:, None, :]
    centres = used.origin + drift
    average = (within.sum(axis=0) + _SPHERICAL_ROWS * np.eye(p)) / (used.counts.sum() + _SPHERICAL_ROWS)
    middle = np.average(centres, axis=0, weights=used.counts)

    def log_evidence(alike: float) -> float:
        one = Components(
            middle[None], np.array([_VAGUE]), np.array([p + 1.0 + alike]), alike * average[None], (Gaussian(),)
        )
        return float(evidence(one.reordered(np.zeros(count, dtype=np.int64)), used).sum())

    alike = float(max(_ALIKE, key=log_evidence))
    scatters = (alike * average + within) / (alike + used.counts)[:, None, None]
    return centres, scatters, average, alike
