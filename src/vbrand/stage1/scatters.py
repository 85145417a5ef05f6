"""How wide known classes are: the scatters of their modes, drawn to the average as far as the table's are alike."""

import numpy as np

from vbrand.model.components import Components, evidence
from vbrand.model.kernels import Gaussian
from vbrand.model.roots import symmetric_roots
from vbrand.model.statistics import Statistics
from vbrand.stage1.tuning import Stage1Tuning
from vbrand.types import FloatArray


def average_scatter(
    used: Statistics, noise: FloatArray | None, tuning: Stage1Tuning, sphere: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the scatter of the rows of each mode, and their average."""
    # W of (5.4), by drift = s / R
    drift = _drifts(used)
    within = used.squares - used.weights[:, None, None] * drift[:, :, None] * drift[:, None, :]
    own = within if noise is None else within + used.weights[:, None, None] * noise
    # (3.20)  average = (sum_k W_k + R_k D + 5 I) / (sum_k N_k + 5)
    spherical = tuning.spherical_rows
    return own, (own.sum(axis=0) + spherical * sphere) / (used.counts.sum() + spherical)


def _drifts(used: Statistics) -> FloatArray:
    """Return where the centre of each mode lies from its origin, (K, p): there, where none of its cells is known."""
    weights = used.weights[:, None]
    return np.divide(used.sums, weights, out=np.zeros_like(used.sums), where=weights > 0)


def alike_scatters(
    used: Statistics, noise: FloatArray | None, tuning: Stage1Tuning, sphere: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return centres, scatters, their average, and how alike they are, by the evidence of the labelled rows.

    Sigma_k ~ InverseWishart with E[Sigma_k] = average: the degrees of freedom that make the modes most likely say how
    far each is drawn to the average, and how far a novel class may be expected to be like it.
    """
    count, p = used.sums.shape
    own, average = average_scatter(used, noise, tuning, sphere)
    centres = used.origin + _drifts(used)
    middle = np.average(centres, axis=0, weights=used.counts)

    # one component for each degree of likeness, of which all modes may be
    tried = np.geomspace(1.0, tuning.most_alike, tuning.alike_steps)
    ways = Components(
        np.tile(middle, (tried.size, 1)),
        np.full(tried.size, tuning.vague),
        p + 1.0 + tried,
        tried[:, None, None] * average,
        (Gaussian(),) * tried.size,
        noise,
    )
    # (3.21)  a = argmax sum_k evidence(mode k | nu = p + 1 + a, Psi = a average)
    of, every = np.repeat(np.arange(tried.size), count), np.tile(np.arange(count), tried.size)
    scores = evidence(ways, used.reordered(every), of).reshape(tried.size, count).sum(axis=1)
    alike = float(tried[int(np.argmax(scores))])
    # (3.22)  scatter_k = (a average + W_k + R_k D) / (a + N_k)
    scatters = (alike * average + own) / (alike + used.counts)[:, None, None]
    return centres, scatters, average, alike


def sphere_without(
    before: Statistics, after: Statistics, noise: FloatArray | None, tuning: Stage1Tuning, sphere: FloatArray
) -> FloatArray:
    """Return what is a sphere in coordinates whitened by all rows, in those whitened without some, (p, p).

    (3.26)  A^-1/2 A_left A^-1/2,  A the average (3.20) with all rows, A_left that without some
    """
    averages = [average_scatter(one, noise, tuning, sphere)[1] for one in (before, after)]
    turned = np.array_equal(sphere, np.eye(sphere.shape[0]))
    if not turned:  # to white coordinates
        root, back = symmetric_roots(sphere)
        averages = [back @ one @ back for one in averages]
    inverse = symmetric_roots(averages[0])[1]
    without = np.asarray(inverse @ averages[1] @ inverse)
    return without if turned else np.asarray(root @ without @ root)
