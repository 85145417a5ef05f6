"""The formulas of Normal-inverse-Wisharts, compiled: K of them, one after the other.

Small matrices are all overhead in numpy. Loops run along rows, so that the compiler makes vector instructions of them
without changing the order of any sum.
"""

import math
from collections import namedtuple

import numpy as np

from vbrand.compiling import inner, jit, jit_both_ways, jit_small, numbers, once
from vbrand.model.gamma import digamma, log_gamma

# mean m (K, p), precision l (K,), dof u (K,), scale S (K, p, p); noise D of all rows (p, p)
Wisharts = namedtuple("Wisharts", ["mean", "precision", "dof", "scale", "noise"])
# of S = L L': L, L^-1 (K, p, p) and log|S| (K,)
Roots = namedtuple("Roots", ["factor", "inverse", "log_determinant"])
# as in Statistics
Sums = namedtuple("Sums", ["counts", "weights", "origin", "sums", "squares"])

# the slowest ascent that is believed: where steps shrink even less it is not known how far there is to go
_SLOWEST = 0.95
# numbers that a vector loop takes at a time
_VECTOR = 16
NOT_POSITIVE = "a scale matrix is not positive definite: the rows are too extreme for double precision"


@jit_both_ways
def update(prior, statistics, posterior):  # type: ignore[no-untyped-def]
    """Store the best Normal-inverse-Wisharts for rows with these statistics; point masses stay."""
    drift, distance = numbers(prior.mean.shape[1]), numbers(prior.mean.shape[1])
    for k in range(statistics.counts.size):
        _update_one(prior, k, statistics, k, posterior, k, drift, distance)


@inner
def _update_one(prior, before, statistics, k, posterior, after, drift, distance):  # type: ignore[no-untyped-def]
    """Store the best Normal-inverse-Wishart for the rows of component k, given the prior of one, in place of one."""
    counts, weights, origin, sums, squares = statistics
    p, mean, scale = drift.size, prior.mean[before], prior.scale[before]
    fixed = math.isinf(prior.precision[before])
    length = prior.precision[before] + weights[k]
    pull = 0.0 if fixed else weights[k] / length
    # (5.4)  d = s / R,  ybar - m0 = o + d - m0;  nothing where there are no rows
    for i in range(p):
        drift[i] = sums[k, i] / weights[k] if weights[k] > 0.0 else 0.0
        distance[i] = origin[k, i] - mean[i] + drift[i] if weights[k] > 0.0 else 0.0
    # (5.8)  l = lambda + R,  u = nu + N,  m = (lambda m0 + R ybar) / l
    posterior.precision[after] = length
    posterior.dof[after] = prior.dof[before] if fixed else prior.dof[before] + counts[k]
    for i in range(p):
        posterior.mean[after, i] = mean[i] + pull * distance[i]
    # (5.9)  S = Psi + W + R D + (lambda R / l) (ybar - m0)(ybar - m0)',  W = Q - R d d'
    tension = 0.0 if fixed else prior.precision[before] * pull
    for i in range(p):
        own, first, add = posterior.scale[after, i], scale[i], squares[k, i]
        for j in range(p):
            own[j] = first[j]
        if not fixed:
            a, b, hidden = weights[k] * drift[i], tension * distance[i], prior.noise[i]
            for j in range(p):
                own[j] += add[j] - a * drift[j] + b * distance[j] + weights[k] * hidden[j]


@jit
def factorise(scale, roots):  # type: ignore[no-untyped-def]
    """Store L and L^-1 of S = L L', and log|S|; return whether all S are positive definite."""
    p = scale.shape[1]
    room = numbers(p)
    for k in range(scale.shape[0]):
        lower, mirrored = roots.factor[k], roots.inverse[k]
        roots.log_determinant[k] = _decompose(scale[k], mirrored, room)
        if math.isnan(roots.log_determinant[k]):
            return False
        for i in range(p):
            for j in range(p):
                lower[i, j] = mirrored[j, p - 1 - i] if j <= i else 0.0
        _invert(lower, mirrored, room)
    return True


