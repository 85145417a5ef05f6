"""Columns that go together: shares of a distance that make sense one by one, or as a band of neighbours."""

import re

import numpy as np

from vbrand.types import FloatArray

_NUMBER_INSIDE = re.compile(r"(\D*?)(\d+(?:\.\d+)?)(\D*)")
# of the distance: columns that bring a row nearer by more than that do not stand alone
_SMALL_SHARE = 0.05


def columns_together(
    shares: FloatArray, pieces: FloatArray, precision: FloatArray, *, ordered: bool = False
) -> list[list[int]]:
    """Return groups of columns, each of which adds a share between 0 and 1 to a squared distance, but for little.

    `pieces` are the parts of the deviation that columns make, (p, q), and `precision` is that of the distance, (q, q).
    A group whose share is negative or above 1 is joined with the group that it works against most; of `ordered`
    columns, such as wavelengths, with a neighbour.
    """
    groups = [[j] for j in range(shares.size)]
    share, piece = shares.tolist(), [pieces[j] for j in range(shares.size)]
    while len(groups) > 1 and (min(share) < -_SMALL_SHARE or max(share) > 1.0 + _SMALL_SHARE):
        worst = int(np.argmin(share) if min(share) < -_SMALL_SHARE else np.argmax(share))
        others = [k for k in range(len(groups)) if k != worst and (not ordered or abs(k - worst) == 1)]
        # the part of the squared distance that two groups make together: 2 a' Sigma^-1 b
        both = np.stack([piece[k] for k in others]) @ (precision @ piece[worst])
        first, second = sorted((worst, others[int(both.argmin())]))
        groups[first] = sorted(groups[first] + groups.pop(second))
        share[first] += share.pop(second)
        piece[first] = piece[first] + piece.pop(second)
    return groups


def ordered_numbers(names: tuple[str, ...]) -> FloatArray | None:
    """Return the numbers in the names of columns if they rise or fall throughout, as wavelengths do, else None.

    Numbers that only count the columns give None, too.

    >>> ordered_numbers(("1100 nm", "1102 nm", "1104 nm"))
    array([1100., 1102., 1104.])
    >>> ordered_numbers(("V1", "V2", "V3")) is None
    True
    """
    found = [_NUMBER_INSIDE.fullmatch(name.strip()) for name in names]
    if len(names) < 3 or any(match is None for match in found):
        return None

    parts = [match.groups() for match in found if match is not None]
    numbers = np.array([float(number) for _, number, _ in parts])
    steps = np.diff(numbers)
    same_words = len({(before, after) for before, _, after in parts}) == 1
    counts = bool((steps == 1.0).all()) and numbers[0] <= 1.0
    return numbers if same_words and not counts and ((steps > 0.0).all() or (steps < 0.0).all()) else None
