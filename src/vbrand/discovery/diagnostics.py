"""Diagnostics of Markov chains: whether they agree, and how many independent draws they are worth.

Both are those of Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021, Bayesian Analysis 16): chains are split in
halves, so that a drift shows as a disagreement, and draws are replaced by normal scores of their ranks, so that heavy
tails do no harm.

>>> import numpy as np
>>> noise = np.random.default_rng(0).normal(size=(4, 1_000))
>>> round(split_rhat(noise), 2), round(split_rhat(noise + [[0], [0], [0], [9]]), 2)
(1.0, 1.53)
>>> effective_size(np.repeat(noise, 5, axis=1)) < 4_800  # 20,000 draws: 4,000, each repeated five times
True
"""

import numpy as np
from scipy import fft, special, stats

from vbrand.types import FloatArray

_MIN_DRAWS = 4  # with fewer a half has no variance


def split_rhat(draws: FloatArray) -> float:
    """Return the split R-hat of (chains, draws): the larger of those of location and of spread.

    1 means that the chains agree; above 1.01 they should run longer. It is infinite where they stand still at different
    values, and nan with fewer than 4 draws per chain.
    """
    halves = _halves(draws)
    if halves is None:
        return np.nan
    if np.ptp(halves) == 0.0:
        return 1.0
    folded = np.abs(halves - np.median(halves))
    location = _rhat(_normal_scores(halves))
    # two values in equal shares lie equally far from the median: no spread to disagree about
    return max(location, _rhat(_normal_scores(folded))) if np.ptp(folded) else location


def effective_size(draws: FloatArray) -> float:
    """Return how many independent draws tell as much of the location (bulk) as these of shape (chains, draws).

    If all draws are the same, each of them counts; with fewer than 4 draws per chain the answer is nan.
    """
    halves = _halves(draws)
    if halves is None:
        return np.nan
    if np.ptp(halves) == 0.0:
        return float(np.size(draws))
    scores = _normal_scores(halves)
    return scores.size / _autocorrelation_time(scores)


def _halves(draws: FloatArray) -> FloatArray | None:
    """Return the halves of chains as chains, without the middle draw of an odd number; None if draws are too few."""
    draws = np.asarray(draws, dtype=np.float64)
    if draws.ndim != 2 or not draws.shape[0]:
        raise ValueError(f"draws has shape {draws.shape}; expected (chains, draws). Pass one chain as draws[None, :].")
    if not np.isfinite(draws).all():
        raise ValueError(
            "draws contains nan or infinity; expected finite numbers. Look for what went wrong in the chain."
        )
    if draws.shape[1] < _MIN_DRAWS:
        return None
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(chains: FloatArray) -> FloatArray:
    """Return the normal scores of average ranks over all chains."""
    rank = stats.rankdata(chains, method="average").reshape(chains.shape)
    # z = Phi^-1((rank - 3/8) / (S + 1/4))
    return np.asarray(special.ndtri((rank - 0.375) / (chains.size + 0.25)))


def _rhat(chains: FloatArray) -> float:
    """Return R-hat: the root of the variance of all draws, which is not 0, over that within chains."""
    if not np.ptp(chains, axis=1).any():
        return np.inf
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()  # W
    between = chains.mean(axis=1).var(ddof=1)  # B / n
    # R^2 = ((n - 1) / n W + B / n) / W
    return float(np.sqrt((n - 1.0) / n + between / within))


def _autocorrelation_time(chains: FloatArray) -> float:
    """Return tau, the number of draws that one independent draw is worth."""
    m, n = chains.shape
    centred = chains - chains.mean(axis=1, keepdims=True)
    # autocovariances by Wiener and Khinchin; the padding keeps a chain's end from meeting its beginning
    length = fft.next_fast_len(2 * n, real=True)
    power = np.abs(fft.rfft(centred, length, axis=1)) ** 2
    covariance = fft.irfft(power, length, axis=1)[:, :n].mean(axis=0) / n  # (n,) by lag
    within = covariance[0] * n / (n - 1.0)  # W
    total = covariance[0] + chains.mean(axis=1).var(ddof=1)  # (n - 1) / n W + B / n
    # rho_t = 1 - (W - c_t) / total
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    # antithetic chains may be worth more than their length, but not without a limit
    return max(_geyer_sum(rho), 1.0 / float(np.log10(m * n)))


def _geyer_sum(rho: FloatArray) -> float:
    """Return 1 + 2 sum rho_t, t > 0, over Geyer's (1992) initial positive and monotone sequence of pairs of lags."""
    usable = max((rho.size - 1) // 2, 1)  # the last lags rest on too few products
    pairs = rho[: 2 * usable].reshape(usable, 2).sum(axis=1)
    end = int(np.argmax(np.append(pairs[:-1] <= 0.0, True)))
    # the first lag of the pair that ends the sequence is half of what is cut off
    return float(2.0 * np.minimum.accumulate(pairs[:end]).sum() - 1.0 + max(rho[2 * end], 0.0))