@inner
def whole(size, most):  # type: ignore[no-untyped-def]
    """Return how far a loop over so many of `most` numbers should go: what is left over of vectors is slow."""
    filled = (size + _VECTOR - 1) & -_VECTOR
    return filled if filled <= most else size


@inner
def _decompose(scale, mirrored, row):  # type: ignore[no-untyped-def]
    """Store U, S = U'U, from right to left, and return log|S|; NaN where S is not positive definite.

    Beyond the diagonal there is anything. `row` is room for one.
    """
    p, total = scale.shape[0], 0.0
    for j in range(p):
        # what the rows above explain is taken from a row, four of them at a time
        diagonal, size, fours = p - 1 - j, whole(p - j, p), j // 4 * 4
        for c in range(size):
            row[c] = scale[j, p - 1 - c]
        for t in range(0, fours, 4):
            a, b, e, f = mirrored[t], mirrored[t + 1], mirrored[t + 2], mirrored[t + 3]
            one, two, three, four = a[diagonal], b[diagonal], e[diagonal], f[diagonal]
            for c in range(size):
                row[c] = row[c] - one * a[c] - two * b[c] - three * e[c] - four * f[c]
        for t in range(fours, j):
            above, share = mirrored[t], mirrored[t, diagonal]
            for c in range(size):
                row[c] -= share * above[c]

        if not row[diagonal] > 0.0:
            return math.nan
        root, own = math.sqrt(row[diagonal]), mirrored[j]
        total += math.log(root)
        for c in range(size):
            own[c] = row[c] / root
    return 2.0 * total


@inner
def _invert(lower, inverse, row):  # type: ignore[no-untyped-def]
    """Store L^-1, row after row: L_ii x_i = e_i - sum_{j<i} L_ij x_j; `row` is room for one."""
    p = lower.shape[0]
    for i in range(p):
        for c in range(p):
            row[c] = 0.0
        fours = i // 4 * 4
        for j in range(0, fours, 4):  # four rows above at a time: to the right of their diagonals they are zero
            a, b, e, f = inverse[j], inverse[j + 1], inverse[j + 2], inverse[j + 3]
            one, two, three, four = lower[i, j], lower[i, j + 1], lower[i, j + 2], lower[i, j + 3]
            for c in range(whole(j + 4, p)):
                row[c] = row[c] - one * a[c] - two * b[c] - three * e[c] - four * f[c]
        for j in range(fours, i):
            above, share = inverse[j], lower[i, j]
            for c in range(whole(j + 1, p)):
                row[c] -= share * above[c]

        row[i] = 1.0
        own, filled = inverse[i], whole(i + 1, p)
        for c in range(filled):
            own[c] = row[c] / lower[i, i]
        for c in range(filled, p):
            own[c] = 0.0


@inner
def log_precisions(precision, dof, log_determinant, p, result):  # type: ignore[no-untyped-def]
    """Store E log|Sigma^-1| of each component."""
    for k in range(dof.size):
        # (5.11) p log 2 - log|S| + sum_{i=1..p} psi((u + 1 - i) / 2);  -log|Psi| for a point mass
        result[k] = -log_determinant[k]
        if not math.isinf(precision[k]):
            result[k] += p * math.log(2.0)
            for i in range(p):
                result[k] += digamma(0.5 * (dof[k] - i))


@inner
def log_normaliser(dof, log_determinant, p):  # type: ignore[no-untyped-def]
    """Return log B of a Wishart whose inverse scale matrix has this log determinant."""
    # (6.8)  log B(S, u) = u/2 log|S| - u p / 2 log 2 - log G_p(u / 2)
    total = 0.5 * dof * (log_determinant - p * math.log(2.0)) - 0.25 * p * (p - 1) * math.log(math.pi)
    for i in range(p):
        total -= log_gamma(0.5 * (dof - i))
    return total


