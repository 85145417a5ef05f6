"""Stage 1: known classes, each a small mixture of components that all mean that class.

Classes are compared in coordinates whitened by the pooled scatter within them. There the rows of each class are split
into modes by the machinery of stage 2; modes that are no part of the class (its outliers, rows with a wrong label)
are left out; and centre and scatter of each mode are those of one component, drawn to the average scatter as far as
the scatters of the table are alike.
"""

from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import solve_triangular

from vbrand.inference.cavi import Ascent, ascend
from vbrand.inference.growth import grow
from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import FARTHEST, Rows
from vbrand.model.components import Components, stacked
from vbrand.model.kernels import Kernel
from vbrand.model.prior import Prior
from vbrand.model.roots import symmetric_roots
from vbrand.model.statistics import Statistics, joined
from vbrand.model.weights import prior_weights
from vbrand.robust.columns import column_scales, medians
from vbrand.robust.mrcd import fit_mrcd
from vbrand.stage1.classes import KnownClasses, check_sizes, pooled_scales, stand_in_scales
from vbrand.stage1.gaps import White, fit_with_gaps, near, observed_distances
from vbrand.stage1.lessons import Lessons, Recalled, bare, forgotten, needless, not_too_extreme, recalled
from vbrand.stage1.levels import levels_without
from vbrand.stage1.scatters import alike_scatters, sphere_without
from vbrand.stage1.tuning import TUNED, Stage1Tuning
from vbrand.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class _Way:
    """How classes are learned."""

    kernel: Kernel
    max_modes: int
    support_fraction: float
    n_jobs: int | None
    tuning: Stage1Tuning
    noise: FloatArray | None  # (p, p) what rounding hides, in working coordinates; None: nothing

    def noise_in(self, coordinates: FloatArray) -> FloatArray | None:
        """Return what rounding hides, in coordinates that this matrix leads to."""
        return None if self.noise is None else np.asarray(coordinates @ self.noise @ coordinates.T)


@dataclass(frozen=True)
class _Mode:
    member: int  # the class
    fit: Ascent  # one component, in whitened coordinates
    rows: FloatArray  # (n, p)
    index: IntArray  # (n,) which of the labelled rows they are

    @property
    def scatter(self) -> FloatArray:
        return np.asarray(self.fit.posterior.components.expected_scatter[0])

    @property
    def log_width(self) -> float:
        return float(np.linalg.slogdet(self.scatter)[1] / self.rows.shape[1])

    def holds(self, rows: FloatArray, share: float) -> BoolArray:
        """Return which rows lie within it: nearer than this share of its own."""
        mean, kernel = self.fit.posterior.components.mean[0], self.fit.posterior.components.kernels[0]
        if np.isnan(rows).any():
            distance, cells = observed_distances(rows, mean, np.asarray(np.linalg.inv(self.scatter)))
            edges = np.array([kernel.edge(share, q) if q else 0.0 for q in range(rows.shape[1] + 1)])
            return np.asarray(distance <= edges[cells])
        root = np.linalg.cholesky(self.scatter)
        unit = solve_triangular(root, (rows - mean).T, lower=True)
        # (3.19)  (x - m)' Sigma^-1 (x - m) <= the kernel's edge
        return np.asarray(np.square(unit).sum(axis=0) <= kernel.edge(share, rows.shape[1]))


