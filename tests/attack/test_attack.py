"""A few attempts in each area; `make attack N=10000` makes more."""

import numpy as np
import pytest
from attack.areas import AREAS, attack
from attack.disks import no_disks
from attack.judge import failure_of

QUICK = {
    "problems": 30,
    "mixed": 10,
    "alike": 5,
    "streams": 9,
    "sources": 20,
    "inputs": 60,
    "settings": 80,
    "models": 40,
}
QUICK |= {"tables": 120, "kills": 4, "disks": 4, "crowds": 4}


@pytest.mark.parametrize("area", AREAS)
def test_nothing_breaks_it(area):
    if area == "disks" and no_disks():
        pytest.skip(no_disks())
    assert not attack(area, QUICK[area])


# rows that went from one end of the table to the other in one sweep; a scatter that is singular but for rounding;
# squares of far rows beside which that of a thin class is rounding
@pytest.mark.parametrize("seed", [5014, 5145, 200390, 700236])
def test_the_bound_rises_where_it_once_fell(seed):
    assert not attack("problems", 1, seed)


def test_what_breaks_is_noticed(tmp_path):
    def broken(error):
        def attempt(generator, folder):
            raise error

        return failure_of(attempt, np.random.default_rng(0), tmp_path)

    assert broken(KeyError("x")).startswith("KeyError")
    assert broken(AssertionError("NaN")).startswith("AssertionError")
    assert "another package" in broken(ValueError("Matrix is not positive definite"))
    assert "more than a sentence" in broken(ValueError("two\nlines"))
    assert broken(ValueError("threshold is 7; it must lie between 0 and 1.")) is None
