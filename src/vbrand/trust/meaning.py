"""Which novel components are known classes after all: pieces of a class that stage 1 did not quite see.

A prior that is surer than its labelled rows leaves a class to a novel component where it lies in truth, and with many
rows a class that is no Student t is cut into several. Such components are given back to their class.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.linalg import solve_triangular
from scipy.special import expit, logsumexp

from vbrand.model.components import Components
from vbrand.model.posterior import Posterior
from vbrand.model.predictive import log_component_densities
from vbrand.model.prior import Prior
from vbrand.stage1.classes import KnownClasses
from vbrand.trust.tuning import TUNED, MeaningTuning
from vbrand.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class _Moments:
    """Rows, their centre and their scatter."""

    rows: float
    centre: FloatArray  # (p,)
    scatter: FloatArray  # (p, p)


@dataclass(frozen=True)
class _Case:
    """A fit, and the known classes that its components are compared with."""

    known: KnownClasses
    prior: Prior
    components: Components
    rows: FloatArray  # (K,) that each component holds
    tuning: MeaningTuning


def meanings_of(
    known: KnownClasses, prior: Prior, posterior: Posterior, counts: FloatArray, tuning: MeaningTuning = TUNED
) -> IntArray:
    """Return the class that each component means, -1 for novelty, (K,); `counts` are the rows of the first of them.

    A novel component belongs to a class if the labelled rows of the class could be a sample of it; or if its rows are
    about as likely to be of the class as stage 1 learned it, and the labelled rows could be a sample of the class with
    all such pieces.
    """
    components = posterior.components
    rows = np.zeros(components.dof.size)
    rows[: counts.size] = counts
    meaning = np.append(prior.class_of, np.full(rows.size - prior.known, -1))
    novel = np.flatnonzero((meaning < 0) & (rows >= tuning.least_rows) & (components.dof > components.columns + 1.0))

    case, best = _Case(known, prior, components, rows, tuning), np.zeros(rows.size)
    nearby = tuning.far * (np.sqrt(components.columns) + tuning.beyond)
    for j in range(known.labels.size):
        labelled = _pooled(known.rows, known.centres, known.scatters, known.class_of == j)
        near = novel[_distances(components.mean[novel], labelled) <= nearby]
        for g, part in _pieces(j, case, near, labelled).items() if near.size else ():
            if part > best[g]:
                meaning[g], best[g] = j, part
    return meaning


def _pieces(j: int, case: _Case, novel: IntArray, labelled: _Moments) -> dict[int, float]:
    """Return the novel components that are pieces of a class, and how likely their rows are to be of it."""
    components, rows, tuning = case.components, case.rows, case.tuning
    scatters = components.expected_scatter
    own = np.append(case.prior.class_of == j, np.zeros(rows.size - case.prior.known, dtype=bool))

    def together(pieces: list[int]) -> bool:
        whole = own.copy()
        whole[pieces] = True
        return _could_be_a_sample(labelled, _pooled(rows, components.mean, scatters, whole), tuning)

    alone = {
        g: 1.0
        for g in novel.tolist()
        if _could_be_a_sample(labelled, _Moments(float(rows[g]), components.mean[g], scatters[g]), tuning)
    }
    parts = _parts(j, case, novel, float(rows[own].sum()))
    pieces = sorted((g for g, part in parts.items() if part >= tuning.least_part), key=lambda g: -parts[g])
    while pieces and not together(pieces):
        pieces.pop()
    return {g: parts[g] for g in pieces} | alone


def _parts(j: int, case: _Case, novel: IntArray, held: float) -> dict[int, float]:
    """Return how likely rows of each novel component are to be of a class, as stage 1 learned it; 1 if they are alike.

    The component has its share s of the rows of both; the class has `held`.
    """
    known, components, rows, tuning = case.known, case.components, case.rows, case.tuning
    chosen = np.flatnonzero(known.class_of == j)
    weight = np.log(known.rows[chosen] / known.rows[chosen].sum())
    own = case.prior.components.reordered(chosen)

    parts = dict[int, float]()
    for g in novel.tolist():
        alone = components.reordered(np.array([g]))
        drawn = _draws(alone, tuning.draws)
        usual = logsumexp(weight + log_component_densities(drawn, own), axis=1)
        share = min(tuning.largest_share, rows[g] / (held + rows[g]))
        # (9.5)  E over rows y of g of f_j(y) / (s f_g(y) + (1 - s) f_j(y))
        odds = usual - log_component_densities(drawn, alone)[:, 0] + np.log((1.0 - share) / share)
        parts[g] = float(expit(odds).mean() / (1.0 - share))
    return parts


def _draws(component: Components, count: int) -> FloatArray:
    """Return so many rows such as those of a component, always the same ones."""
    generator = np.random.default_rng(0)
    unit = generator.normal(size=(count, component.columns))
    unit /= np.sqrt(component.kernels[0].draw_scales(count, generator))[:, None]
    return np.asarray(component.mean[0] + unit @ component.factor[0].T / np.sqrt(component.divisor[0]))


def _could_be_a_sample(labelled: _Moments, whole: _Moments, tuning: MeaningTuning) -> bool:
    """Return whether labelled rows with these moments could be a sample of a component, or of several, with those."""
    p = whole.centre.size
    root = np.linalg.cholesky(whole.scatter)
    moved = solve_triangular(root, labelled.centre - whole.centre, lower=True)
    # (9.3)  T^2 = (1 / n + 1 / N)^-1 (c - m)' E[Sigma]^-1 (c - m), chi2_p if they are a sample
    distance = np.square(moved).sum() / (1.0 / labelled.rows + 1.0 / whole.rows)
    # (9.4)  tr(E[Sigma]^-1 S) / p, one but for chance: its standard deviation is sqrt(2 / (n p))
    width = np.log(np.square(solve_triangular(root, np.linalg.cholesky(labelled.scatter), lower=True)).sum() / p)
    chance = max(np.log(tuning.same_size), stats.norm.isf(tuning.unusual) * np.sqrt(2.0 / (labelled.rows * p)))
    # the scatter that few rows show of many columns is too small
    low = -chance - tuning.too_small * p / labelled.rows
    return bool(distance <= stats.chi2.isf(tuning.unusual, p) and low <= width <= chance)


def _distances(points: FloatArray, labelled: _Moments) -> FloatArray:
    """Return how far points lie from a class, in its standard deviations."""
    # (9.2)  sqrt((m - c)' S^-1 (m - c))
    root = np.linalg.cholesky(labelled.scatter)
    return np.asarray(np.sqrt(np.square(solve_triangular(root, (points - labelled.centre).T, lower=True)).sum(axis=0)))


def _pooled(rows: FloatArray | IntArray, centres: FloatArray, scatters: FloatArray, chosen: BoolArray) -> _Moments:
    """Return the moments of several components together."""
    # (9.1)  centre = sum q_k m_k,  scatter = sum q_k (Sigma_k + (m_k - centre)(m_k - centre)')
    weight = rows[chosen] / rows[chosen].sum()
    centre = weight @ centres[chosen]
    moved = centres[chosen] - centre
    scatter = np.einsum("k,kij->ij", weight, scatters[chosen] + moved[:, :, None] * moved[:, None, :])
    return _Moments(float(rows[chosen].sum()), centre, scatter)