def learn_modes(
    rows: FloatArray,
    labels: NDArray[np.generic],
    *,
    kernel: Kernel,
    support_fraction: float = 0.75,
    max_modes: int = 8,
    n_jobs: int | None = None,
    tuning: Stage1Tuning = TUNED,
    noise: FloatArray | None = None,
) -> KnownClasses:
    """Return the known classes with at most `max_modes` components each, rows about them as the kernel says.

    Rows are in working coordinates: centred, and of order one. `noise` is what rounding hides of their scatter, (p, p).
    """
    classes, member = np.unique(labels, return_inverse=True)
    check_sizes(classes, np.bincount(member))
    way = _Way(kernel, max_modes, support_fraction, n_jobs, tuning, noise)
    rows = np.clip(rows, -FARTHEST, FARTHEST)

    deviations, unit = _clean_deviations(rows, member, way)
    turned = not np.isnan(rows).any()
    free = deviations.shape[0] - classes.size
    white = White.by(*_pooled_root(deviations, unit, free, way), turned)
    modes = _all_modes(rows, member, white, way)
    if len(modes) > classes.size:
        # the scatter of classes spans their modes: again, in units of the scatter within modes
        within = np.concatenate([mode.rows - mode.fit.posterior.components.mean[0] for mode in modes])
        deviations, free = white.outward(within) / unit, within.shape[0] - len(modes)
        white = White.by(*_pooled_root(deviations, unit, free, way), turned)
        modes = _all_modes(rows, member, white, way)

    used, root = joined([mode.fit.statistics for mode in modes]), white.root
    noise = way.noise_in(white.inverse)
    centres, scatters, average, alike = alike_scatters(used, noise, tuning, white.sphere)
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
        lessons=_lessons(modes, used, white, member.size),
    )


def recall(known: KnownClasses, rows: FloatArray, tuning: Stage1Tuning = TUNED) -> Recalled:
    """Return what labelled rows taught of the known classes: the same whichever of them are hidden."""
    lessons = known.lessons
    if lessons is None:
        raise ValueError("what each labelled row taught is not known")
    parts, p = lessons.components, known.centres.shape[1]
    sphere = np.eye(p) if lessons.sphere is None else lessons.sphere
    vague = _vague(parts.mean.mean(axis=0), parts.kernels[0], parts.noise, tuning, sphere)
    with not_too_extreme():
        return recalled(lessons, rows[:, :p], vague)


def known_without(
    known: KnownClasses, rows: FloatArray, taught: Recalled, hidden: BoolArray, tuning: Stage1Tuning = TUNED
) -> tuple[KnownClasses, IntArray]:
    """Return the known classes without the hidden ones of their labelled rows, and which components are left.

    What hidden rows taught about modes is forgotten. A mode that the others would not have made goes, and one that
    loses all its rows, or all that have a number, unless it is the last one of its class.
    """
    lessons = known.lessons
    assert lessons is not None
    with not_too_extreme():
        hidden = hidden | np.isin(lessons.mode_of, needless(lessons, taught, hidden, known.class_of))
    mode_of = lessons.mode_of[hidden]
    left = known.rows - np.bincount(mode_of[mode_of >= 0], minlength=known.rows.size)
    left[bare(taught, hidden)] = 0
    classes_left = np.unique(known.class_of[left > 0])
    stays = (left > 0) | ~np.isin(known.class_of, classes_left)
    kept = np.flatnonzero(stays)
    fewer = left > 0

    own_sphere = np.eye(known.centres.shape[1]) if lessons.sphere is None else lessons.sphere
    noise, root = lessons.components.noise, lessons.root
    with not_too_extreme():
        used = forgotten(lessons, taught, hidden & (lessons.mode_of >= 0) & fewer[lessons.mode_of])
        sphere = sphere_without(lessons.statistics, used, noise, tuning, own_sphere)
        centres, scatters, average, alike = alike_scatters(used.reordered(kept), noise, tuning, sphere)
    return replace(
        known,
        class_of=known.class_of[kept],
        rows=np.where(fewer, left, known.rows)[kept],
        rows_used=np.where(fewer, left, known.rows)[kept],
        centres=centres @ root.T,
        scatters=root @ scatters @ root.T,
        conditions=known.conditions[kept],
        rhos=known.rhos[kept],
        average=root @ average @ root.T,
        alike=alike,
        lessons=None,
        levels=levels_without(known, rows, hidden, kept),
    ), kept


def _lessons(modes: list[_Mode], used: Statistics, white: White, count: int) -> Lessons:
    """Return what each of so many labelled rows taught."""
    mode_of = np.full(count, -1)
    for number, mode in enumerate(modes):
        mode_of[mode.index] = number
    components = reduce(stacked, [mode.fit.posterior.components for mode in modes])
    return Lessons(mode_of, components, used, white.root, white.inverse, None if white.turned else white.sphere)


