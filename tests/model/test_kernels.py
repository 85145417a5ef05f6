"""Kernels: scores, densities and edges agree with integrals over tau that share no code with them.

A kernel enters here by `points_of`: what p(tau) is. All facts below then hold of it, or its tests fail.
"""

from typing import get_args

import numpy as np
import pytest
from problems import EVERY_KERNEL
from scipy import integrate, stats
from scipy.special import gammaln, logsumexp

from vbrand.inference.kernel import sweep
from vbrand.inference.rows import Rows
from vbrand.model.components import Components, expected_log_precision
from vbrand.model.kernels import KERNELS, Gaussian, Kernel, KernelName, Student
from vbrand.model.posterior import Posterior, scores_of
from vbrand.model.weights import prior_weights


def points_of(kernel):
    """Return values of tau and the logarithms of their weights: sums over them are averages over p(tau)."""
    if isinstance(kernel, Gaussian):
        return np.ones(1), np.zeros(1)
    assert isinstance(kernel, Student)
    log_tau = np.linspace(-50.0, 5.0, 11_001)
    density = stats.gamma(kernel.dof / 2, scale=2 / kernel.dof).logpdf(np.exp(log_tau))
    return np.exp(log_tau), density + log_tau + np.log(log_tau[1] - log_tau[0])


def volume(log_density, p, farthest=np.inf):
    """Return the integral of a density of the squared distance over a ball."""
    sphere = np.exp(np.log(2.0) + 0.5 * p * np.log(np.pi) - gammaln(0.5 * p))

    def shell(r):
        return sphere * r ** (p - 1) * np.exp(log_density(np.array([r * r]))[0])

    middle = min(10.0, farthest)
    near, far = integrate.quad(shell, 0.0, middle)[0], integrate.quad(shell, middle, farthest, limit=200)[0]
    return near + far


@pytest.mark.parametrize("p", [1, 3, 20])
@pytest.mark.parametrize("precision", [0.5, 30.0, np.inf])
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=str)
def test_score_and_weight_of_a_row_are_integrals_over_tau(kernel, precision, p):
    """log int p(tau) tau^(p/2) exp(-tau delta / 2) dtau, and the mean of tau under it: by the sweep, row by row."""
    rng = np.random.default_rng(p)
    root = np.tril(0.3 * rng.normal(size=(p, p))) + np.eye(p)
    component = Components(
        rng.normal(size=(1, p)), np.array([precision]), np.array([p + 4.0]), (root @ root.T)[None], (kernel,)
    )
    scores = scores_of(Posterior(component, prior_weights(np.ones(1), 1.0, 1)))
    spread = 1.0 if np.isinf(precision) else p + 4.0
    tau, log_weight = points_of(kernel)
    for far in (0.0, 0.3, 2.0, 30.0, 1e4):
        step = rng.normal(size=p)
        row = component.mean[0] + far * step / np.linalg.norm(step)
        swept = sweep(Rows.plain(row[None]), scores).statistics
        delta = spread * (row - component.mean[0]) @ np.linalg.solve(component.scale[0], row - component.mean[0])
        terms = log_weight + 0.5 * p * np.log(tau) - 0.5 * tau * (delta + p / precision)
        shared = 0.5 * (-p * np.log(2.0 * np.pi) + expected_log_precision(component)[0])
        assert swept.evidence == pytest.approx(shared + logsumexp(terms), rel=1e-7, abs=1e-7)
        assert swept.counts[0] == 1.0
        assert swept.weights[0] == pytest.approx(np.exp(logsumexp(terms, b=tau) - logsumexp(terms)), rel=1e-6)


@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=str)
def test_densities_integrate_to_one(kernel, p):
    assert volume(lambda distance: kernel.log_density(distance, p), p) == pytest.approx(1.0, abs=1e-6)
    for stretch, dof in ((1.0, p + 6.0), (3.0, p + 60.0)):
        predicted = volume(lambda distance, s=stretch, u=dof: kernel.log_predictive(distance, s, u, p), p)
        assert predicted == pytest.approx(1.0, abs=1e-3)  # the integral over tau has eleven points


