"""Settings that are beliefs: each wrong one is refused by its name."""

from fractions import Fraction

import numpy as np
import pytest

from vbrand import VBrand
from vbrand.estimators.settings import as_numbers, check_beliefs, extremes_told, plain


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("known_mean_strength", 1e308),
        ("known_scatter_factor", 1e-308),
        ("novel_dof", 10**400),
        ("novel_mean", {}),
        ("novel_scale", "x"),
        ("concentration", (1.0, 1e308)),
        ("concentration", True),
    ],
)
def test_what_is_no_belief_is_refused_by_name(name, value):
    check_beliefs(VBrand())
    with pytest.raises(ValueError, match=f"^{name} is "):
        check_beliefs(VBrand(**{name: value}))


def test_numbers_of_any_kind_are_floats():
    assert plain((Fraction(1, 2), 3)) == (0.5, 3.0)
    assert plain(None) is None


def test_arrays_have_the_shape_that_is_wanted():
    assert as_numbers("novel_mean", [1, 2], (2,)).tolist() == [1.0, 2.0]
    for odd in ([1.0], [1.0, np.nan], ["a", "b"]):
        with pytest.raises(ValueError, match=r"^novel_mean "):
            as_numbers("novel_mean", odd, (2,))


def test_columns_that_follow_from_others_get_a_sentence_where_nothing_regularises():
    """Plain moments of collinear columns: a matrix of numpy was not positive definite."""
    with pytest.raises(ValueError, match=r"too extreme to calculate with.*scatter='modes'"), extremes_told():
        np.linalg.cholesky(-np.eye(2))