def _all_modes(rows: FloatArray, member: IntArray, white: White, way: _Way) -> list[_Mode]:
    """Return the modes of all classes, those of a class largest first, without doubtful ones."""
    rows = white.inward(rows)
    middle = medians(rows)
    rows = np.clip(rows, middle - FARTHEST, middle + FARTHEST)
    by_class = [rows[member == j] for j in range(int(member.max()) + 1)]
    found = Parallel(n_jobs=way.n_jobs, prefer="threads")(
        delayed(_modes)(j, own, np.flatnonzero(member == j), way.max_modes, white, way)
        for j, own in enumerate(by_class)
    )
    return _plausible([mode for own in found for mode in own], by_class, white, way)


def _clean_deviations(rows: FloatArray, member: IntArray, way: _Way) -> tuple[FloatArray, FloatArray]:
    """Return deviations from the robust centre of each class, without rows far out, in units of columns, and these."""
    stand_in = stand_in_scales(rows, member)
    unit = pooled_scales(rows, member, stand_in)
    sizes = np.bincount(member)
    clean = Parallel(n_jobs=way.n_jobs, prefer="threads")(
        delayed(_clean_of_class)(rows[member == j] / unit, stand_in / unit, way) for j in range(sizes.size)
    )
    return np.concatenate(clean), unit


def _clean_of_class(rows: FloatArray, stand_in: FloatArray, way: _Way) -> FloatArray:
    """Return the deviations of a class's rows from its robust centre, without those that lie far out."""
    p, tuning = rows.shape[1], way.tuning
    scale, complete = column_scales(rows, stand_in), not np.isnan(rows).any()
    robust = partial(fit_mrcd, scale=scale, support_fraction=way.support_fraction)
    try:
        fit = robust(rows) if complete else fit_with_gaps(rows, scale, robust)
    except ValueError:  # most rows lie on one point or in one plane: none is far out for sure
        return np.asarray(np.clip(rows - medians(rows), -tuning.far_out, tuning.far_out))

    deviation = rows - fit.centre
    if not complete:
        return np.asarray(deviation[near(*observed_distances(rows, fit.centre, fit.precision), tuning)])
    unit = solve_triangular(np.linalg.cholesky(fit.scatter), deviation.T, lower=True)
    distance = np.square(unit).sum(axis=0)
    typical = max(float(np.median(distance)), np.finfo(float).tiny)  # should be the median of chi2
    # (3.15)  D <= p F_{p,5}(.999) med(D) / med(chi2_p)
    edge = p * stats.f.ppf(tuning.outlying, p, tuning.outlier_dof) * typical / stats.chi2.median(p)
    return np.asarray(deviation[distance <= edge])


def _pooled_root(deviations: FloatArray, unit: FloatArray, free: int, way: _Way) -> tuple[FloatArray, FloatArray]:
    """Return a root R of the scatter R R' of deviations, which are in units of columns, by a Student fit, and R^-1.

    The symmetric root: neither scales nor the order of columns matter. `free` are the rows less the centres that
    deviations are from.
    """
    p, tuning = unit.size, way.tuning
    sphere = Components(
        np.zeros((1, p)),
        np.array([tuning.no_belief]),
        np.array([p + 2.0]),
        tuning.spherical_rows * np.eye(p)[None],
        (way.kernel,),
        way.noise_in(np.diag(1.0 / unit)),
    )
    pooled = _one_component(deviations, sphere).posterior.components
    # (3.16)  white = E diag(size^-1/2) E' x,  E diag(size) E' = pooled scatter
    root, inverse = symmetric_roots(_no_rounder_than_rows(pooled.expected_scatter[0], pooled.divisor, free, tuning))
    return unit[:, None] * root, inverse / unit


def _no_rounder_than_rows(scatter: FloatArray, divisor: FloatArray, free: int, tuning: Stage1Tuning) -> FloatArray:
    """Return a scatter in which the spherical rows hide no direction that is surely thin, as where columns add up.

    With the width of spherical rows there, the scatters of components would follow from how many rows they have.
    """
    size, axes = np.linalg.eigh(divisor[0] * scatter)
    rows = np.maximum(size - tuning.spherical_rows, 0.0)  # w
    # (3.16)  size ~ w + 5 min(1, w / t),  t = 5 (1 - (p / n)^1/2)^2: so small the rows' own may be, if all is round
    thin = tuning.spherical_rows * np.square(1.0 - np.sqrt(min(1.0, size.size / max(free, 1))))
    worth = tuning.spherical_rows * (np.minimum(rows, thin) / thin if thin > 0.0 else np.ones(size.size))
    # where only some classes lie in one plane no step of columns, (3.25), keeps the others' scatter from nothing
    least = free * np.square(tuning.finest) / 12.0
    return np.asarray((axes * np.maximum(rows + worth, least)) @ axes.T / divisor[0])