@pytest.mark.parametrize("p", [1, 4, 30])
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=str)
def test_densities_are_averages_over_tau(kernel, p):
    tau, log_weight = points_of(kernel)
    stretch, dof = 1.7, p + 12.0
    for distance in (0.0, 0.1, 1.0, 10.0, 1e3):
        at = np.sqrt(distance) * np.eye(p)[0]
        # N(y | 0, I / tau), and t_{u-p+1}(y | 0, I stretch / (tau (u - p + 1))): a change of units by sqrt(tau)
        normal = 0.5 * p * np.log(tau) - 0.5 * (p * np.log(2 * np.pi) + tau * distance)
        student = stats.multivariate_t(np.zeros(p), np.eye(p) * stretch / (dof - p + 1.0), df=dof - p + 1.0)
        doubted = 0.5 * p * np.log(tau) + student.logpdf(np.sqrt(tau)[:, None] * at)
        squared = np.array([distance])
        assert kernel.log_density(squared, p)[0] == pytest.approx(logsumexp(log_weight + normal), abs=1e-7)
        found = kernel.log_predictive(squared, stretch, dof, p)[0]
        assert found == pytest.approx(logsumexp(log_weight + doubted), abs=1e-3)


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=str)
def test_a_component_without_doubt_predicts_its_density(kernel):
    p, dof = 3, 1e7
    distance = np.array([0.0, 1.0, 20.0, 200.0])
    # S = u Sigma, so that |S| is u^p |Sigma|
    predicted = kernel.log_predictive(distance / dof, 1.0, dof, p) - 0.5 * p * np.log(dof)
    np.testing.assert_allclose(predicted, kernel.log_density(distance, p), atol=2e-3)


@pytest.mark.parametrize("p", [1, 2, 7])
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=str)
def test_a_share_of_the_rows_lies_within_the_edge(kernel, p):
    rng = np.random.default_rng(p)
    rows = rng.normal(size=(40_000, p)) / np.sqrt(kernel.draw_scales(40_000, rng))[:, None]
    for share in (0.5, 0.9, 0.99):
        edge = kernel.edge(share, p)
        assert volume(lambda distance: kernel.log_density(distance, p), p, np.sqrt(edge)) == pytest.approx(share)
        within = (np.square(rows).sum(axis=1) <= edge).mean()
        assert within == pytest.approx(share, abs=5.0 * np.sqrt(share * (1.0 - share) / 40_000))


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=str)
def test_draws_of_tau_follow_its_distribution(kernel):
    drawn = kernel.draw_scales(20_000, np.random.default_rng(0))
    tau, log_weight = points_of(kernel)
    for edge in (0.3, 0.7, 1.5):
        expected = np.exp(log_weight)[tau < edge].sum()
        assert (drawn < edge).mean() == pytest.approx(expected, abs=0.02)


def test_a_student_with_many_degrees_of_freedom_is_gaussian():
    distance = np.array([0.0, 1.0, 30.0])
    many, none = Student(1e7), Gaussian()
    np.testing.assert_allclose(many.log_density(distance, 3), none.log_density(distance, 3), atol=1e-4)
    np.testing.assert_allclose(
        many.log_predictive(distance, 1.5, 20.0, 3), none.log_predictive(distance, 1.5, 20.0, 3), atol=1e-4
    )
    assert many.edge(0.9, 3) == pytest.approx(none.edge(0.9, 3), rel=1e-5)


def test_kernels_have_codes_and_names_of_their_own_and_the_setting_knows_them():
    kinds = get_args(Kernel)
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert {type(kernel) for kernel in EVERY_KERNEL} == set(kinds)
    assert len({kernel.name for kernel in EVERY_KERNEL}) == len(kinds)
    assert tuple(KERNELS) == get_args(KernelName)
    assert len(set(KERNELS["auto"])) == len(KERNELS["auto"])


@pytest.mark.parametrize("dof", [0.0, -3.0, np.inf, np.nan])
def test_a_student_needs_a_positive_number(dof):
    with pytest.raises(ValueError, match="degrees of freedom; a positive number is expected"):
        Student(dof)


def test_kernels_say_what_they_are():
    assert Gaussian().sentence == "Gaussian."
    assert Student(15.0).sentence == "Student t, 15 degrees of freedom."
