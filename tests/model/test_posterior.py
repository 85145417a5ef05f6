"""The bound equals E log p - E log q, term by term, by a slow implementation that shares no code with it."""

import numpy as np
import pytest
from problems import random_problem, score_rows
from scipy import stats
from scipy.special import digamma, gammaln

from vbrand.inference.kernel import sweep
from vbrand.inference.rows import Rows
from vbrand.model.kernels import Gaussian, Student
from vbrand.model.posterior import before_rows, bound_of, scores_of


def scaled_row(quadratic, kernel, p):
    """Return E[p/2 log tau - tau/2 quadratic + log p(tau) - log q(tau)] at the best q(tau), by quadrature."""
    if kernel == Gaussian():
        return -0.5 * quadratic
    tail = kernel.dof
    q, prior = stats.gamma((tail + p) / 2, scale=2 / (tail + quadratic)), stats.gamma(tail / 2, scale=2 / tail)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    low, high = q.ppf(1e-15), q.isf(1e-15)
    tau = 0.5 * (high - low) * (nodes + 1) + low
    value = 0.5 * p * np.log(tau) - 0.5 * tau * quadratic + prior.logpdf(tau) - q.logpdf(tau)
    return 0.5 * (high - low) * np.sum(weights * q.pdf(tau) * value)


def slow_bound(rows, prior, posterior):
    """Return E log p(rows, labels, parameters) - E log q(labels, parameters), loops and scipy only."""
    known, novel, (n, p) = prior.known, prior.novel, rows.shape
    q, p0 = posterior.components, prior.components
    eta, alpha = posterior.weights.dirichlet, prior.weights.dirichlet
    a, b, gamma = posterior.weights.broken, posterior.weights.passed, prior.weights.passed

    def log_pi(i):
        return digamma(eta[i]) - digamma(eta.sum())

    def log_weight(k):
        if k < known:
            return log_pi(k)
        t = k - known
        value = log_pi(known)
        if t < novel - 1:
            value += digamma(a[t]) - digamma(a[t] + b[t])
        return value + sum(digamma(b[s]) - digamma(a[s] + b[s]) for s in range(t))

    def log_det_precision(k):
        value = p * np.log(2) - np.linalg.slogdet(q.scale[k])[1]
        return value + sum(digamma((q.dof[k] + 1 - i) / 2) for i in range(1, p + 1))

    log_rho = np.empty((n, known + novel))
    for m in range(n):
        for k in range(known + novel):
            d = rows[m] - q.mean[k]
            quadratic = q.dof[k] * d @ np.linalg.solve(q.scale[k], d) + p / q.precision[k]
            log_rho[m, k] = log_weight(k) + 0.5 * (-p * np.log(2 * np.pi) + log_det_precision(k))
            log_rho[m, k] += scaled_row(quadratic, q.kernels[k], p)
    phi = np.exp(log_rho - log_rho.max(axis=1, keepdims=True))
    phi /= phi.sum(axis=1, keepdims=True)
    total = np.sum(phi * log_rho) - np.sum(phi[phi > 0] * np.log(phi[phi > 0]))  # E log p(y, xi) - E log q(xi)
    # Dirichlet: E log p(pi) - E log q(pi)
    total += gammaln(alpha.sum()) - gammaln(alpha).sum() + sum((alpha[i] - 1) * log_pi(i) for i in range(known + 1))
    total += stats.dirichlet(eta).entropy() if known else 0.0
    if not known:  # a Dirichlet over one part is a certainty
        total -= gammaln(alpha.sum()) - gammaln(alpha).sum()
    for t in range(novel - 1):
        total += np.log(gamma[t]) + (gamma[t] - 1) * (digamma(b[t]) - digamma(a[t] + b[t]))
        total += stats.beta(a[t], b[t]).entropy()
    for k in range(known + novel):
        psi, nu, lam, m0 = p0.scale[k], p0.dof[k], p0.precision[k], p0.mean[k]
        s, u, length, m = q.scale[k], q.dof[k], q.precision[k], q.mean[k]
        log_prec, d = log_det_precision(k), m - m0
        # E log p(mu | Sigma) + entropy of q(mu | Sigma)
        total += 0.5 * (p * np.log(lam / (2 * np.pi)) + log_prec - lam * (u * d @ np.linalg.solve(s, d) + p / length))
        total += 0.5 * (p * np.log(2 * np.pi / length) + p - log_prec)
        # E log p(Sigma) - E log q(Sigma), both inverse Wishart
        for scale, dof, sign in ((psi, nu, 1.0), (s, u, -1.0)):
            log_gamma = p * (p - 1) / 4 * np.log(np.pi) + sum(gammaln((dof + 1 - i) / 2) for i in range(1, p + 1))
            constant = 0.5 * dof * np.linalg.slogdet(scale)[1] - 0.5 * dof * p * np.log(2) - log_gamma
            trace = u * np.trace(scale @ np.linalg.inv(s))
            total += sign * (constant + 0.5 * (dof + p + 1) * log_prec - 0.5 * trace)
    return total


