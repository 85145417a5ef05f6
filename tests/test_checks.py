"""Settings in: what is in range passes, all else is refused in one sentence that names it."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand.checks import (
    brief,
    check_choice,
    check_engine,
    check_flag,
    check_jobs,
    check_number,
    check_seed,
    check_whole,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


def refused(check, value, *ends, **how):
    """Return whether a value is refused; the sentence has to name it."""
    try:
        check("setting", value, *ends, **how)
    except ValueError as error:
        return re.fullmatch(rf"setting is {re.escape(brief(value))}; it must be .*\.", str(error)) is not None
    return False


@given(value=finite, ends=st.tuples(finite, finite).map(sorted))
def test_a_number_passes_exactly_if_it_lies_between_the_ends(value, ends):
    low, high = ends
    assert refused(check_number, value, low, high) == (not low <= value <= high)
    assert refused(check_number, value, low, high, open_low=True) == (not low < value <= high)


@pytest.mark.parametrize(
    "value", [np.nan, np.inf, -np.inf, np.float32(np.inf), "1", None, True, 10**400, [1.0], np.array([1.0])]
)
def test_what_is_no_finite_number_is_refused(value):
    assert refused(check_number, value, 0.0)


@pytest.mark.parametrize("value", [1, np.int8(1), np.float32(1.0), np.float64(1.0), Fraction(1, 2)])
def test_numbers_of_all_kinds_are_numbers(value):
    check_number("setting", value, 0.0, 1.0, open_low=True)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"low": 0.0}, "x is -1; it must be a number from 0 up."),
        ({"low": 0.0, "high": 0.5}, "x is -1; it must be a number from 0 to 0.5."),
        ({"low": 0.0, "open_low": True}, "x is -1; it must be a number above 0."),
        ({"low": 0.0, "high": 0.99, "open_low": True}, "x is -1; it must be a number above 0 and up to 0.99."),
    ],
)
def test_the_sentence_says_which_numbers_would_do(how, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        check_number("x", -1, **how)


@given(value=st.integers(), low=st.integers())
def test_a_whole_number_passes_exactly_if_it_is_large_enough(value, low):
    assert refused(check_whole, value, low) == (value < low)


@pytest.mark.parametrize("value", [1.0, np.float64(3.0), True, np.nan, "2", None])
def test_what_is_no_whole_number_is_refused(value):
    assert refused(check_whole, value, 0)
    check_whole("setting", np.int64(3), 3)
    check_whole("setting", 3, 0, 3)
    assert refused(check_whole, 4, 0, 3)


@given(value=st.sampled_from(["moves", "restarts", "none", "move", "", "Moves"]) | st.none() | st.integers())
def test_only_the_choices_pass(value):
    choices = ("moves", "restarts", "none")
    assert refused(check_choice, value, choices) == (value not in choices)
    with pytest.raises(ValueError, match="it must be 'moves' or 'restarts' or 'none'"):
        check_choice("search", "all", choices)


@pytest.mark.parametrize("value", [None, 1, 2, -1, np.int64(4)])
def test_numbers_of_workers_pass(value):
    check_jobs(value)


@pytest.mark.parametrize("value", [0, 1.5, True, "2", 10**9, 2**70, float("inf"), [1], np.arange(2)])
def test_other_numbers_of_workers_are_refused_by_name(value):
    with pytest.raises(ValueError, match=r"^n_jobs is .*; it must be a whole number"):
        check_jobs(value)


@pytest.mark.parametrize("value", [None, 0, 2**32 - 1, np.int64(4), np.random.RandomState(0)])
def test_seeds_pass(value):
    check_seed(value)


@pytest.mark.parametrize("value", [-1, 2**32, 1.5, "x", [1], np.eye(2), object()])
def test_other_seeds_are_refused_by_name(value):
    with pytest.raises(ValueError, match=r"^random_state is .*; it must be None, a RandomState"):
        check_seed(value)


def test_flags_are_true_or_false():
    check_flag("verbose", True)
    check_flag("verbose", np.bool_(False))
    with pytest.raises(ValueError, match=r"^verbose is array\(\[1, 2\]\); it must be True or False"):
        check_flag("verbose", np.array([1, 2]))


def test_values_are_shown_in_one_short_line():
    assert brief(np.eye(2)) == "array([[1., 0.], [0., 1.]])"
    assert len(brief("x" * 1_000)) == 60


def test_an_engine_is_a_client_or_none():
    class Client:
        def submit(self): ...

        def gather(self): ...

    check_engine(None)
    check_engine(Client())
    with pytest.raises(ValueError, match="engine is 'tcp://'"):
        check_engine("tcp://")