@once
def hidden_distance(noise, inverse):  # type: ignore[no-untyped-def]
    """Return tr(S^-1 D), given L^-1 of S = L L'."""
    p, total = noise.shape[0], 0.0
    for i in range(p):
        for a in range(i + 1):
            if noise[a, a] > 0.0:  # else its row is zero
                for b in range(i + 1):
                    total += inverse[i, a] * inverse[i, b] * noise[a, b]
    return total


@inner
def diverge(posterior, roots, prior, prior_roots, result):  # type: ignore[no-untyped-def]
    """Store KL(posterior || prior) of each component; 0 for point masses."""
    p = posterior.mean.shape[1]
    moved, product, expected = numbers(p), numbers(p), numbers(result.size)
    log_precisions(posterior.precision, posterior.dof, roots.log_determinant, p, expected)
    for k in range(result.size):
        result[k] = 0.0
        if math.isinf(prior.precision[k]):
            continue
        free, length = prior.precision[k], posterior.precision[k]
        u, nu = posterior.dof[k], prior.dof[k]
        # D = (m - m0)' S^-1 (m - m0) = |L^-1 (m - m0)|^2,  tr(Psi S^-1) = |L^-1 L0|^2 where Psi = L0 L0'
        distance, trace = 0.0, 0.0
        for i in range(p):
            moved[i] = posterior.mean[k, i] - prior.mean[k, i]
            for c in range(p):
                product[c] = 0.0
            step, own, fours = 0.0, roots.inverse[k, i], (i + 1) // 4 * 4
            for j in range(i + 1):
                step += own[j] * moved[j]
            for j in range(0, fours, 4):  # four rows at a time: to the right of their diagonals they are zero
                a, b = prior_roots.factor[k, j], prior_roots.factor[k, j + 1]
                e, f = prior_roots.factor[k, j + 2], prior_roots.factor[k, j + 3]
                one, two, three, four = own[j], own[j + 1], own[j + 2], own[j + 3]
                for c in range(whole(j + 4, p)):
                    product[c] = product[c] + one * a[c] + two * b[c] + three * e[c] + four * f[c]
            for j in range(fours, i + 1):
                above, share = prior_roots.factor[k, j], own[j]
                for c in range(whole(j + 1, p)):
                    product[c] += share * above[c]
            distance += step * step
            for c in range(i + 1):
                trace += product[c] * product[c]
        # (6.7)  1/2 [p log(l / lambda) - p + p lambda / l + lambda u D]
        #        + log B(S, u) - log B(Psi, nu) + (u - nu)/2 E log|Sigma^-1| - u p / 2 + u/2 tr(Psi S^-1)
        result[k] = 0.5 * (p * math.log(length / free) - p + p * free / length + free * u * distance)
        result[k] += log_normaliser(u, roots.log_determinant[k], p)
        result[k] -= log_normaliser(nu, prior_roots.log_determinant[k], p)
        result[k] += 0.5 * (u - nu) * expected[k] + 0.5 * u * (trace - p)


