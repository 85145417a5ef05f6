"""The simulated tables of the paper's three studies, with sizes, means and covariances as they were really run.

The paper misprints some of them: SS1's first mean, variances of classes 2, 3 and 7, the correlation of class 6 and the
training size of class 3; SS3's last mean.
"""

from dataclasses import dataclass

import numpy as np

from vbrand.types import FloatArray, IntArray


@dataclass(frozen=True)
class Simulated:
    """Labelled rows of known classes, and unlabelled rows with their true class; classes count from 1."""

    train: FloatArray
    train_classes: IntArray
    test: FloatArray
    test_classes: IntArray

    @property
    def known(self) -> int:
        """Return the number of known classes: the first ones."""
        return int(self.train_classes.max())


@dataclass(frozen=True)
class Design:
    """Classes in the plane, the known ones first; further columns are noise."""

    means: FloatArray  # (classes, 2)
    covariances: FloatArray  # (classes, 2, 2)
    train_sizes: tuple[int, ...]  # of the known classes
    test_sizes: tuple[int, ...]
    noise: float  # variance of further columns

    def covariance(self, k: int, columns: int) -> FloatArray:
        """Return the covariance of class k, counted from 0, in the given number of columns."""
        full = self.noise * np.eye(columns)
        full[:2, :2] = self.covariances[k]
        return full

    def mean(self, k: int, columns: int) -> FloatArray:
        """Return the mean of class k, counted from 0, in the given number of columns."""
        return np.append(self.means[k], np.zeros(columns - 2))


def _design(
    means: list[tuple[float, float]],
    variances: list[float],
    correlations: list[float],
    train_sizes: tuple[int, ...],
    test_sizes: tuple[int, ...],
    noise: float,
) -> Design:
    covariances = [v * np.array([[1.0, r], [r, 1.0]]) for v, r in zip(variances, correlations, strict=True)]
    return Design(np.array(means), np.array(covariances), train_sizes, test_sizes, noise)


_CORNERS = [(2.0, 2.0), (-2.0, -2.0), (-2.0, 2.0), (2.0, -2.0), (0.0, 0.0)]
_SIX = [(-5.0, 5.0), (5.0, 5.0), (5.0, -5.0), (0.0, 0.0), (0.0, 0.0), (-5.0, -5.0)]
_SIX_TEST = (1950, 1950, 1950, 2000, 2000, 100)

DESIGNS = {
    "ss1": _design(
        [(-5.0, 5.0), (-4.0, -4.0), (4.0, 4.0), (0.0, 0.0), (5.0, -10.0), (5.0, -10.0), (-10.0, -10.0)],
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.01],
        [0.9, 0.0, 0.0, -0.75, 0.9, -0.9, 0.0],
        (300, 300, 400),
        (200, 200, 250, 90, 100, 100, 60),
        noise=1.0,
    ),
    "ss2_simple": _design(_CORNERS, [0.2] * 5, [0.0] * 5, (500, 500), (200,) * 5, noise=0.2),
    "ss2_complex": _design(_CORNERS, [0.75] * 4 + [0.375], [0.0] * 5, (500, 500), (200,) * 5, noise=0.2),
    "ss3_low": _design(_SIX, [0.5] * 5 + [0.75], [0.0, 0.0, 0.0, 0.8, -0.8, 0.0], (50,) * 3, _SIX_TEST, noise=1.0),
    "ss3_high": _design(_SIX, [3.0] * 5 + [27.0], [0.0, 0.0, 0.0, 0.8, -0.8, 0.0], (50,) * 3, _SIX_TEST, noise=1.0),
}


def simulate(study: str, seed: int, *, size: float = 1.0, columns: int = 2) -> Simulated:
    """Return one replicate: `study` is a key of DESIGNS, `size` multiplies every class (q), `columns` is p.

    >>> simulate("ss1", 0, size=0.5).test.shape
    (500, 2)
    """
    design = DESIGNS[study]
    rng = np.random.default_rng(seed)
    train, train_classes = _draw(design, [round(size * n) for n in design.train_sizes], columns, rng)
    test, test_classes = _draw(design, [round(size * n) for n in design.test_sizes], columns, rng)
    return Simulated(train, train_classes, test, test_classes)


def contaminated(data: Simulated, seed: int) -> Simulated:
    """Return the data with 10 % of the training labels swapped, and 5 % of far outliers added to the training rows."""
    rng = np.random.default_rng(seed)
    rows, classes = data.train, data.train_classes.copy()
    n, p = rows.shape
    wrong = rng.choice(n, n // 10, replace=False)
    # any other class, each equally likely
    classes[wrong] = (classes[wrong] - 1 + rng.integers(1, data.known, wrong.size)) % data.known + 1

    direction = rng.normal(size=(n // 20, p))
    far = 30.0 * direction / np.linalg.norm(direction, axis=1, keepdims=True) + rng.normal(size=(n // 20, p))
    extra = rng.integers(1, data.known + 1, n // 20)
    return Simulated(np.vstack([rows, far]), np.append(classes, extra), data.test, data.test_classes)


def _draw(design: Design, sizes: list[int], columns: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    rows = [
        rng.multivariate_normal(design.mean(k, columns), design.covariance(k, columns), size=n, method="cholesky")
        for k, n in enumerate(sizes)
    ]
    return np.vstack(rows), np.repeat(np.arange(1, len(sizes) + 1), sizes)
