"""R-hat and effective sample size of Markov chains."""

import warnings

import numpy as np
import pytest
from scipy.signal import lfilter

from vbrand.discovery.diagnostics import effective_size, split_rhat

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # arviz announces its own refactoring when imported
    arviz = pytest.importorskip("arviz", reason="the comparison needs arviz: pip install 'vbrand[arviz]'")


def chains(kind: str, shape: tuple[int, int]) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    noise = rng.normal(size=shape)
    return {
        "white noise": noise,
        "heavy tails": rng.standard_cauchy(size=shape),
        "autoregressive": lfilter([1.0], [1.0, -0.9], noise, axis=1),
        "antithetic": lfilter([1.0], [1.0, 0.6], noise, axis=1),
        "integers": rng.poisson(2.0, size=shape),
        "binary": rng.integers(0, 2, size=shape),
        "disagreeing in location": noise + 3.0 * np.arange(shape[0])[:, None],
        "disagreeing in spread": noise * 3.0 ** np.arange(shape[0])[:, None],
        "drifting": noise + np.linspace(0.0, 3.0, shape[1]),
    }[kind]


KINDS = ["white noise", "heavy tails", "autoregressive", "antithetic", "integers", "binary"]
KINDS += ["disagreeing in location", "disagreeing in spread", "drifting"]


@pytest.mark.parametrize("shape", [(4, 1_000), (2, 501), (3, 40), (2, 9)])
@pytest.mark.parametrize("kind", KINDS)
def test_both_agree_with_arviz(kind, shape):
    draws = chains(kind, shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # arviz divides by zero where folded draws are constant
        rhat, size = float(arviz.rhat(draws, method="rank")), float(arviz.ess(draws, method="bulk"))
    assert split_rhat(draws) == pytest.approx(rhat, rel=1e-6)
    assert effective_size(draws) == pytest.approx(size, rel=1e-6)


def test_one_chain_agrees_with_arviz_on_the_effective_size():
    draws = chains("autoregressive", (1, 300))
    assert effective_size(draws) == pytest.approx(float(arviz.ess(draws, method="bulk")), rel=1e-6)


def test_one_chain_that_drifts_has_a_large_rhat():
    assert split_rhat(chains("drifting", (1, 1_000))) > 1.2
    assert split_rhat(chains("white noise", (1, 1_000))) < 1.01


def test_white_noise_is_worth_its_length():
    assert effective_size(chains("white noise", (4, 5_000))) == pytest.approx(20_000, rel=0.1)


def test_monotone_transformations_change_no_effective_size():
    draws = chains("autoregressive", (4, 200))
    assert effective_size(np.exp(draws)) == pytest.approx(effective_size(draws), rel=1e-12)


def test_equal_constants_agree_and_count_each():
    draws = np.full((3, 10), 0.1)
    assert split_rhat(draws) == 1.0
    assert effective_size(draws) == 30.0


def test_different_constants_never_agree():
    draws = np.repeat([[0.1], [0.2], [0.2]], 11, axis=1)
    assert split_rhat(draws) == np.inf
    assert 0.0 < effective_size(draws) < 33.0


def test_symmetric_constants_never_agree():
    assert split_rhat(np.repeat([[-1], [1]], 10, axis=1)) == np.inf


@pytest.mark.parametrize("length", [0, 1, 3])
def test_fewer_than_four_draws_tell_nothing(length):
    draws = chains("white noise", (4, length))
    assert np.isnan(split_rhat(draws))
    assert np.isnan(effective_size(draws))


def test_four_draws_tell_something():
    draws = chains("white noise", (4, 4))
    assert np.isfinite(split_rhat(draws))
    assert np.isfinite(effective_size(draws))


@pytest.mark.parametrize("statistic", [split_rhat, effective_size])
def test_errors_say_what_to_do(statistic):
    with pytest.raises(ValueError, match=r"draws\[None, :\]"):
        statistic(np.arange(10.0))
    with pytest.raises(ValueError, match="nan or infinity"):
        statistic(np.array([[0.0, 1.0, np.nan, 2.0]]))
