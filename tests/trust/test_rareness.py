import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vbrand.trust.contrast import Contrast
from vbrand.trust.rareness import Rareness, wrong_with
from vbrand.trust.trees import Trees

NO_TREES = Contrast(Trees(*(np.zeros(1),) * 4), np.zeros(1))


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_how_rare_a_row_is_by_counting(seed, hidden):
    """(9.18), row by row."""
    generator = np.random.default_rng(seed)
    by_fit, by_trees = generator.integers(0, 20, (2, hidden)).astype(float)
    unlike, log_odds = generator.integers(-5, 25, (2, 7)).astype(float)
    found = Rareness(NO_TREES, np.sort(by_fit), np.sort(by_trees)).of(unlike, log_odds)
    for u, t, rare in zip(unlike, log_odds, found, strict=True):
        both = (by_fit, u), (by_trees, t)
        shares = [(1 + sum(each >= value for each in own)) / (hidden + 1) for own, value in both]
        np.testing.assert_allclose(rare, -np.log(shares).sum(), atol=1e-12)


def test_hidden_rows_of_a_file_that_are_not_in_order_are_told():
    for odd in ([1.0, 0.0], [0.0, np.nan], [[0.0, 1.0]]):
        assert (
            wrong_with(Rareness(NO_TREES, np.array([0.0, 1.0]), np.array(odd)), 1) == "its hidden rows are not in order"
        )
