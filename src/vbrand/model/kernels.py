"""How rows scatter about the mean of their component: a kernel is a Gaussian or a scale mixture of Gaussians.

    y ~ N(mu, Sigma / tau),  tau ~ p(tau)

A kernel is what p(tau) is, and knows what follows from it. Distances D are squared and in units of Sigma or S, and log
densities come without the log determinant, so that a kernel sees numbers and never a matrix.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from scipy import stats
from scipy.special import gammaln

from vbrand.compiling import from_python, inner, jit
from vbrand.model.gamma import log_gamma
from vbrand.types import FloatArray

# integral over tau: Newton steps to its mode, and points of Gauss-Hermite around it
_STEPS = 8
_SMALL_STEP = 1e-9
_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(11)
# its logarithm is smooth: points of a lattice in log(1 + D (1 + (u + 1) / d)) are computed, so many per unit and none
# beyond the last, and a polynomial through six of them tells what lies between
_PER_UNIT = 64
_LAST_UNIT = 600.0
_POINTS = 6
# lattices that are no longer than that are kept: one that only rows far from everything need is not
_KEPT_POINTS = 2_048


class ScaleMixture(ABC):
    """What any kernel can say of rows y ~ N(mu, Sigma / tau), (2.8), with its own p(tau), (2.9)."""

    code: ClassVar[int]  # by which the compiled sweep picks its loop; never given to another kernel

    @property
    @abstractmethod
    def sentence(self) -> str:
        """Return the kernel in words."""

    @property
    def shape(self) -> float:
        """Return the number that tells p(tau) from others of its kind; 0 where there is only one."""
        return 0.0

    def score(self, around: FloatArray, p: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return constant, tail and power, (K,) each, of log int p(tau) tau^(p/2) exp(-tau (around + D) / 2) dtau.

        What tail and power are to the score as a function of D is said by the loop that has the kernel's code.
        """
        parts = np.array([_score_of(self.code, self.shape, float(one), p) for one in around]).reshape(-1, 3)
        return parts[:, 0], parts[:, 1], parts[:, 2]

    @abstractmethod
    def log_density(self, distance: FloatArray, p: int) -> FloatArray:
        """Return log of the average of N(y | m, S / tau) over tau, at distances from m in S."""

    @abstractmethod
    def log_predictive(self, distance: FloatArray, stretch: float, dof: float, p: int) -> FloatArray:
        """Return log of the average of t_{u-p+1}(y | m, S stretch / (tau (u - p + 1))) over tau, u of `dof`."""

    @abstractmethod
    def edge(self, share: float, p: int) -> float:
        """Return the distance within which this share of the rows lies."""

    @abstractmethod
    def draw_scales(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Return so many draws of tau."""


@dataclass(frozen=True)
class Gaussian(ScaleMixture):
    """tau = 1: rows are Gaussian."""

    name: Literal["gaussian"] = field(default="gaussian", kw_only=True, repr=False)

    code: ClassVar[int] = 0

    @property
    def sentence(self) -> str:
        """Return the kernel in words."""
        return "Gaussian."

    def log_density(self, distance: FloatArray, p: int) -> FloatArray:
        """Return log N(y | m, S), without |S|."""
        return np.asarray(-0.5 * (p * np.log(2.0 * np.pi) + distance))

    def log_predictive(self, distance: FloatArray, stretch: float, dof: float, p: int) -> FloatArray:
        """Return log t_{u-p+1}(y | m, S stretch / (u - p + 1)), without |S|."""
        # (8.3)  lnG((u + 1)/2) - lnG((u + 1 - p)/2) - p/2 log(pi stretch) - (u + 1)/2 log(1 + D / stretch)
        constant = gammaln(0.5 * (dof + 1.0)) - gammaln(0.5 * (dof - p + 1.0)) - 0.5 * p * np.log(np.pi * stretch)
        return np.asarray(constant - 0.5 * (dof + 1.0) * np.log1p(distance / stretch))

    def edge(self, share: float, p: int) -> float:
        """Return a quantile of chi2 with p degrees of freedom."""
        return float(stats.chi2.ppf(share, p))

    def draw_scales(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Return ones."""
        return np.ones(count)


@dataclass(frozen=True)
class Student(ScaleMixture):
    """tau ~ Gamma(d / 2, d / 2): rows are a Student t with d degrees of freedom."""

    dof: float  # d
    name: Literal["student"] = field(default="student", kw_only=True, repr=False)

    code: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not 0.0 < self.dof < np.inf:
            raise ValueError(f"a Student t has {self.dof:g} degrees of freedom; a positive number is expected")

    @property
    def sentence(self) -> str:
        """Return the kernel in words."""
        return f"Student t, {self.dof:g} degrees of freedom."

    @property
    def shape(self) -> float:
        """Return d."""
        return self.dof

    def log_density(self, distance: FloatArray, p: int) -> FloatArray:
        """Return log t_d(y | m, S), without |S|."""
        d = self.dof
        constant = gammaln(0.5 * (d + p)) - gammaln(0.5 * d) - 0.5 * p * np.log(np.pi * d)
        return np.asarray(constant - 0.5 * (d + p) * np.log1p(distance / d))

    def log_predictive(self, distance: FloatArray, stretch: float, dof: float, p: int) -> FloatArray:
        """Return log of the average of t_{u-p+1}(y | m, S stretch / (tau (u - p + 1))) over tau, without |S|."""
        return np.asarray(_log_student_scaled(distance / stretch, dof, self.dof, p) - 0.5 * p * np.log(stretch))

    def edge(self, share: float, p: int) -> float:
        """Return p times a quantile of F with p and d degrees of freedom."""
        return _student_edge(share, p, self.dof)

    def draw_scales(self, count: int, generator: np.random.Generator) -> FloatArray:
        """Return draws of chi2_d / d."""
        return np.asarray(generator.chisquare(self.dof, count) / self.dof)


@lru_cache(maxsize=1_000)  # each takes a millisecond, and classes ask for the same
def _student_edge(share: float, p: int, dof: float) -> float:
    return float(p * stats.f.ppf(share, p, dof))


_STUDENT = Student.code


@inner
def score_of(code, shape, around, p):  # type: ignore[no-untyped-def]
    """Return constant, tail and power of a kernel: see ScaleMixture.score."""
    if code == _STUDENT:
        # (5.15) lnG((d+p)/2) - lnG(d/2) + d/2 log(d/2) - (d+p)/2 log((d + delta)/2) at D = 0, delta = around + D
        power = 0.5 * (shape + p)
        constant = log_gamma(power) - log_gamma(0.5 * shape) + 0.5 * shape * math.log(0.5 * shape)
        return constant - power * math.log(0.5 * (shape + around)), shape + around, power
    # (5.14) -delta / 2 at D = 0
    return -0.5 * around, 0.0, 0.0


@inner
def narrowed(code, constant, tail, power, p, columns):  # type: ignore[no-untyped-def]
    """Return constant, tail and power for rows of fewer columns, given those of a score of p."""
    if code == _STUDENT:
        shape = 2.0 * power - p
        before, _, _ = score_of(code, shape, tail - shape, p)
        after, _, less = score_of(code, shape, tail - shape, columns)
        return constant - before + after, tail, less
    return constant, tail, power


@inner
def at_distance(code, constant, tail, power, distance):  # type: ignore[no-untyped-def]
    """Return the score of one row at a squared distance D, and its weight E[tau] (5.16)."""
    if code == _STUDENT:
        return constant - power * math.log1p(distance / tail), 2.0 * power / (tail + distance)
    return constant - 0.5 * distance, 1.0


@inner
def farthest_with(code, constant, tail, power, least):  # type: ignore[no-untyped-def]
    """Return the squared distance at which the score is this, (5.19)."""
    if code == _STUDENT:
        ratio = (constant - least) / power
        return tail * (math.exp(ratio if ratio < 700.0 else 700.0) - 1.0)
    return 2.0 * (constant - least)


_score_of = from_python(score_of)
Kernel = Gaussian | Student
# what the setting `kernel` may be; of several kernels the one with the best bound is kept
KernelName = Literal["student", "gaussian", "auto"]
KERNELS: dict[KernelName, tuple[Kernel, ...]] = {
    "student": (Student(15.0),),
    "gaussian": (Gaussian(),),
    "auto": (Student(15.0), Student(5.0), Student(40.0), Gaussian()),
}


def _log_student_scaled(distance: FloatArray, dof: float, tail: float, p: int) -> FloatArray:
    """Return log of the average of t_{u-p+1}(y | m, S / (tau (u - p + 1))) over tau ~ Gamma(d / 2, d / 2), without |S|.

    (8.4), by Gauss-Hermite about the mode of the integrand in s = log tau.
    """
    half, power = 0.5 * tail, 0.5 * (dof + 1.0)
    place = np.minimum(np.log1p(distance * (1.0 + power / half)), _LAST_UNIT) * _PER_UNIT
    size = int(np.fmax.reduce(place, initial=0.0)) + _POINTS
    lattice = _kept_lattice(dof, tail, p) if size <= _KEPT_POINTS else np.full(size, np.nan)
    result = np.empty(distance.size)
    integrate_tau(place, half + 0.5 * p, half, power, dof - p + 1.0, _NODES, _WEIGHTS, lattice, result)
    # (8.6)  lnG((u+1)/2) - lnG((u+1-p)/2) - p/2 log pi + d/2 log(d/2) - lnG(d/2)
    constant = gammaln(power) - gammaln(power - 0.5 * p) - 0.5 * p * np.log(np.pi)
    return np.asarray(constant + half * np.log(half) - gammaln(half) + result)


@lru_cache(maxsize=256)
def _kept_lattice(dof: float, tail: float, p: int) -> FloatArray:
    """Return the points of a lattice that were computed so far: folds of a check, and classes, ask for the same."""
    return np.full(_KEPT_POINTS, np.nan)


@jit
def integrate_tau(place, rise, half, power, freedom, nodes, weights, lattice, result):  # type: ignore[no-untyped-def]
    """Store the logarithm of the integral over s of exp(rise s - d/2 e^s - (u + 1)/2 log(1 + D e^s)), for each D.

    Those are given by their places, x = log(1 + D (1 + (u + 1) / d)) in steps of the lattice; points of it that lie
    about them are computed and stored. So a row has the same density whatever rows are beside it.
    """
    for i in range(place.size):
        if not place[i] >= 0.0:
            result[i] = math.nan
            continue
        first = int(place[i]) - 2
        first = 0 if first < 0 else first
        for a in range(first, first + _POINTS):
            if math.isnan(lattice[a]):
                distance = math.expm1(a / _PER_UNIT) / (1.0 + power / half)
                lattice[a] = log_integral(distance, rise, half, power, freedom, nodes, weights)
        # (8.13)  sum_a f(a) prod_{b != a} (x - b) / (a - b)
        at = place[i] - first
        below, above, two_above = at * (at - 1.0), (at - 2.0) * (at - 3.0), (at - 4.0) * (at - 5.0)
        outer = above * two_above * ((at - 1.0) * -lattice[first] + 5.0 * at * lattice[first + 1])
        middle = below * two_above * ((at - 3.0) * -lattice[first + 2] + (at - 2.0) * lattice[first + 3])
        last = below * above * (5.0 * (at - 5.0) * -lattice[first + 4] + (at - 4.0) * lattice[first + 5])
        result[i] = (outer + 10.0 * middle + last) / 120.0


@inner
def log_integral(d, rise, half, power, freedom, nodes, weights):  # type: ignore[no-untyped-def]
    """Return the same for one D, about the mode of the integrand."""
    # right where u is large; where it is small, 0 is near
    s = math.log(2.0 * rise / (2.0 * half + freedom * d))
    at_zero = -half - power * math.log1p(d)
    if not rise * s - half * math.exp(s) - power * math.log1p(d * math.exp(s)) > at_zero:
        s = 0.0
    bend = -1.0
    for _ in range(_STEPS):
        tau = math.exp(s)
        share = d * tau / (1.0 + d * tau)
        slope = rise - half * tau - power * share
        bend = -half * tau - power * share * (1.0 - share)  # the integrand is log-concave
        step = slope / bend
        s -= -1.0 if step < -1.0 else 1.0 if step > 1.0 else step
        if -_SMALL_STEP < step < _SMALL_STEP:
            break

    width, largest, total = math.sqrt(-2.0 / bend), -math.inf, 0.0
    for a in range(nodes.size):
        at = s + width * nodes[a]
        # (8.6)  (d + p)/2 s - d/2 e^s - (u + 1)/2 log(1 + D e^s)
        value = rise * at - half * math.exp(at) - power * math.log1p(d * math.exp(at)) + nodes[a] * nodes[a]
        if value > largest:
            total *= math.exp(largest - value)
            largest = value
        total += weights[a] * math.exp(value - largest)
    return largest + math.log(total * width)
