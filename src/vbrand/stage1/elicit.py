"""From known classes and beliefs in words to the prior: what a class is, and what one nobody has seen may look like."""

from dataclasses import dataclass, field, replace

import numpy as np

from vbrand.inference.rows import FARTHEST
from vbrand.model.components import Components, stacked
from vbrand.model.kernels import Gaussian, Kernel
from vbrand.model.prior import Prior
from vbrand.model.weights import prior_weights
from vbrand.stage1.classes import KnownClasses
from vbrand.stage1.levels import base_levels, known_levels
from vbrand.stage1.tuning import TUNED, Stage1Tuning
from vbrand.types import FloatArray


@dataclass(frozen=True)
class Beliefs:
    """The hyperparameters in words; None stands for the default that `elicit` derives from the known classes."""

    known_mean_strength: float | None = None  # lambda: rows that the centre of a class is worth
    known_scatter_strength: float | None = None  # nu - p - 1: rows that its scatter is worth
    known_scatter_factor: float = 1.0  # times the robust scatter
    known_weight: float = 1.0  # alpha_j
    novel_weight: float = 1.0  # alpha_0
    novel_mean: FloatArray | None = None  # mu_0, (p,)
    novel_mean_strength: float = 0.01  # lambda_0
    novel_dof: float | None = None  # nu_0
    novel_scale: FloatArray | None = None  # Psi_0, (p, p)
    concentration: float | tuple[float, float] = (1.0, 1.0)  # gamma, or shape and rate of its Gamma
    kernel: Kernel = field(default_factory=Gaussian)  # how rows scatter about their component
    noise: FloatArray | None = None  # D, (p, p): what rounding hides of the scatter of a row
    farthest: float = np.inf  # r of (3.1): coordinates beyond it count as that


def elicit(
    known: KnownClasses, beliefs: Beliefs, novel: int, *, update_known: bool = True, tuning: Stage1Tuning = TUNED
) -> Prior:
    """Return the prior for these known classes and at most `novel` novel components.

    Without `update_known` the known classes are point masses at their robust centre and scatter.
    """
    known = _as_far_as_rows(known, beliefs.farthest)
    free = update_known and known.numbers
    own = _known_components(known, beliefs, tuning) if free else _point_masses(known, beliefs)
    base, levels = base_measure(known, beliefs), base_levels(known, tuning)
    if levels is not None:
        own = replace(own, levels=known_levels(known, levels, fixed=not update_known))
        base = replace(base, levels=levels)
    # (4.7)  alpha_k, alpha_0, gamma
    dirichlet = np.append(np.full(known.rows.size, beliefs.known_weight), beliefs.novel_weight)
    return Prior(
        components=stacked(own, base.reordered(np.zeros(novel, dtype=np.int64))),
        weights=prior_weights(dirichlet, beliefs.concentration, novel),
        class_of=known.class_of,
    )


def base_measure(known: KnownClasses, beliefs: Beliefs) -> Components:
    """Return one component: what a class that nobody has seen may look like."""
    p = known.centres.shape[1]
    # (4.5)  nu_0 = p + 1 + a: as alike to the average known scatter as known ones are
    dof = p + 1.0 + known.alike if beliefs.novel_dof is None else beliefs.novel_dof
    # (4.4)  m0_0 = sum_k n_k centre_k / sum_k n_k
    mean = np.average(known.centres, axis=0, weights=known.rows) if beliefs.novel_mean is None else beliefs.novel_mean
    mean = np.clip(mean, -beliefs.farthest, beliefs.farthest)
    # (4.6)  Psi_0 = (nu_0 - p - 1) average, so that E[Sigma] is the average scatter of a known component
    scale = max(dof - p - 1.0, 1.0) * known.average if beliefs.novel_scale is None else beliefs.novel_scale
    strength = np.array([beliefs.novel_mean_strength if known.numbers else np.inf])
    return Components(mean[None], strength, np.array([dof]), scale[None], (beliefs.kernel,), beliefs.noise)


def _as_far_as_rows(known: KnownClasses, farthest: float) -> KnownClasses:
    """Return known classes that lie and scatter no farther out than rows count.

    A wild labelled row can draw them far beyond: then scatters that differ by 1e15 and more meet in one scale matrix,
    the least of them drowns in rounding, and the bound, which is computed with its inverse, falls by millionths.
    """
    # (4.10)  centres within +-r, column by column;   axes of a scatter no longer than r
    return replace(
        known,
        centres=np.clip(known.centres, -farthest, farthest),
        scatters=np.stack([_no_longer(scatter, farthest) for scatter in known.scatters]),
        average=_no_longer(known.average, farthest),
    )


def _no_longer(scatter: FloatArray, farthest: float) -> FloatArray:
    """Return a scatter of which no axis is longer than this; the same array if none is.

    Where one is, the shortest are lost in its rounding: none stays shorter than a millionth of this.
    """
    if not np.trace(scatter) > farthest * farthest:  # which no eigenvalue exceeds
        return scatter
    square, axes = np.linalg.eigh(scatter)
    length = np.clip(np.sqrt(np.maximum(square, 0.0)), farthest / FARTHEST, farthest)
    return np.asarray((axes * length) @ (axes * length).T)


def _known_components(known: KnownClasses, beliefs: Beliefs, tuning: Stage1Tuning) -> Components:
    count, p = known.centres.shape
    mean_strength, scatter_strength = (
        _strengths(known, tuning) if strength is None else np.full(count, float(strength))
        for strength in (beliefs.known_mean_strength, beliefs.known_scatter_strength)
    )
    # (4.1), (4.2)  lambda = strength,  nu = p + 1 + strength,  Psi = factor strength scatter
    scale = (beliefs.known_scatter_factor * scatter_strength)[:, None, None] * known.scatters
    return Components(
        known.centres, mean_strength, scatter_strength + p + 1.0, scale, (beliefs.kernel,) * count, beliefs.noise
    )


def _strengths(known: KnownClasses, tuning: Stage1Tuning) -> FloatArray:
    """Return the rows that each known component is worth.

    More than how alike scatters may be at the most: else its tail would be heavier than that of a class that nobody has
    seen, and a row far from everything would count as known.
    """
    p = known.centres.shape[1]
    # (4.3)  p (p + 3) / 2 parameters: those of a mean and of a scatter
    enough = max(tuning.strength * p * (p + 3) / 2, tuning.most_alike + 1.0)
    return np.asarray(np.clip(enough, known.rows, tuning.strength * known.rows), dtype=np.float64)


def _point_masses(known: KnownClasses, beliefs: Beliefs) -> Components:
    count, p = known.centres.shape
    # (4.8)  lambda = infinity,  Psi = factor scatter
    scatters = beliefs.known_scatter_factor * known.scatters
    dof = np.full(count, p + 2.0)
    return Components(known.centres, np.full(count, np.inf), dof, scatters, (beliefs.kernel,) * count, beliefs.noise)
