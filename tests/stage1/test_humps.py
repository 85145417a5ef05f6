"""Classes as humps: what outermost values say, and that two humps are told from one."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_ndtr

from vbrand.stage1 import humps
from vbrand.stage1.tuning import TUNED


def known_of(values):
    member = np.zeros(values.size, dtype=int)
    return humps.sorted_values(values[:, None], np.zeros(1), member, TUNED)


def test_the_evidence_of_a_hump_is_that_of_values_of_which_the_outermost_are_only_beyond():
    values = np.sort(np.random.default_rng(3).normal(2.0, 0.5, 400))
    known = known_of(values)
    found = humps.one_hump(known, humps.straight(known))[0, 0]
    cut = int(known.weight[0, 0])
    kept = known.values[1:-1, 0][known.weight[1:-1, 0] > 0.0]
    best = max(
        stats.norm.logpdf(kept, m, s).sum()
        + cut * (stats.norm.logcdf(kept[0], m, s) + stats.norm.logsf(kept[-1], m, s))
        for m in np.linspace(1.9, 2.1, 21)
        for s in np.linspace(0.4, 0.6, 41)
    )
    assert found == pytest.approx(best - np.log(known.count[0, 0]), abs=0.05)


def two_humps_by_rows(known, cut, turns):
    """Return the log likelihood of two humps of one class by plain EM, a loop over humps and rows, without sums."""
    x, weight = known.values[:, 0], known.weight[:, 0]
    shares = np.where(known.place[:, 0] > cut, 0.98, 0.02)
    middle = np.average(x, weights=weight)
    spread = np.average((x - middle) ** 2, weights=weight) + 1e-12
    for _ in range(turns):
        scores = []
        for own in (shares, 1.0 - shares):
            mass = (own * weight).sum()
            centre, variance = (own * weight * x).sum() / mass, spread
            for _ in range(2):
                normal = stats.norm(centre, np.sqrt(variance))
                value, square = x.copy(), (x - centre) ** 2
                for at, log_tail, side in ((0, normal.logcdf(x[0]), -1.0), (-1, normal.logsf(x[-1]), 1.0)):
                    lift = side * variance * np.exp(normal.logpdf(x[at]) - log_tail)
                    value[at], square[at] = centre + lift, variance + lift * (x[at] - centre)
                moved = (own * weight * value).sum() / mass
                total = (own * weight * square).sum() - mass * (moved - centre) ** 2
                centre, variance = moved, (total + spread) / (mass + 1.0)
            score = stats.norm.logpdf(x, centre, np.sqrt(variance))
            size = np.sqrt(variance)
            score[0], score[-1] = log_ndtr((x[0] - centre) / size), log_ndtr((centre - x[-1]) / size)
            scores.append(score + np.log(mass / weight.sum()))
        both = np.logaddexp(*scores)
        shares = np.clip(np.exp(scores[0] - both), 1e-12, 1.0 - 1e-12)
    return (weight * both).sum()


def test_the_evidence_of_two_humps_is_that_of_em_over_rows():
    rng = np.random.default_rng(5)
    known = known_of(np.concatenate([rng.normal(0.0, 1.0, 120), rng.normal(6.0, 0.5, 60)]))
    best = max(two_humps_by_rows(known, cut, 12) for cut in (0.15, 0.5, 0.85)) - 2.5 * np.log(known.count[0, 0])
    found = humps.humps(known, humps.straight(known))[0, 0]
    assert found == pytest.approx(best, abs=1e-6)
    assert found > humps.one_hump(known, humps.straight(known))[0, 0] + 10.0