@inner
def explain(prior, prior_roots, of, statistics, posterior, result):  # type: ignore[no-untyped-def]
    """Store what each component adds to the bound at its optimum, for rows with these statistics.

    `of` says which component of the prior each one has; `posterior` is room for one, and for the roots of its scale.
    """
    p = prior.mean.shape[1]
    drift, distance = numbers(p), numbers(p)
    for k in range(of.size):
        j, rows = of[k], statistics.counts[k]
        if math.isinf(prior.precision[j]):
            # (7.2)  -1/2 [N (p log 2 pi + log|Psi|) + tr(Psi^-1 (Q + R D))],  Q about m0
            constant = p * math.log(2.0 * math.pi) + prior_roots.log_determinant[j]
            result[k] = -0.5 * (rows * constant + _distance(prior, prior_roots, j, statistics, k, drift))
            continue
        nought = k - k  # no literal: for one it would be compiled again
        _update_one(prior, j, statistics, k, posterior, nought, drift, distance)
        log_determinant = _decompose(posterior.scale[0], posterior.scale[1], drift)
        if math.isnan(log_determinant):
            raise np.linalg.LinAlgError(NOT_POSITIVE)
        # (7.1)  -N p / 2 log 2 pi + log B(Psi, nu) - log B(S, u) + p/2 log(lambda / l)
        result[k] = -0.5 * p * math.log(2.0 * math.pi) * rows
        result[k] += log_normaliser(prior.dof[j], prior_roots.log_determinant[j], p)
        result[k] -= log_normaliser(posterior.dof[0], log_determinant, p)
        result[k] += 0.5 * p * math.log(prior.precision[j] / posterior.precision[0])


@inner
def _distance(prior, prior_roots, before, statistics, k, moved):  # type: ignore[no-untyped-def]
    """Return tr(Psi^-1 (Q + R D)), Q about a mean: the squared distances of the rows of component k, summed.

    `moved` is room for numbers.
    """
    mean, inverse = prior.mean[before], prior_roots.inverse[before]
    p, total = mean.size, 0.0
    squares, sums, weight = statistics.squares[k], statistics.sums[k], statistics.weights[k]
    for i in range(p):
        moved[i] = statistics.origin[k, i] - mean[i]
    for i in range(p):
        for a in range(i + 1):
            for b in range(i + 1):
                # (5.5)  Q + s h' + h s' + R h h'
                about = squares[a, b] + sums[a] * moved[b] + moved[a] * sums[b] + weight * moved[a] * moved[b]
                total += inverse[i, a] * inverse[i, b] * (about + weight * prior.noise[a, b])
    return total


@jit_small
def extrapolate(statistics, before, step):  # type: ignore[no-untyped-def]
    """Go on by so many times the way from earlier statistics to these; no component loses half of its rows."""
    counts, weights, origin, sums, squares = statistics
    for k in range(counts.size):
        if step * (before.counts[k] - counts[k]) > 0.5 * counts[k]:
            step = 0.5 * counts[k] / (before.counts[k] - counts[k])
        if step * (before.weights[k] - weights[k]) > 0.5 * weights[k]:
            step = 0.5 * weights[k] / (before.weights[k] - weights[k])

    p = origin.shape[1]
    moved, shifted = numbers(p), numbers(p)
    for k in range(counts.size):
        rows = before.weights[k]
        # (5.5)  about another origin, h = o - o_new:  s + R h,  Q + s h' + h s' + R h h'
        for i in range(p):
            moved[i] = before.origin[k, i] - origin[k, i]
            shifted[i] = before.sums[k, i] + rows * moved[i]
        # (5.20) x + step (x - x_before), of all statistics x
        for i in range(p):
            own, then, a, b = squares[k, i], before.squares[k, i], before.sums[k, i], moved[i]
            for j in range(p):
                own[j] += step * (own[j] - (then[j] + a * moved[j] + b * shifted[j]))
            sums[k, i] += step * (sums[k, i] - shifted[i])
        counts[k] += step * (counts[k] - before.counts[k])
        weights[k] += step * (weights[k] - rows)


@once
def way_to_go(gain, gain_before):  # type: ignore[no-untyped-def]
    """Return how far an ascent has still to go, in units of its last step, by its last two gains."""
    # (5.20) r / (1 - r), r = sqrt(gain / gain before): steps shrink by r, and gains, which are quadratic, by r^2
    if not 0.0 < gain < gain_before:
        return 0.0
    rate = math.sqrt(gain / gain_before)
    return rate / (1.0 - rate) if rate < _SLOWEST else _SLOWEST / (1.0 - _SLOWEST)