def _modes(member: int, rows: FloatArray, index: IntArray, most: int, white: White, way: _Way) -> list[_Mode]:
    """Return at most so many modes of a class, largest first, without small shares of it."""
    tuning = way.tuning
    vague = _vague(medians(rows), way.kernel, way.noise_in(white.inverse), tuning, white.sphere)
    label = np.zeros(rows.shape[0], dtype=np.int64)
    if most > 1:
        alike = vague.reordered(np.zeros(tuning.most_components, dtype=np.int64))
        prior = Prior(alike, prior_weights(np.ones(1), 1.0, tuning.most_components), np.zeros(0, dtype=np.int64))
        label = grow(Rows.plain(rows), prior).ascent.winners.astype(np.int64)

    sizes = np.bincount(label)
    order = np.argsort(-sizes, kind="stable")
    # (3.17)  kept if N_mode >= min(.1 N_class, max(5, .05 N_class)). Modes that overlap stay: a class that no single
    #         component describes is known as the pieces that describe it, or stage 2 would call these novel
    enough = max(tuning.least_rows, tuning.least_share_of_many * rows.shape[0])
    enough = min(tuning.least_share * rows.shape[0], enough)
    kept = [k for k in order if sizes[k] >= enough] or [order[0]]
    members = [label == k for k in kept[:most]]
    return [_Mode(member, _one_component(rows[own], vague), rows[own], index[own]) for own in members]


def _vague(
    centre: FloatArray, kernel: Kernel, noise: FloatArray | None, tuning: Stage1Tuning, sphere: FloatArray
) -> Components:
    """Return what is believed of a mode before its rows, `sphere` being the average scatter."""
    p, alike = centre.size, tuning.mode_alike
    strength, dof = np.array([tuning.vague]), np.array([p + 1.0 + alike])
    return Components(centre[None], strength, dof, alike * sphere[None], (kernel,), noise)


def _one_component(rows: FloatArray, prior: Components) -> Ascent:
    alone = Prior(prior, prior_weights(np.ones(1), 1.0, 1), np.zeros(0, dtype=np.int64))
    plain = Rows.plain(np.ascontiguousarray(rows))
    whole = statistics_of_labels(plain, np.zeros(rows.shape[0], dtype=np.int64), 1)
    return ascend(plain, alone, whole, winners=np.zeros(rows.shape[0], dtype=np.int32))


def _plausible(modes: list[_Mode], by_class: list[FloatArray], white: White, way: _Way) -> list[_Mode]:
    """Return the modes without doubtful ones: outliers that found together, and rows that bear a wrong label."""
    tuning = way.tuning
    largest = {mode.member: mode for mode in reversed(modes)}  # modes of a class come largest first
    doubted = [
        mode is not largest[mode.member] and mode.rows.shape[0] < tuning.doubted_share * by_class[mode.member].shape[0]
        for mode in modes
    ]
    sure = [mode for mode, doubt in zip(modes, doubted, strict=True) if not doubt]

    kept = list[_Mode]()
    for mode, doubt in zip(modes, doubted, strict=True):
        if doubt:
            own = by_class[mode.member]
            whole = _modes(mode.member, own, np.arange(own.shape[0]), 1, white, way)[0]
            wrong = any(
                other.member != mode.member
                and mode.rows.shape[0] < tuning.doubted_share * other.rows.shape[0]
                and other.holds(mode.rows, tuning.within).mean() > 0.5
                for other in sure
            )
            # (3.18)  log|Sigma_mode| / p > log|Sigma_class| / p + 2
            if wrong or mode.log_width > whole.log_width + tuning.much_wider:
                continue
        kept.append(mode)
    return kept