@pytest.mark.parametrize(("known", "novel", "p"), [(2, 3, 3), (0, 4, 2), (1, 1, 1), (3, 2, 5)])
@pytest.mark.parametrize("kernel", [Gaussian(), Student(4.0), Student(30.0)])
def test_bound_equals_the_slow_one(known, novel, p, kernel):
    for seed in range(3 if kernel == Gaussian() else 1):
        rows, prior, posterior = random_problem(seed, n=20, known=known, novel=novel, p=p, kernel=kernel)
        bound = bound_of(prior, posterior, sweep(Rows.plain(rows), scores_of(posterior)).statistics.evidence)
        assert bound.total == pytest.approx(slow_bound(rows, prior, posterior), rel=1e-9)


def test_bound_lies_below_the_evidence():
    # one novel component, no known ones: the evidence is a product of Student densities, and the bound is exact
    rows, prior, _ = random_problem(0, n=15, known=0, novel=1, p=2)
    from vbrand.inference.cavi import ascend

    found = ascend(Rows.plain(rows), prior, before_rows(prior), max_iter=50)
    log_evidence, c = 0.0, prior.components
    mean, precision, dof, scale = c.mean[0], c.precision[0], c.dof[0], c.scale[0]
    for row in rows:
        shape = scale * (precision + 1) / (precision * (dof - 1))
        log_evidence += stats.multivariate_t(mean, shape, df=dof - 1).logpdf(row)
        scale = scale + precision / (precision + 1) * np.outer(row - mean, row - mean)
        mean = (precision * mean + row) / (precision + 1)
        precision, dof = precision + 1, dof + 1
    assert found.bound.total == pytest.approx(log_evidence, rel=1e-9)


def test_scores_are_expected_log_densities():
    rows, _, posterior = random_problem(3, n=4, p=2)
    rng = np.random.default_rng(0)
    scores = score_rows(Rows.plain(rows), scores_of(posterior))
    c, k = posterior.components, 1
    sigma = stats.invwishart(c.dof[k], c.scale[k]).rvs(100_000, random_state=rng)
    mu = c.mean[k] + np.einsum("nij,nj->ni", np.linalg.cholesky(sigma / c.precision[k]), rng.normal(size=(100_000, 2)))
    for row, score in zip(rows, scores[:, k], strict=True):
        d = row - mu
        values = -0.5 * (
            2 * np.log(2 * np.pi) + np.linalg.slogdet(sigma)[1] + np.einsum("ni,nij,nj->n", d, np.linalg.inv(sigma), d)
        )
        weight = digamma(posterior.weights.dirichlet[k]) - digamma(posterior.weights.dirichlet.sum())
        assert abs(values.mean() + weight - score) < 5 * values.std() / np.sqrt(values.size)
