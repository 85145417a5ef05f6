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
from vbrand.types import BoolArray, FloatArray, IntArray

# the labelled rows of a class would be this unusual a sample of a component, or more usual
_UNUSUAL = 1e-4
# sizes of scatters that differ by less, or by what chance makes of so few rows, are the same
_SAME_SIZE = 1.5
_TOO_SMALL = 2.0
# rows of a piece of a class are at least so likely to be of the class
_LEAST_PART = 0.4
_DRAWS = 1_000
# centres that lie so many times farther from a class than its farthest rows are those of no piece of it
_FAR = 2.0


@dataclass(frozen=True)
class _Moments:
    """Rows, their centre and their scatter."""

    rows: float
    centre: FloatArray  # (p,)
    scatter: FloatArray  # (p, p)


def meanings_of(known: KnownClasses, prior: Prior, posterior: Posterior, counts: FloatArray) -> IntArray:
    """Return the class that each component means, -1 for novelty, (K,); `counts` are the rows of the first of them.

    A novel component belongs to a class if the labelled rows of the class could be a sample of it; or if its rows are
    about as likely to be of the class as stage 1 learned it, and the labelled rows could be a sample of the class with
    all such pieces.
    """
    components = posterior.components
    rows = np.zeros(components.dof.size)
    rows[: counts.size] = counts
    meaning = np.append(prior.class_of, np.full(rows.size - prior.known, -1))
    novel = np.flatnonzero((meaning < 0) & (rows >= 1.0) & (components.dof > components.columns + 1.0))
    best = np.zeros(rows.size)
    for j in range(known.labels.size):
        labelled = _pooled(known.rows, known.centres, known.scatters, known.class_of == j)
        near = novel[_distances(components.mean[novel], labelled) <= _FAR * (np.sqrt(components.columns) + 3.0)]
        for g, part in _pieces(j, known, prior, components, rows, near, labelled).items() if near.size else ():
            if part > best[g]:
                meaning[g], best[g] = j, part
    return meaning


def _pieces(
    j: int,
    known: KnownClasses,
    prior: Prior,
    components: Components,
    rows: FloatArray,
    novel: IntArray,
    labelled: _Moments,
) -> dict[int, float]:
    """Return the novel components that are pieces of a class, and how likely their rows are to be of it."""
    scatters = components.expected_scatter
    own = np.append(prior.class_of == j, np.zeros(rows.size - prior.known, dtype=bool))

    def together(pieces: list[int]) -> bool:
        whole = own.copy()
        whole[pieces] = True
        return _could_be_a_sample(labelled, _pooled(rows, components.mean, scatters, whole))

    alone = {g: 1.0 for g in novel.tolist() if _could_be_a_sample(labelled, _one(rows, components.mean, scatters, g))}
    parts = _parts(j, known, prior, components, rows, novel, float(rows[own].sum()))
    pieces = sorted((g for g, part in parts.items() if part >= _LEAST_PART), key=lambda g: -parts[g])
    while pieces and not together(pieces):
        pieces.pop()
    return {g: parts[g] for g in pieces} | alone


def _parts(
    j: int, known: KnownClasses, prior: Prior, components: Components, rows: FloatArray, novel: IntArray, held: float
) -> dict[int, float]:
    """Return how likely rows of each novel component are to be of a class, as stage 1 learned it; 1 if they are alike.

    The component has its share s of the rows of both, at the most half: a class that has no rows here is not to be
    found in whatever lies near it.
    """
    chosen = np.flatnonzero(known.class_of == j)
    weight = np.log(known.rows[chosen] / known.rows[chosen].sum())
    parts = dict[int, float]()
    for g in novel.tolist():
        alone = components.reordered(np.array([g]))
        drawn = _draws(alone)
        usual = logsumexp(weight + log_component_densities(drawn, prior.components.reordered(chosen)), axis=1)
        share = min(0.5, rows[g] / (held + rows[g]))
        # E over rows y of g of  f_j(y) / (s f_g(y) + (1 - s) f_j(y))
        odds = usual - log_component_densities(drawn, alone)[:, 0] + np.log((1.0 - share) / share)
        parts[g] = float(expit(odds).mean() / (1.0 - share))
    return parts


def _draws(component: Components) -> FloatArray:
    """Return rows such as those of a component, always the same ones."""
    generator = np.random.default_rng(0)
    unit = generator.normal(size=(_DRAWS, component.columns))
    unit /= np.sqrt(component.kernels[0].draw_scales(_DRAWS, generator))[:, None]
    return np.asarray(component.mean[0] + unit @ component.factor[0].T / np.sqrt(component.spread[0]))


def _could_be_a_sample(labelled: _Moments, whole: _Moments) -> bool:
    """Return whether labelled rows with these moments could be a sample of a component, or of several, with those."""
    p = whole.centre.size
    root = np.linalg.cholesky(whole.scatter)
    moved = solve_triangular(root, labelled.centre - whole.centre, lower=True)
    # T^2 = (1 / n + 1 / N)^-1 (c - m)' E[Sigma]^-1 (c - m), chi2_p if they are a sample
    distance = np.square(moved).sum() / (1.0 / labelled.rows + 1.0 / whole.rows)
    # tr(E[Sigma]^-1 S) / p, one but for chance: its standard deviation is sqrt(2 / (n p))
    width = np.log(np.square(solve_triangular(root, np.linalg.cholesky(labelled.scatter), lower=True)).sum() / p)
    chance = max(np.log(_SAME_SIZE), stats.norm.isf(_UNUSUAL) * np.sqrt(2.0 / (labelled.rows * p)))
    # the scatter that few rows show of many columns is too small
    low = -chance - _TOO_SMALL * p / labelled.rows
    return bool(distance <= stats.chi2.isf(_UNUSUAL, p) and low <= width <= chance)


def _distances(places: FloatArray, labelled: _Moments) -> FloatArray:
    """Return how far places lie from a class, in its standard deviations."""
    root = np.linalg.cholesky(labelled.scatter)
    return np.asarray(np.sqrt(np.square(solve_triangular(root, (places - labelled.centre).T, lower=True)).sum(axis=0)))


def _one(rows: FloatArray, centres: FloatArray, scatters: FloatArray, k: int) -> _Moments:
    return _Moments(float(rows[k]), centres[k], scatters[k])


def _pooled(rows: FloatArray | IntArray, centres: FloatArray, scatters: FloatArray, chosen: BoolArray) -> _Moments:
    """Return the moments of several components together."""
    weight = rows[chosen] / rows[chosen].sum()
    centre = weight @ centres[chosen]
    moved = centres[chosen] - centre
    scatter = np.einsum("k,kij->ij", weight, scatters[chosen] + moved[:, :, None] * moved[:, None, :])
    return _Moments(float(rows[chosen].sum()), centre, scatter)
